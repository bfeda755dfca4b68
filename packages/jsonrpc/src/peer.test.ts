import { getEventListeners } from 'node:events';
import { duplexPair } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { connected, rawPeer } from '../test/support.ts';
import { ErrorCode, memoryPair, Peer, RpcError, streamTransport } from './index.ts';

describe('a peer calls', () => {
  test('a method of the other side, and both sides may call', async () => {
    const { client, server } = connected();
    server.method('add', ({ a, b }: { a: number; b: number }) => a + b);
    server.method('ask back', (_params, { peer }) => peer.call('name'));
    client.method('name', () => 'client');
    expect(await client.call('add', { a: 1, b: 2 })).toBe(3);
    expect(await client.call('ask back')).toBe('client');
  });

  test('and gets the error of the other side, with its data', async () => {
    const { client, server } = connected();
    server.method('fail', () => {
      throw Object.assign(new Error('no luck'), { code: 4242, data: { why: 'because' } });
    });
    const failure = await client.call('fail').catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(RpcError);
    expect(failure).toMatchObject({ code: 4242, message: 'no luck', data: { why: 'because' } });
  });

  test('with params that cannot be sent: the call rejects and nothing is sent', async () => {
    const { client, server } = connected();
    server.method('echo', (params) => params);
    const cyclic: unknown[] = [];
    cyclic.push(cyclic);
    for (const params of [1, 'text', null, true, 1n, { n: 1n }, cyclic, () => 1]) {
      await expect(client.call('echo', params)).rejects.toMatchObject({ code: ErrorCode.InvalidParams });
    }
    expect(client.open.calls).toBe(0);
    expect(await client.call('echo', [1])).toEqual([1]);
  });

  test('and gives up at the deadline, telling the other side', async () => {
    const { client, server } = connected();
    const stopped = new Promise<unknown>((resolve) => {
      server.method('hang', (_params, { signal }) => {
        signal.addEventListener('abort', () => resolve(signal.reason));
        return new Promise(() => {});
      });
    });
    await expect(client.call('hang', {}, { timeoutMs: 20 })).rejects.toMatchObject({
      code: ErrorCode.ToolTimeout,
    });
    expect(await stopped).toMatchObject({ code: ErrorCode.Cancelled });
  });

  test('and cancels through a signal; the late answer is dropped', async () => {
    const { client, server, clientLog } = connected();
    let finish = (_value: string): void => {};
    server.method('slow', () => new Promise((resolve) => (finish = resolve)));
    const abort = new AbortController();
    const call = client.call('slow', {}, { signal: abort.signal });
    await Promise.resolve();
    abort.abort(new Error('changed my mind'));
    await expect(call).rejects.toMatchObject({ code: ErrorCode.Cancelled, message: 'changed my mind' });
    await server.call('rpc.discover');
    finish('late');
    await client.call('rpc.discover');
    expect(clientLog.map((entry) => entry.event)).toEqual(['late-response']);
  });

  test('with one signal a thousand times, leaving no listener behind', async () => {
    const { client, server } = connected();
    server.method('echo', (params) => params);
    const { signal } = new AbortController();
    await Promise.all(Array.from({ length: 1000 }, (_, n) => client.call('echo', { n }, { signal })));
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

describe('a connection that ends', () => {
  test('rejects everything pending with the reason, and everything asked for later', async () => {
    const { client, server } = connected();
    server.method('hang', () => new Promise(() => {}));
    const pending = client.call('hang');
    await client.notify('hello');
    await server.close('maintenance');
    await expect(pending).rejects.toMatchObject({ code: ErrorCode.Unavailable, data: { kind: 'ended' } });
    await expect(client.call('hang')).rejects.toMatchObject({ code: ErrorCode.Unavailable });
    await expect(client.notify('hello')).rejects.toMatchObject({ code: ErrorCode.Unavailable });
    await expect(client.batch([{ method: 'hang' }])).rejects.toMatchObject({ code: ErrorCode.Unavailable });
    expect(await server.closed).toEqual({ kind: 'closed', message: 'maintenance' });
    expect(client.open).toEqual({ calls: 0, requests: 0 });
  });

  test('aborts the handlers that run', async () => {
    const { client, server } = connected();
    const aborted = new Promise((resolve) => {
      server.method('hang', (_params, { signal }) => {
        signal.addEventListener('abort', resolve);
        return new Promise(() => {});
      });
    });
    client.call('hang').catch(() => {});
    await client.notify('hello');
    await client.close();
    await aborted;
    expect(server.open.requests).toBe(0);
  });
});

test('a side that closes answers what is open with the reason, also the rest of a batch', async () => {
  const { peer, receive, allSent } = rawPeer();
  peer.method('echo', (params) => params).method('hang', () => new Promise(() => {}));
  receive([
    { jsonrpc: '2.0', id: 1, method: 'echo', params: [1] },
    { jsonrpc: '2.0', id: 2, method: 'hang' },
  ]);
  receive({ jsonrpc: '2.0', id: 3, method: 'hang' });
  await peer.close('maintenance');
  const error = { code: ErrorCode.Unavailable, message: 'maintenance' };
  expect(await allSent()).toEqual([
    [
      { jsonrpc: '2.0', id: 1, result: [1] },
      { jsonrpc: '2.0', id: 2, error },
    ],
    { jsonrpc: '2.0', id: 3, error },
  ]);
});

test.each(['maxInFlight', 'maxMessageBytes', 'maxDepth', 'maxBatch'])(
  '%s must be a sensible number',
  (limit) => {
    for (const value of [0, -1, Number.NaN, '5', null, 1n]) {
      if (value === null) continue; // as good as not given
      expect(() => new Peer(memoryPair()[0], { [limit]: value })).toThrow(new RegExp(limit));
    }
    const most = limit === 'maxDepth' ? 1000 : Number.POSITIVE_INFINITY;
    expect(() => new Peer(memoryPair()[0], { [limit]: most })).not.toThrow();
  },
);

test('a depth that the stack may not bear, or that fits no params, is refused', () => {
  for (const maxDepth of [1, 2, 1001, Number.POSITIVE_INFINITY]) {
    expect(() => new Peer(memoryPair()[0], { maxDepth })).toThrow(/maxDepth must be from 3 to 1000/);
  }
});

test('the deepest allowed message keeps its exact numbers', async () => {
  const { peer, receive, allSent } = rawPeer({ maxDepth: 1000 });
  peer.method('echo', { exact: true }, (params) => params);
  // The message itself is one level; a result has to fit into an answer and a batch around it.
  const nested = `${'['.repeat(998)}9007199254740993${']'.repeat(998)}`;
  receive(`{"jsonrpc":"2.0","id":1,"method":"echo","params":${nested}}`);
  receive(`{"jsonrpc":"2.0","id":12345678901234567890,"method":"echo","params":[${nested}]}`);
  receive(`{"jsonrpc":"2.0","id":3,"method":"echo","params":[[${nested}]]}`);
  expect((await allSent()).map((answer) => (answer as { error?: { code: number } }).error?.code)).toEqual([
    undefined,
    ErrorCode.InternalError,
    ErrorCode.InvalidRequest,
  ]);
});

test('options that make no sense are refused', () => {
  expect(() => new Peer(memoryPair()[0], { dialect: 'esperanto' as never })).toThrow(/dialect/);
});

test('a side that will send no more may still be told things while its requests run', async () => {
  const [near, far] = duplexPair();
  const server = new Peer(streamTransport(far, far), { log: () => {} });
  server.method('watch', async (_params, { peer }) => {
    await new Promise((resolve) => far.once('end', resolve));
    await new Promise((resolve) => setImmediate(resolve));
    await expect(peer.call('name')).rejects.toMatchObject({ code: ErrorCode.Unavailable });
    await peer.notify('news', { n: 1 });
    expect(await peer.batch([{ method: 'news', params: { n: 2 }, notify: true }])).toEqual([]);
    return 'done';
  });
  near.end('{"jsonrpc":"2.0","id":1,"method":"watch"}\n');
  const lines = (await text(near)).trim().split('\n');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { method: 'news', params: { n: 1 } },
    [{ method: 'news', params: { n: 2 } }],
    { id: 1, result: 'done' },
  ]);
});

test('an answer without result and without error settles its call', async () => {
  const { peer, sent, receive } = rawPeer();
  const call = peer.call('m');
  const { id } = JSON.parse(await sent());
  receive({ jsonrpc: '2.0', id });
  await expect(call).rejects.toMatchObject({ code: ErrorCode.InternalError });
});
