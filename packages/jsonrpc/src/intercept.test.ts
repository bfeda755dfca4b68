import { expect, test } from 'vitest';
import { connected, rawPeer } from '../test/support.ts';
import { ErrorCode, type Interceptor, RpcError } from './index.ts';

test('interceptors see every call and notification in both directions, the first outermost', async () => {
  const seen: string[] = [];
  const spy =
    (name: string): Interceptor =>
    async (traffic, next) => {
      seen.push(`${name} ${traffic.direction} ${traffic.kind} ${traffic.method}`);
      const result = await next(traffic);
      seen.push(`${name} ${traffic.method} = ${JSON.stringify(result)}`);
      return result;
    };
  const { client, server } = connected({ interceptors: [spy('outer'), spy('inner')] });
  server.method('add', ([a, b]: number[]) => (a ?? 0) + (b ?? 0));
  client.notification('note', () => {});
  expect(await client.call('add', [1, 2])).toBe(3);
  await server.notify('note');
  expect(seen).toEqual([
    'outer incoming call add',
    'inner incoming call add',
    'inner add = 3',
    'outer add = 3',
    'outer outgoing notification note',
    'inner outgoing notification note',
    'inner note = undefined',
    'outer note = undefined',
  ]);
});

test('one may change params, answer by itself, or refuse', async () => {
  const gate: Interceptor = (traffic, next) => {
    if (traffic.method === 'cached') return 'from the cache';
    if (traffic.method === 'secret') throw new RpcError(ErrorCode.Unauthorized, 'no token');
    return next({ ...traffic, params: { ...(traffic.params as object), traced: true } });
  };
  const { client, server } = connected({ interceptors: [gate] });
  for (const method of ['cached', 'secret', 'echo']) server.method(method, (params) => params);
  expect(await client.call('cached')).toBe('from the cache');
  await expect(client.call('secret')).rejects.toMatchObject({ code: ErrorCode.Unauthorized });
  expect(await client.call('echo', { a: 1 })).toEqual({ a: 1, traced: true });
  const results = await client.batch([{ method: 'echo', params: {} }, { method: 'secret' }]);
  expect(results).toMatchObject([{ value: { traced: true } }, { reason: { code: ErrorCode.Unauthorized } }]);
});

test('an outgoing batch passes item by item and still leaves as one message', async () => {
  const { peer, sent, receive } = rawPeer({
    interceptors: [
      async (traffic, next) => {
        await Promise.resolve();
        if (traffic.method === 'cached') return 'from the cache';
        if (traffic.method === 'secret') throw new RpcError(ErrorCode.Unauthorized, 'no token');
        const result = await next({ ...traffic, params: [traffic.kind] });
        return `<${String(result)}>`;
      },
    ],
  });
  const batch = peer.batch([
    { method: 'one' },
    { method: 'cached' },
    { method: 'note', notify: true },
    { method: 'secret' },
    { method: 'two' },
  ]);
  const messages = JSON.parse(await sent()) as { id?: string; method: string; params: unknown }[];
  expect(messages.map(({ method, params }) => [method, params])).toEqual([
    ['one', ['call']],
    ['note', ['notification']],
    ['two', ['call']],
  ]);
  receive([
    { jsonrpc: '2.0', id: messages[2]?.id, result: 2 },
    { jsonrpc: '2.0', id: messages[0]?.id, error: { code: 5, message: 'no' } },
  ]);
  expect(await batch).toMatchObject([
    { status: 'rejected', reason: { code: 5 } },
    { status: 'fulfilled', value: 'from the cache' },
    { status: 'rejected', reason: { code: ErrorCode.Unauthorized } },
    { status: 'fulfilled', value: '<2>' },
  ]);
});

test('one may try again, also what left in a batch', async () => {
  const again: Interceptor = async (traffic, next) => {
    try {
      return await next(traffic);
    } catch {
      return await next(traffic);
    }
  };
  const { client, server } = connected({}, { interceptors: [again], timeoutMs: 0 });
  let busy = 2;
  server.method('flaky', () => {
    if (busy-- > 0) throw new RpcError(ErrorCode.RateLimited, 'busy');
    return 'done';
  });
  expect(await client.batch([{ method: 'flaky' }, { method: 'flaky' }])).toMatchObject([
    { value: 'done' },
    { value: 'done' },
  ]);
});

test('those of a batch that cannot be sent hear why', async () => {
  const ended: string[] = [];
  const spy: Interceptor = async (traffic, next) => {
    try {
      return await next(traffic);
    } catch (error) {
      ended.push(`${traffic.method}: ${(error as RpcError).code}`);
      throw error;
    }
  };
  const { peer } = rawPeer({ interceptors: [spy], maxBatch: 1 });
  const items = [{ method: 'one' }, { method: 'two', notify: true }];
  await expect(peer.batch(items)).rejects.toMatchObject({ code: ErrorCode.InvalidRequest });
  expect(ended).toEqual([`one: ${ErrorCode.InvalidRequest}`, `two: ${ErrorCode.InvalidRequest}`]);
});
