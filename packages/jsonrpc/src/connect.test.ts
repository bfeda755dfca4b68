import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { connect, listen, Methods, Peer, spawnTransport } from './index.ts';

const methods = new Methods().method('echo', (params) => params);
const echoes = async (address: string | string[]) => {
  const peer = new Peer(await connect(address));
  expect(await peer.call('echo', [1])).toEqual([1]);
  await peer.close();
};

test('a Unix and a TCP address', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'rpc-')), 's');
  for (const where of [{ path }, { port: 0 }]) {
    const listener = await listen(where, (transport) => new Peer(transport, { methods }));
    const { address } = listener;
    if ('path' in address) {
      await echoes(`unix:${address.path}`);
      await echoes(`unix://${address.path}`);
    } else await echoes(`tcp://127.0.0.1:${address.port}`);
    await listener.close();
  }
  await expect(connect(`unix:${path}`)).rejects.toMatchObject({ code: 'ENOENT' });
});

test('a command line is split at white space and quotes, and reaches no shell', async () => {
  const script =
    'process.stdin.on("data", (d) => console.log(JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(d).id, result: process.argv.slice(1) })))';
  const line = `stdio:${process.execPath} -e '${script}' -- "a b" 'c "d"' e\\ f $HOME "g\\"h" ''`;
  const peer = new Peer(await connect(line));
  expect(await peer.call('args')).toEqual(['a b', 'c "d"', 'e f', '$HOME', 'g"h', '']);
  await peer.close();
});

describe('an address that is none', () => {
  test.each([
    '',
    'localhost:80',
    'ftp://x',
    'tcp://localhost',
    'tcp://localhost:99999',
    'tcp://:80',
    'ws://',
    'http://',
    'https://a b',
    'stdio:',
  ])('%j is refused, by its name', async (address) => {
    const refused = await connect(address).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(TypeError);
    expect((refused as Error).message).toContain(address === 'stdio:' ? 'program' : `"${address}"`);
  });
});

test('the case of a scheme does not matter, and a listener stops at once, also while a connection is open', async () => {
  const served: Peer[] = [];
  const listener = await listen({ port: 0 }, (transport) => served.push(new Peer(transport, { methods })));
  const { port } = listener.address as { port: number };
  const peer = new Peer(await connect(`TCP://127.0.0.1:${port}`));
  expect(await peer.call('echo', [1])).toEqual([1]);
  await listener.close();
  expect(await peer.call('echo', [2])).toEqual([2]);
  await expect(connect(`tcp://127.0.0.1:${port}`)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  await peer.close();
});

test('a socket file left behind is replaced, one in use is not', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'rpc-')), 's');
  const dead = spawnTransport({
    command: [
      process.execPath,
      '-e',
      `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`,
    ],
  });
  new Peer(dead);
  await dead.exited;
  expect(existsSync(path)).toBe(true);
  const first = await listen({ path }, (transport) => new Peer(transport, { methods }));
  await expect(listen({ path }, () => {})).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await echoes(`unix:${path}`);
  await first.close();
});
