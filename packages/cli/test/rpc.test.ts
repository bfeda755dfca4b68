/** `chassis rpc` against real servers, on every kind of address. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { httpHandler, listen, Methods, Peer, type Transport, webSocketTransport } from '@chassis/jsonrpc';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { chassis, records, type TempFolder, tempFolder } from './support/chassis.ts';

const methods = new Methods()
  .method('echo', { exact: true }, (params) => params)
  .method('order.get', { params: { type: 'object', properties: { id: { type: 'integer' } } } }, () => ({}))
  .method('fail', () => {
    throw Object.assign(new Error('no luck \u001b[31m'), { code: 4242, data: { why: 'because' } });
  })
  .method('hang', () => new Promise(() => {}));
const serve = (transport: Transport) => new Peer(transport, { methods, log: () => {} });

/** A server that knows no event stream: it answers each POST, and nothing else. */
const oneWay = createServer((request, response) => {
  if (request.method !== 'POST') {
    response.writeHead(405).end();
    return;
  }
  void text(request).then((body) => {
    const { id, params } = JSON.parse(body) as { id: unknown; params: unknown };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: params }));
  });
});
const twoWay = createServer(httpHandler(serve));
/** A child that speaks JSON-RPC, with the standard library only. */
const PYTHON = `import json, sys
print("ready", flush=True)
for line in sys.stdin:
    m = json.loads(line)
    if "id" in m: print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": m.get("params")}), flush=True)`;

let folder: TempFolder;
let addresses: Record<'unix' | 'tcp' | 'ws' | 'http' | 'http one-way', string>;
const stops: (() => unknown)[] = [];

const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port;
const rpc = (...args: string[]) => chassis(['rpc', ...args], { cwd: folder.path });

beforeAll(async () => {
  folder = tempFolder();
  const unix = await listen({ path: join(folder.path, 's') }, serve);
  const tcp = await listen({ port: 0 }, serve);
  const sockets = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  sockets.on('connection', (socket) => serve(webSocketTransport(socket)));
  await once(sockets, 'listening');
  for (const server of [oneWay, twoWay]) {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    stops.push(
      () => server.closeAllConnections(),
      () => server.close(),
    );
  }
  stops.push(
    () => unix.close(),
    () => tcp.close(),
    () => sockets.close(),
  );
  addresses = {
    unix: `unix:${join(folder.path, 's')}`,
    tcp: `tcp://127.0.0.1:${(tcp.address as { port: number }).port}`,
    ws: `ws://127.0.0.1:${portOf(sockets)}`,
    http: `http://127.0.0.1:${portOf(twoWay)}/`,
    'http one-way': `http://127.0.0.1:${portOf(oneWay)}/rpc`,
  };
});
afterAll(async () => {
  for (const stop of stops) await stop();
  folder[Symbol.dispose]();
});

test('calls a method at any kind of address, and keeps numbers as they are', async () => {
  const python = `stdio:python3 -c '${PYTHON}'`;
  const params = '{"id":9007199254740993,"text":"é"}';
  const ended = await Promise.all(
    [...Object.values(addresses), python].map((address) => rpc(address, 'echo', params, '--json')),
  );
  // Python and our own server keep long numbers; the one-way server above is plain JavaScript.
  const rounded = '{"id":9007199254740992,"text":"é"}';
  const results = [params, params, params, params, rounded, params];
  expect(ended.map(({ code, stdout }) => [code, stdout])).toEqual(
    results.map((result) => [0, `{"type":"result","ok":true,"exit":0,"method":"echo","result":${result}}\n`]),
  );
  const shown = await rpc(addresses.http, 'rpc.discover');
  expect(shown.stdout).toContain('order.get');
});

describe('a call that fails says why, with the exit code of its kind', () => {
  test.concurrent.each<[string, () => string[], number, RegExp]>([
    ['an unknown method', () => [addresses.ws, 'nope'], 2, /^chassis: Method not found: nope\n$/],
    ['an error of the method', () => [addresses.http, 'fail'], 1, /^chassis: no luck \\x1b\[31m\n$/],
    [
      'no answer in time',
      () => [addresses.tcp, 'hang', '--timeout', '300'],
      1,
      /^chassis: "hang" was not answered within 300 ms\n$/,
    ],
    [
      'a server of another kind',
      () => [addresses.ws.replace('ws:', 'http:'), 'echo'],
      3,
      /^chassis: http:\S+: HTTP status 426\n$/,
    ],
    [
      'nobody there',
      () => ['ws://127.0.0.1:9', 'echo'],
      3,
      /^chassis: ws:\/\/127\.0\.0\.1:9: the WebSocket failed: it could not be opened\n$/,
    ],
    ['no socket', () => ['unix:nowhere', 'echo'], 3, /^chassis: unix:nowhere: .*ENOENT.*\n$/],
    [
      'a program that ends',
      () => [`stdio:python3 -c 'import sys; sys.exit("bad configuration")'`, 'echo'],
      3,
      /^chassis: stdio:.*"python3" exited with code 1: bad configuration\n$/,
    ],
    [
      'a program that is not there',
      () => ['stdio:/nowhere/x', 'echo'],
      3,
      /cannot start "\/nowhere\/x".*ENOENT/,
    ],
    [
      'no address',
      () => ['localhost:80', 'echo'],
      2,
      /^chassis: "localhost:80" is no address; use stdio:COMMAND,/,
    ],
    ['params that are no JSON', () => [addresses.tcp, 'echo', '{a'], 2, /^chassis: PARAMS is no JSON: .*\n$/],
    ['no sensible deadline', () => [addresses.tcp, 'echo', '--timeout', '1s'], 2, /--timeout 1s: it must be/],
  ])('%s', async (_what, args, code, stderr) => {
    const ended = await rpc(...args());
    expect(ended).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(stderr) });
  });

  test('and its data with --json', async () => {
    const ended = await rpc(addresses.http, 'fail', '--json');
    expect(records(ended.stdout)).toMatchObject([
      { type: 'result', ok: false, exit: 1, error: { code: 4242, data: { why: 'because' } } },
    ]);
  });
});
