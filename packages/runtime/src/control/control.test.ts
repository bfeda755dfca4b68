import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, Peer } from '@chassis/jsonrpc';
import { expect, test } from 'vitest';
import { plugin, running } from '../testing/plugins.ts';
import { projectFolder } from '../testing/project-folder.ts';
import { runningOn } from './running.ts';
import { serveControl } from './serve.ts';

async function asked(socket: string, method: string, params: object = {}): Promise<unknown> {
  const peer = new Peer(await connect(`unix:${socket}`), { log: () => {} });
  try {
    return await peer.call(method, params);
  } finally {
    await peer.close();
  }
}

test('the door of a running harness answers from the live registry, and leaves nothing behind', async () => {
  using folder = projectFolder({
    ...plugin('a'),
    ...plugin('b', { code: `on_load() { throw new Error('locked'); },` }),
  });
  await using registry = await running(folder);
  const store = join(folder.root, '.chassis');
  const door = await serveControl(store, registry, 'run');
  expect(await asked(door.socket, 'plugin.health')).toMatchObject({
    ready: false,
    failing: [{ capability: 'agent.default' }],
    degraded: [{ owner: 'b', cause: { message: 'locked' } }],
    loading: [],
  });
  expect(await asked(door.socket, 'plugin.list')).toMatchObject({
    plugins: [{ name: 'a' }, { name: 'b', state: 'unavailable' }],
  });
  folder.write(plugin('a', { answer: `'new'` }));
  expect(await asked(door.socket, 'plugin.reload', { name: 'a' })).toMatchObject({
    plugin: { state: 'active' },
  });
  folder.write(plugin('c'));
  expect(await asked(door.socket, 'plugin.load', { name: 'c' })).toMatchObject({ plugin: { name: 'c' } });
  expect(await asked(door.socket, 'plugin.unload', { name: 'c' })).toMatchObject({
    plugin: { state: 'stopped' },
  });
  await expect(asked(door.socket, 'plugin.get', { name: 'aa' })).rejects.toMatchObject({
    code: -32602,
    message: 'there is no plugin "aa"; did you mean "a"?',
  });
  await expect(asked(door.socket, 'plugin.get', { nmae: 'a' })).rejects.toMatchObject({ code: -32602 });
  const { methods } = (await asked(door.socket, 'rpc.discover')) as { methods: { name: string }[] };
  expect(methods.map(({ name }) => name)).toContain('plugin.reload');
  await door.close();
  expect(readdirSync(join(store, 'running'))).toEqual([]);
});

test('a path that is too long for a socket is no obstacle', async () => {
  using folder = projectFolder(plugin('a'));
  await using registry = await running(folder);
  const door = await serveControl(join(folder.root, 'x'.repeat(120)), registry, 'run');
  expect(Buffer.byteLength(door.socket)).toBeLessThan(100);
  expect(await asked(door.socket, 'plugin.list')).toMatchObject({ plugins: [{ name: 'a' }] });
  await door.close();
  expect(existsSync(door.socket)).toBe(false);
});

test('notes that nobody stands behind are skipped, and those of dead processes taken away', async () => {
  using folder = projectFolder({ '.chassis/running/7.json': '{', '.chassis/running/8.json': '{"pid":"x"}' });
  const store = join(folder.root, '.chassis');
  const note = {
    pid: 2 ** 22 + 1,
    socket: join(store, 'gone.sock'),
    command: 'run',
    root: folder.root,
    since: 1,
  };
  writeFileSync(join(store, 'running', 'dead.json'), JSON.stringify(note));
  expect(await runningOn(store)).toEqual([]);
  expect(readdirSync(join(store, 'running')).toSorted()).toEqual(['7.json', '8.json']);
});
