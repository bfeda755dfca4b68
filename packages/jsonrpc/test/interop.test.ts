/** Other implementations as the other side, in both roles. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { type Duplex, duplexPair } from 'node:stream';
import { promisify } from 'node:util';
import jayson from 'jayson/promise/index.js';
import { JSONRPCClient, JSONRPCServer, JSONRPCServerAndClient } from 'json-rpc-2.0';
import { describe, expect, test } from 'vitest';
import * as vscode from 'vscode-jsonrpc/node';
import {
  connectSocket,
  ErrorCode,
  httpHandler,
  httpTransport,
  listen,
  Methods,
  Peer,
  spawnTransport,
  streamTransport,
} from '../src/index.ts';

const run = promisify(execFile);

describe('vscode-jsonrpc, with Content-Length', () => {
  function pair() {
    const [near, far] = duplexPair();
    const peer = new Peer(streamTransport(near, near, { framing: 'content-length' }), {
      dialect: 'lsp',
      log: () => {},
    });
    const other = vscode.createMessageConnection(
      new vscode.StreamMessageReader(far),
      new vscode.StreamMessageWriter(far),
    );
    return { peer, other };
  }

  test('calls us: results, errors, notifications, cancellation, progress', async () => {
    const { peer, other } = pair();
    const heard: unknown[] = [];
    peer.method('add', ({ a, b }: { a: number; b: number }) => a + b);
    peer.method('fail', () => Promise.reject(Object.assign(new Error('no'), { code: 7, data: { x: 1 } })));
    peer.method('wait', (_params, context) => {
      context.progress({ percent: 50 });
      return new Promise((_resolve, reject) =>
        context.signal.addEventListener('abort', () => reject(context.signal.reason as Error)),
      );
    });
    peer.notification('note', (params) => heard.push(params));
    other.listen();
    expect(await other.sendRequest('add', { a: 1, b: 2 })).toBe(3);
    await expect(other.sendRequest('fail')).rejects.toMatchObject({ code: 7, message: 'no', data: { x: 1 } });
    await expect(other.sendRequest('nope')).rejects.toMatchObject({ code: ErrorCode.MethodNotFound });
    await other.sendNotification('note', { n: 1 });
    const cancel = new vscode.CancellationTokenSource();
    const progress = new Promise((resolve) => {
      other.onProgress(new vscode.ProgressType<object>(), 'token', (value) => {
        resolve(value);
        cancel.cancel();
      });
    });
    await expect(other.sendRequest('wait', { workDoneToken: 'token' }, cancel.token)).rejects.toMatchObject({
      code: -32800,
    });
    expect(await progress).toEqual({ percent: 50 });
    expect(heard).toEqual([{ n: 1 }]);
    other.dispose();
  });

  test('is called by us: results, errors, notifications, cancellation, progress', async () => {
    const { peer, other } = pair();
    const heard: unknown[] = [];
    const cancelled = Promise.withResolvers<void>();
    other.onRequest('add', ({ a, b }: { a: number; b: number }) => a + b);
    other.onRequest('fail', () => new vscode.ResponseError(7, 'no', { x: 1 }));
    other.onRequest(
      'wait',
      async ({ workDoneToken }: { workDoneToken: string }, token: vscode.CancellationToken) => {
        token.onCancellationRequested(() => cancelled.resolve());
        await other.sendProgress(new vscode.ProgressType<object>(), workDoneToken, { percent: 50 });
        return new Promise(() => {});
      },
    );
    other.onNotification('note', (params: unknown) => void heard.push(params));
    other.listen();
    expect(await peer.call('add', { a: 1, b: 2 })).toBe(3);
    await expect(peer.call('fail')).rejects.toMatchObject({ code: 7, message: 'no', data: { x: 1 } });
    await expect(peer.call('nope')).rejects.toMatchObject({ code: ErrorCode.MethodNotFound });
    await peer.notify('note', { n: 1 });
    for await (const part of peer.stream('wait', {})) {
      expect(part).toEqual({ percent: 50 });
      break; // cancels
    }
    await cancelled.promise;
    expect(heard).toEqual([{ n: 1 }]);
    other.dispose();
  });
});

test('json-rpc-2.0, both sides calling on one connection, batches in both directions', async () => {
  const [near, far] = duplexPair();
  const peer = new Peer(streamTransport(near, near));
  const write = (stream: Duplex, value: unknown) => stream.write(`${JSON.stringify(value)}\n`);
  const other = new JSONRPCServerAndClient(
    new JSONRPCServer(),
    new JSONRPCClient((payload) => void write(far, payload)),
  );
  createInterface({ input: far }).on('line', (line) => void other.receiveAndSend(JSON.parse(line)));
  const heard: unknown[] = [];
  peer
    .method('add', ([a, b]: [number, number]) => a + b)
    .notification('note', (params) => heard.push(params));
  other.addMethod('add', ({ a, b }: { a: number; b: number }) => a + b);
  other.addMethod('note', (params) => void heard.push(params));
  expect(await other.request('add', [1, 2])).toBe(3);
  await expect(Promise.resolve(other.request('nope', {}))).rejects.toThrow('Method not found');
  other.notify('note', { from: 'them' });
  expect(await peer.call('add', { a: 1, b: 2 })).toBe(3);
  await peer.notify('note', { from: 'us' });
  expect(
    await peer.batch([
      { method: 'add', params: { a: 1, b: 1 } },
      { method: 'nope' },
      { method: 'note', params: { from: 'batch' }, notify: true },
      { method: 'add', params: { a: 2, b: 2 } },
    ]),
  ).toMatchObject([{ value: 2 }, { reason: { code: ErrorCode.MethodNotFound } }, { value: 4 }]);
  expect(heard).toEqual([{ from: 'them' }, { from: 'us' }, { from: 'batch' }]);
  const batch = [1, 2].map((id) => ({ jsonrpc: '2.0' as const, id, method: 'add', params: [id, id] }));
  expect(await other.client.requestAdvanced(batch)).toMatchObject([{ result: 2 }, { result: 4 }]);
  await peer.close();
});

describe('jayson', () => {
  const methods = () => new Methods().method('add', ([a, b]: [number, number]) => a + b);
  const theirs = () => new jayson.Server({ add: async ([a, b]: [number, number]) => a + b });

  test('over TCP, both ways', async () => {
    const listener = await listen({ port: 0 }, (transport) => new Peer(transport, { methods: methods() }));
    const { port } = listener.address as { port: number };
    const client = jayson.Client.tcp({ port, host: '127.0.0.1' });
    expect(await client.request('add', [1, 2])).toMatchObject({ result: 3 });
    expect(await client.request('nope', [])).toMatchObject({ error: { code: ErrorCode.MethodNotFound } });
    await listener.close();

    const server = theirs().tcp();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const peer = new Peer(await connectSocket({ port: (server.address() as AddressInfo).port }));
    expect(await peer.call('add', [1, 2])).toBe(3);
    await expect(peer.call('nope')).rejects.toMatchObject({ code: ErrorCode.MethodNotFound });
    expect(await peer.batch([{ method: 'add', params: [1, 1] }, { method: 'nope' }])).toMatchObject([
      { value: 2 },
      { reason: { code: ErrorCode.MethodNotFound } },
    ]);
    await peer.close();
    server.close();
  });

  test('over HTTP, both ways', async () => {
    const ours = createServer(httpHandler((transport) => new Peer(transport, { methods: methods() })));
    await once(ours.listen(0, '127.0.0.1'), 'listening');
    const client = jayson.Client.http({ port: (ours.address() as AddressInfo).port, host: '127.0.0.1' });
    expect(await client.request('add', [1, 2])).toMatchObject({ result: 3 });
    ours.closeAllConnections();
    ours.close();

    const server = theirs().http();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const peer = new Peer(httpTransport(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
    expect(await peer.call('add', [1, 2])).toBe(3);
    await expect(peer.call('nope')).rejects.toMatchObject({ code: ErrorCode.MethodNotFound });
    await peer.close();
    server.closeAllConnections();
    server.close();
  });
});

describe('Python with nothing but its standard library', () => {
  const script = `${import.meta.dirname}/interop/client.py`;

  test('as the client of our stdio server', async () => {
    const server = `${import.meta.dirname}/conformance-server.ts`;
    const { stdout } = await run('python3', [script, process.execPath, server]);
    expect(JSON.parse(stdout)).toEqual({
      named: { jsonrpc: '2.0', id: 1, result: 19 },
      text: { jsonrpc: '2.0', id: 'two', result: { s: '\u2028 \u{1f600} \ud800' } },
      big: { jsonrpc: '2.0', id: Number('9007199254740993'), result: [] },
      unknown: { jsonrpc: '2.0', id: null, error: { code: -32601, message: 'Method not found: nope' } },
      batch: expect.arrayContaining([
        { jsonrpc: '2.0', id: null, error: { code: -32600, message: expect.any(String) } },
        { jsonrpc: '2.0', id: 5, result: 3 },
      ]),
      'left over': '',
      'exit code': 0,
    });
    expect(stdout).toContain('9007199254740993');
  });

  test('as our child, calling back, with noise on its stdout', async () => {
    const noise: string[] = [];
    const peer = new Peer(
      spawnTransport({
        command: ['python3', script, '--serve'],
        env: process.env,
        onNoise: (line) => noise.push(line),
      }),
    );
    peer.method('name', () => 'chassis');
    expect(await peer.call('add', { a: 1, b: 2 })).toBe(3);
    expect(await peer.call('ask_back')).toBe('chassis');
    expect(noise).toEqual(['hello, this line is noise']);
    await peer.close();
  });
});
