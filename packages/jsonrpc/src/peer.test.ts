import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { connected, rawPeer } from '../test/support.ts';
import { ErrorCode, memoryPair, Peer, RpcError } from './index.ts';

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

test('options that make no sense are refused', () => {
  expect(() => new Peer(memoryPair()[0], { maxInFlight: 0 })).toThrow(/maxInFlight/);
  expect(() => new Peer(memoryPair()[0], { dialect: 'esperanto' as never })).toThrow(/dialect/);
});

test('an answer without result and without error settles its call', async () => {
  const { peer, sent, receive } = rawPeer();
  const call = peer.call('m');
  const { id } = JSON.parse(await sent());
  receive({ jsonrpc: '2.0', id });
  await expect(call).rejects.toMatchObject({ code: ErrorCode.InternalError });
});
