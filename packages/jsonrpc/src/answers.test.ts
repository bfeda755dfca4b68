import { describe, expect, test } from 'vitest';
import { connected } from '../test/support.ts';
import { ErrorCode, RpcError } from './index.ts';

const nested = (levels: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
};
const unreadable = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};
const broken = (name: string) =>
  Object.defineProperty({}, name, {
    get() {
      throw new Error('not even this');
    },
  });
const cycle: Record<string, unknown> = {};
cycle.self = cycle;

describe('whatever a handler returns, its request gets one answer and the connection goes on', () => {
  test.each<[string, () => unknown]>([
    ['an object whose "then" cannot be read', () => broken('then')],
    [
      'a thenable that throws',
      () => ({
        // biome-ignore lint/suspicious/noThenProperty: that is what is tested
        then() {
          throw new Error('then');
        },
      }),
    ],
    ['a revoked proxy', unreadable],
    ['a cycle', () => cycle],
    ['a BigInt', () => ({ n: 1n })],
    ['nesting over the limit', () => nested(600)],
    ['nesting over what the engine can take', () => nested(200_000)],
    ['a text over the limit', () => 'x'.repeat(20_000)],
  ])('%s is an internal error', async (_what, handler) => {
    const { client, server, serverLog } = connected({ maxMessageBytes: 10_000 });
    server.method('odd', handler).method('fine', () => 'fine');
    const refusal = await client.call('odd').catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: ErrorCode.InternalError, message: 'Internal error' });
    expect(serverLog).toMatchObject([
      { event: 'handler-failed', ref: (refusal as RpcError & { data: { ref: string } }).data.ref },
    ]);
    expect(await client.call('fine')).toBe('fine');
    expect(server.open).toEqual({ calls: 0, requests: 0 });
  });

  test('a thenable that settles twice, or throws afterwards, counts once', async () => {
    const { client, server } = connected({ maxInFlight: 1 });
    server.method('twice', () => ({
      // biome-ignore lint/suspicious/noThenProperty: that is what is tested
      then(resolve: (value: unknown) => void, reject: (error: unknown) => void) {
        resolve('first');
        reject(new Error('second'));
        throw new Error('third');
      },
    }));
    expect(await Promise.all([client.call('twice'), client.call('twice')])).toEqual(['first', 'first']);
    expect(server.open.requests).toBe(0);
  });
});

describe('whatever a handler throws', () => {
  test.each<[string, unknown]>([
    ['null', null],
    ['a symbol', Symbol('s')],
    ['a revoked proxy', unreadable()],
    ['an error whose code cannot be read', broken('code')],
    ['a code that is no integer', { code: 1.5, message: 'm', data: 1 }],
    ['a message that is no text', { code: -32005, message: {}, data: 1 }],
    ['data that is no JSON', new RpcError(-32005, 'm', { n: 1n })],
    ['data that nests over the limit', new RpcError(-32005, 'm', nested(600))],
    ['data over the limit', new RpcError(-32005, 'm', 'x'.repeat(20_000))],
    ['a message over the limit', new RpcError(-32005, 'x'.repeat(20_000))],
  ])('%s is answered as an internal error, in a batch as well', async (_what, thrown) => {
    const { client, server } = connected({ maxMessageBytes: 10_000 });
    server.method('odd', () => {
      throw thrown;
    });
    await expect(client.call('odd')).rejects.toMatchObject({ code: ErrorCode.InternalError });
    expect(await client.batch([{ method: 'odd' }, { method: 'odd' }])).toMatchObject([
      { reason: { code: ErrorCode.InternalError } },
      { reason: { code: ErrorCode.InternalError } },
    ]);
  });
});

test('a log that fails does not cost an answer, nor the connection', async () => {
  const written: string[] = [];
  const { write } = process.stderr;
  process.stderr.write = ((text: string) => written.push(text) > 0) as typeof write;
  try {
    const log = () => {
      throw new Error('the disk is full');
    };
    const { client, server } = connected({ log });
    const fail = () => {
      throw new Error('x');
    };
    server
      .method('fail', fail)
      .method('later', async () => fail())
      .notification('note', fail);
    await client.notify('note');
    await client.notify('nobody');
    for (const method of ['fail', 'later'])
      await expect(client.call(method)).rejects.toMatchObject({ code: ErrorCode.InternalError });
    expect(written).toHaveLength(4);
    expect(written[0]).toMatch(/^hook-failed: the log of a peer failed\nError: the disk is full/);
  } finally {
    process.stderr.write = write;
  }
});
