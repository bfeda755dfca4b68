// The memory plugin through the gate: what one session puts there, a later one finds; a replay needs no memory.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { memoryStore, Secrets } from '@chassis/journal';
import type { Json, JsonObject } from '@chassis/types';
import { expect, test } from 'vitest';
import { replay, Session, startRegistry } from '../src/index.ts';
import { inlineManifest, projectFolder } from '../src/testing/project-folder.ts';
import { newSession } from './support/sessions.ts';

const plugin = join(import.meta.dirname, '../../../plugins/memory');

test('what one session puts into the memory of a project, a later one finds; each call is on record', async () => {
  using folder = projectFolder({
    'chassis.yaml': 'plugins: { memory: {} }\n',
    'plugins/loop/plugin.yaml': inlineManifest('loop', 'agents: [default]\n'),
    'plugins/loop/index.mjs': `export default { agents: { default: async (input, ctx) => {
      const [name, args] = JSON.parse(input.content);
      return { answer: JSON.stringify(await ctx.call('tool.call', { name, arguments: args })) };
    } } };`,
  });
  const file = join(folder.root, '.chassis/memory/memory.sqlite');
  const registry = await startRegistry(await folder.open({ firstParty: [plugin] }));
  const ask = async (name: string, args: JsonObject) => {
    const session = await Session.create(
      { store: memoryStore(), registry, secrets: new Secrets(), secret: async () => '' },
      newSession({}),
    );
    const { answer } = await session.prompt(JSON.stringify([name, args]));
    const { view } = session;
    await session.close();
    return {
      view,
      outcome: JSON.parse(answer ?? '{}') as { status: string; output?: JsonObject; error?: Json },
    };
  };
  try {
    expect(registry.tools().map(({ name }) => name)).toEqual(['memory_put', 'memory_search']);
    expect(existsSync(file)).toBe(false);
    const put = await ask('memory_put', { text: 'Deploy with make ship.', tags: ['deploy'] });
    expect(put.outcome).toMatchObject({ status: 'ok', output: { key: expect.any(String) as string } });
    const found = await ask('memory_search', { query: 'how to deploy' });
    expect(found.outcome.output).toMatchObject({
      entries: [{ key: put.outcome.output?.key, text: 'Deploy with make ship.', tags: ['deploy'] }],
    });
    expect((await ask('memory_search', { query: '' })).outcome).toMatchObject({ status: 'error' });
    await registry.unload('memory');
    rmSync(file);
    const report = await replay(found.view, registry, new Secrets(), new AbortController().signal);
    expect(report.ok).toBe(true);
    expect(existsSync(file)).toBe(false);
  } finally {
    await registry.close();
  }
});

test('a plugin that is off by its own word is left alone until the configuration names it', async () => {
  using folder = projectFolder({});
  const registry = await startRegistry(await folder.open({ firstParty: [plugin] }));
  expect(registry.plugins()).toMatchObject([{ name: 'memory', state: 'disabled', digest: '' }]);
  expect(registry.tools()).toEqual([]);
  await registry.close();
});
