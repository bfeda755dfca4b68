import { describe, expect, test } from 'vitest';
import { connected, rawPeer } from '../test/support.ts';
import { ErrorCode } from './index.ts';

describe('a batch', () => {
  test('gives one settled result per call in the order of the calls, however they are answered', async () => {
    const { client, server } = connected();
    const heard: unknown[] = [];
    server.method('later', async ({ ms }: { ms: number }) => {
      await new Promise((resolve) => setTimeout(resolve, ms));
      return ms;
    });
    server.notification('note', (params) => heard.push(params));
    const results = await client.batch([
      { method: 'later', params: { ms: 20 } },
      { method: 'note', params: [1], notify: true },
      { method: 'nobody' },
      { method: 'later', params: { ms: 1 } },
      { method: 'later', params: 'not params' },
    ]);
    expect(results).toMatchObject([
      { status: 'fulfilled', value: 20 },
      { status: 'rejected', reason: { code: ErrorCode.MethodNotFound } },
      { status: 'fulfilled', value: 1 },
      { status: 'rejected', reason: { code: ErrorCode.InvalidParams } },
    ]);
    expect(heard).toEqual([[1]]);
  });

  test.each([
    ['null', /array/],
    ['[{"method":"a"},null]', /item 1 /],
    ['["a"]', /item 0 /],
  ])('that is none is refused with its place: %s', async (items, message) => {
    const { client } = connected();
    await expect(client.batch(JSON.parse(items) as never)).rejects.toMatchObject({
      code: ErrorCode.InvalidRequest,
      message: expect.stringMatching(message),
    });
    expect(client.open.calls).toBe(0);
  });

  test('is one message, also a batch of one; an empty one sends nothing', async () => {
    const { peer, allSent } = rawPeer({ timeoutMs: 20 });
    expect(await peer.batch([])).toEqual([]);
    expect(await peer.batch([{ method: 'a', notify: true }])).toEqual([]);
    expect(await allSent()).toEqual([[{ jsonrpc: '2.0', method: 'a' }]]);
  });

  test('settles from single responses too, and what is not answered runs into its deadline', async () => {
    const { peer, sent, receive } = rawPeer();
    const batch = peer.batch([{ method: 'a' }, { method: 'b' }, { method: 'c' }], { timeoutMs: 30 });
    const [, b, c] = JSON.parse(await sent()) as { id: string }[];
    receive({ jsonrpc: '2.0', id: c?.id, result: 'c' });
    receive([
      { jsonrpc: '2.0', id: b?.id, result: 'b' },
      { jsonrpc: '2.0', id: 'stranger', result: 1 },
    ]);
    expect(await batch).toMatchObject([
      { status: 'rejected', reason: { code: ErrorCode.ToolTimeout } },
      { status: 'fulfilled', value: 'b' },
      { status: 'fulfilled', value: 'c' },
    ]);
  });

  test('over the limit is refused before anything is sent', async () => {
    const { peer, allSent } = rawPeer({ maxBatch: 2 });
    const items = Array.from({ length: 3 }, () => ({ method: 'a' }));
    await expect(peer.batch(items)).rejects.toMatchObject({
      code: ErrorCode.InvalidRequest,
      data: { limit: 2 },
    });
    const bad = [{ method: 'a' }, { method: 'b', params: 1, notify: true }];
    await expect(peer.batch(bad)).rejects.toMatchObject({ code: ErrorCode.InvalidParams });
    expect(await allSent()).toEqual([]);
    expect(peer.open.calls).toBe(0);
  });
});

describe('limits hold for what is sent', () => {
  const nested = (depth: number): unknown => (depth === 0 ? 0 : [nested(depth - 1)]);

  test('what one peer sends at the limit, another with the same limits takes', async () => {
    const { client, server } = connected(
      { maxDepth: 20, maxMessageBytes: 2000 },
      { maxDepth: 20, maxMessageBytes: 2000 },
    );
    server.method('echo', (params) => params);
    expect(await client.call('echo', [nested(17)])).toEqual([nested(17)]);
    expect(await client.batch([{ method: 'echo', params: [nested(17)] }])).toMatchObject([
      { status: 'fulfilled' },
    ]);
    await expect(client.call('echo', [nested(18)])).rejects.toMatchObject({ code: ErrorCode.InvalidParams });
    expect(await client.call('echo', ['x'.repeat(1900)])).toHaveLength(1);
    await expect(client.call('echo', ['x'.repeat(2000)])).rejects.toMatchObject({ data: { limit: 2000 } });
    const batch = Array.from({ length: 10 }, () => ({ method: 'echo', params: ['x'.repeat(500)] }));
    await expect(client.batch(batch)).rejects.toMatchObject({ code: ErrorCode.InvalidParams });
  });

  test('answers that no longer fit into the array of a batch become errors', async () => {
    const { client, server } = connected({ maxMessageBytes: 4000 }, { maxMessageBytes: 4000 });
    server.method('long', () => 'x'.repeat(1500));
    const results = await client.batch(Array.from({ length: 4 }, () => ({ method: 'long' })));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected']);
  });

  test('whose answers are not ASCII counts their bytes', async () => {
    const { client, server } = connected({ maxMessageBytes: 4000 }, { maxMessageBytes: 4000 });
    server.method('long', () => '\u4e2d'.repeat(500));
    const { receive, peer, allSent } = rawPeer({ maxMessageBytes: 4000 });
    peer.method('long', () => '\u4e2d'.repeat(500));
    receive([1, 2, 3].map((id) => ({ jsonrpc: '2.0', method: 'long', id })));
    expect(Buffer.byteLength(JSON.stringify((await allSent())[0]))).toBeLessThanOrEqual(4000);
    const results = await client.batch(Array.from({ length: 3 }, () => ({ method: 'long' })));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
  });

  test('a notification that fails, and that nobody waits for, is no unhandled rejection', async () => {
    const { client } = connected();
    const unhandled: unknown[] = [];
    const note = (error: unknown) => unhandled.push(error);
    process.on('unhandledRejection', note);
    void client.notify('note', 5);
    await client.close();
    void client.notify('note', {});
    await new Promise((resolve) => setTimeout(resolve, 10));
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });
});

describe('a call', () => {
  test('has an id that no other peer ever uses', async () => {
    const [one, two] = [rawPeer(), rawPeer()];
    const ids = new Set<string>();
    for (const { peer, sent } of [one, two, one, two]) {
      peer.call('m').catch(() => {});
      ids.add(JSON.parse(await sent()).id);
    }
    expect(ids.size).toBe(4);
    await Promise.all([one.peer.close(), two.peer.close()]);
  });

  test('that was cancelled does not settle a later one, whatever arrives', async () => {
    const { peer, sent, receive } = rawPeer();
    const abort = new AbortController();
    const first = peer.call('m', {}, { signal: abort.signal });
    const { id } = JSON.parse(await sent());
    abort.abort();
    await expect(first).rejects.toMatchObject({ code: ErrorCode.Cancelled });
    expect(JSON.parse(await sent())).toEqual({ jsonrpc: '2.0', method: 'tool.cancel', params: { id } });
    const second = peer.call('m');
    receive({ jsonrpc: '2.0', id, result: 'late' });
    receive({ jsonrpc: '2.0', id: JSON.parse(await sent()).id, result: 'mine' });
    expect(await second).toBe('mine');
  });

  test('with a signal that is none rejects, and leaves nothing open', async () => {
    const { client } = connected();
    const signal = {} as AbortSignal;
    await expect(client.call('x', undefined, { signal })).rejects.toThrow(TypeError);
    await expect(client.batch([{ method: 'x' }], { signal })).rejects.toThrow(TypeError);
    expect(client.open.calls).toBe(0);
    await client.close();
  });

  test('with an aborted signal is not sent at all', async () => {
    const { peer, allSent } = rawPeer();
    await expect(peer.call('m', {}, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: ErrorCode.Cancelled,
    });
    expect(await allSent()).toEqual([]);
  });

  test.each([
    [{ error: 'text' }],
    [{ error: { code: 'x', message: 'y' } }],
    [{ result: 1, error: { code: 1 } }],
    [{}],
  ])('answered with %j rejects instead of hanging', async (members) => {
    const { peer, sent, receive } = rawPeer();
    const call = peer.call('m');
    receive({ jsonrpc: '2.0', id: JSON.parse(await sent()).id, ...members });
    await expect(call).rejects.toMatchObject({ code: ErrorCode.InternalError });
  });

  test('takes result beside a null error, as older servers write it', async () => {
    const { peer, sent, receive } = rawPeer();
    const call = peer.call('m');
    receive({ jsonrpc: '2.0', id: JSON.parse(await sent()).id, result: 5, error: null });
    expect(await call).toBe(5);
  });

  test('without deadline waits; with one of its own waits that long', async () => {
    const { peer } = rawPeer({ timeoutMs: 10 });
    const patient = peer.call('m', {}, { timeoutMs: 0 });
    await expect(peer.call('m', {}, { timeoutMs: 30 })).rejects.toMatchObject({ data: { timeout_ms: 30 } });
    await expect(peer.call('m')).rejects.toMatchObject({ data: { timeout_ms: 10 } });
    expect(peer.open.calls).toBe(1);
    await Promise.all([peer.close(), expect(patient).rejects.toMatchObject({ code: ErrorCode.Unavailable })]);
  });

  test('gets exact numbers if it asks, and they are written as they were', async () => {
    const { client, server } = connected();
    server.method('echo', { exact: true }, (params) => params);
    const big = '{"n":12345678901234567890,"m":1.5}';
    const exact = await client.call('echo', JSON.parse('{"n":1}'), { exact: true });
    expect(exact).toEqual({ n: 1 });
    const { peer, sent, receive } = rawPeer();
    const call = peer.call('m', {}, { exact: true });
    receive(`{"jsonrpc":"2.0","id":"${JSON.parse(await sent()).id}","result":${big}}`);
    expect(JSON.stringify(await call)).toBe(big);
    peer.method('echo', { exact: true }, (params) => params);
    receive(`{"jsonrpc":"2.0","id":1,"method":"echo","params":${big}}`);
    expect(await sent()).toContain(big);
    receive(`[{"jsonrpc":"2.0","id":1,"method":"echo","params":${big}}]`);
    expect(await sent()).toContain(big);
  });
});

test('a time that is already over, or no number, is a deadline at once, not none', async () => {
  const { client, server } = connected();
  server.method('never', () => new Promise(() => {}));
  for (const timeoutMs of [-1, Number.NaN])
    await expect(client.call('never', {}, { timeoutMs })).rejects.toMatchObject({
      code: ErrorCode.ToolTimeout,
    });
});

test('what is no method name is refused before anything is sent', async () => {
  const { peer, allSent } = rawPeer();
  for (const method of [undefined, 5, Symbol('s')] as unknown as string[]) {
    const refused = { code: ErrorCode.InvalidRequest };
    await expect(peer.call(method)).rejects.toMatchObject(refused);
    await expect(peer.notify(method)).rejects.toMatchObject(refused);
    expect(await peer.batch([{ method }])).toMatchObject([{ status: 'rejected', reason: refused }]);
  }
  expect(await allSent()).toEqual([]);
});

describe('params that do something while they are written', () => {
  test('end the connection: the call is rejected, alone and in a batch', async () => {
    const { peer, allSent } = rawPeer({ timeoutMs: 0 });
    const params = { toJSON: () => peer.close('enough') };
    await expect(peer.call('m', params)).rejects.toMatchObject({ code: ErrorCode.Unavailable });
    const other = rawPeer({ timeoutMs: 0 });
    const closing = { toJSON: () => other.peer.close('enough') };
    const results = await other.peer.batch([
      { method: 'a' },
      { method: 'b', params: closing },
      { method: 'c' },
    ]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect([...(await allSent()), ...(await other.allSent())]).toEqual([]);
  });

  test('abort the call: it is rejected and not sent', async () => {
    const { peer, allSent } = rawPeer({ timeoutMs: 0 });
    const abort = new AbortController();
    const params = {
      toJSON: () => {
        abort.abort(new Error('no'));
        return {};
      },
    };
    await expect(peer.call('m', params, { signal: abort.signal })).rejects.toMatchObject({
      code: ErrorCode.Cancelled,
    });
    expect(await allSent()).toEqual([]);
    expect(peer.open.calls).toBe(0);
  });
});

test.each([Object.create(null), Symbol('why'), { toString: () => ({}) }, 5, undefined])(
  'a call is cancelled whatever the reason is: %#',
  async (reason) => {
    const { peer, allSent } = rawPeer({ timeoutMs: 0 });
    const abort = new AbortController();
    const call = peer.call('m', [], { signal: abort.signal });
    abort.abort(reason);
    await expect(call).rejects.toMatchObject({ code: ErrorCode.Cancelled, message: expect.any(String) });
    expect(await allSent()).toMatchObject([{ method: 'm' }, { method: 'tool.cancel' }]);
  },
);
