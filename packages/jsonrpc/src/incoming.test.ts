import { duplexPair } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { connected, rawPeer } from '../test/support.ts';
import { ErrorCode, Peer, RpcError, streamTransport } from './index.ts';

const request = (id: unknown, method = 'wait', params: object = {}) => ({
  jsonrpc: '2.0',
  method,
  params,
  id,
});

/** A peer with a method `wait` whose calls are finished by hand, in the order in which they began. */
function waiting(maxInFlight: number) {
  const raw = rawPeer({ maxInFlight });
  const begun: { tag: unknown; finish: (value?: unknown) => void }[] = [];
  raw.peer.method(
    'wait',
    ({ tag }: { tag?: unknown }) => new Promise((finish) => begun.push({ tag, finish })),
  );
  return { ...raw, begun };
}

describe('at most maxInFlight requests run', () => {
  test('the rest begin in order as others finish', async () => {
    const { receive, begun, allSent } = waiting(2);
    for (const tag of [1, 2, 3, 4]) receive(request(tag, 'wait', { tag }));
    expect(await allSent()).toEqual([]);
    expect(begun.map(({ tag }) => tag)).toEqual([1, 2]);
    begun[1]?.finish('done');
    expect(await allSent()).toEqual([{ jsonrpc: '2.0', id: 2, result: 'done' }]);
    expect(begun.map(({ tag }) => tag)).toEqual([1, 2, 3]);
  });

  test('responses and notifications pass, so that call-backs cannot deadlock', async () => {
    const { client, server } = connected({ maxInFlight: 1 });
    const heard: unknown[] = [];
    server.method('outer', (_params, { peer }) => peer.call('inner'));
    server.notification('note', (params) => heard.push(params));
    client.method('inner', () => 'from the client');
    const calls = [client.call('outer'), client.call('outer'), client.call('outer')];
    await client.notify('note', { n: 1 });
    expect(await Promise.all(calls)).toEqual(Array(3).fill('from the client'));
    expect(heard).toEqual([{ n: 1 }]);
  });

  test('also when reading had stopped before the first call-back', async () => {
    const [near, far] = duplexPair();
    const server = new Peer(streamTransport(far, far), { maxInFlight: 2 });
    const client = new Peer(streamTransport(near, near));
    server.method('outer', async (_params, { peer }) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      return peer.call('inner');
    });
    client.method('inner', () => 'from the client');
    const pad = 'x'.repeat(100_000);
    const calls = Array.from({ length: 100 }, () => client.call('outer', { pad }, { timeoutMs: 10_000 }));
    expect(await Promise.all(calls)).toEqual(Array(100).fill('from the client'));
    await client.close();
  });

  test('cancellations are heard also when so many wait that reading had stopped', async () => {
    const { client, server } = connected({ maxInFlight: 2 });
    server.method('wait', (_params, { signal }) => {
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as RpcError));
      });
    });
    const stop = new AbortController();
    const calls = Array.from({ length: 20 }, () => client.call('wait', {}, { signal: stop.signal }));
    await new Promise((resolve) => setTimeout(resolve, 20));
    stop.abort();
    await Promise.allSettled(calls);
    await expect.poll(() => server.open.requests).toBe(0);
    await client.close();
  });

  test('one that waits can be cancelled: it never begins, and is answered', async () => {
    const { receive, begun, allSent } = waiting(1);
    for (const id of [1, 2]) receive(request(id));
    receive({ jsonrpc: '2.0', method: 'tool.cancel', params: { id: 2 } });
    expect(await allSent()).toMatchObject([{ id: 2, error: { code: ErrorCode.Cancelled } }]);
    begun[0]?.finish();
    expect(await allSent()).toMatchObject([{ id: 1, result: null }]);
    expect(begun).toHaveLength(1);
  });
});

describe('two open requests with one id', () => {
  test('the later one is refused, the first unharmed; then the id is free again', async () => {
    const { receive, begun, allSent } = waiting(10);
    receive(request(7));
    receive(request(7));
    expect(await allSent()).toMatchObject([{ id: 7, error: { code: ErrorCode.InvalidRequest } }]);
    begun[0]?.finish('first');
    expect(await allSent()).toMatchObject([{ id: 7, result: 'first' }]);
    receive(request(7));
    begun[1]?.finish('second');
    expect(await allSent()).toMatchObject([{ id: 7, result: 'second' }]);
  });

  test('1 and "1" are two ids, numbers beyond a double are told apart, null may repeat', async () => {
    const { receive, begun, allSent } = waiting(10);
    for (const id of ['1', '"1"', '9007199254740993', '9007199254740992', 'null', 'null']) {
      receive(`{"jsonrpc":"2.0","method":"wait","params":{},"id":${id}}`);
    }
    expect(await allSent()).toEqual([]);
    expect(begun).toHaveLength(6);
    receive('{"jsonrpc":"2.0","method":"wait","params":{},"id":9007199254740993}');
    expect(await allSent()).toMatchObject([{ error: { code: ErrorCode.InvalidRequest } }]);
  });

  test('a cancellation reaches exactly the id it names', async () => {
    const { peer, receive, allSent } = rawPeer();
    const stopped: string[] = [];
    peer.method('wait', ({ tag }: { tag: string }, { signal }) => {
      signal.addEventListener('abort', () => stopped.push(tag));
      return new Promise(() => {});
    });
    for (const id of ['0', '"0"', '9007199254740993']) {
      receive(`{"jsonrpc":"2.0","method":"wait","params":{"tag":${JSON.stringify(id)}},"id":${id}}`);
    }
    await allSent();
    for (const id of ['9007199254740993', '0', '9007199254740992', 'null']) {
      receive(`{"jsonrpc":"2.0","method":"tool.cancel","params":{"id":${id}}}`);
    }
    expect(stopped).toEqual(['9007199254740993', '0']);
  });
});

describe('a handler that fails', () => {
  const failing = async (thrown: unknown) => {
    const { client, server, serverLog } = connected();
    server.method('sync', () => {
      throw thrown as Error;
    });
    server.method('async', () => Promise.reject(thrown as Error));
    const errors = [];
    for (const method of ['sync', 'async'])
      errors.push(await client.call(method).catch((error: RpcError) => error));
    return { errors: errors as RpcError[], serverLog };
  };

  test.each([
    new Error('the password is hunter2'),
    'a string',
    undefined,
    null,
    Object.assign(new Error('exit'), { code: 1 }),
    Object.assign(new Error('no file'), { code: 'ENOENT', data: 1 }),
    new DOMException('quota', 'QuotaExceededError'),
    Object.assign(new Error('x'), { code: 4242, data: 1n }),
  ])('unforeseen with %s: an internal error with a reference into the log', async (thrown) => {
    const { errors, serverLog } = await failing(thrown);
    for (const [at, error] of errors.entries()) {
      expect(error).toMatchObject({ code: ErrorCode.InternalError, message: 'Internal error' });
      const { ref } = error.data as { ref: string };
      expect(serverLog[at]).toMatchObject({ level: 'error', event: 'handler-failed', ref, error: thrown });
      expect(JSON.stringify(error.data)).toBe(JSON.stringify({ ref }));
    }
  });

  test.each([
    [new RpcError(-32001, 'slow', { ms: 5 }), { code: -32001, message: 'slow', data: { ms: 5 } }],
    [
      Object.assign(new Error('mine'), { code: 7, data: undefined }),
      { code: 7, message: 'mine', data: undefined },
    ],
    [Object.assign(new Error('ours'), { code: -32004 }), { code: -32004, message: 'ours' }],
    [
      { code: 12, message: 'plain object', data: [] },
      { code: 12, message: 'plain object', data: [] },
    ],
  ])('on purpose with %s: the caller gets that', async (thrown, wanted) => {
    const { errors, serverLog } = await failing(thrown);
    for (const error of errors) expect(error).toMatchObject(wanted);
    expect(serverLog).toEqual([]);
  });

  test.each([
    ['a BigInt', () => ({ n: 1n })],
    [
      'a cycle',
      () => {
        const a: unknown[] = [];
        a.push(a);
        return a;
      },
    ],
    [
      'nesting without end',
      () => {
        let deep: unknown = 0;
        for (let n = 0; n < 100_000; n++) deep = [deep];
        return deep;
      },
    ],
    [
      'nesting beyond the limit',
      () => {
        let deep: unknown = 0;
        for (let n = 0; n < 513; n++) deep = [deep];
        return deep;
      },
    ],
    ['more than the limit', () => 'x'.repeat(2000)],
  ])('because its result is %s', async (_what, result) => {
    const { client, server } = connected({ maxMessageBytes: 1000 });
    server.method('bad', result).method('good', () => undefined);
    await expect(client.call('bad')).rejects.toMatchObject({ code: ErrorCode.InternalError });
    expect(await client.call('good')).toBeNull();
  });
});

describe('a notification', () => {
  test('never gets an answer, whatever goes wrong; it is logged', async () => {
    const { peer, receive, allSent, log } = rawPeer();
    peer.method('method', () => 1);
    peer.notification('throws', () => {
      throw new Error('x');
    });
    peer.notification('rejects', () => Promise.reject(new Error('x')));
    for (const method of ['method', 'throws', 'rejects', 'nobody', 'toString'])
      receive({ jsonrpc: '2.0', method });
    expect(await allSent()).toEqual([]);
    expect(log.map(({ event, method }) => `${event} ${method}`)).toEqual([
      'wrong-kind method',
      'notification-failed throws',
      'unknown-notification nobody',
      'unknown-notification toString',
      'notification-failed rejects',
    ]);
  });

  test('that nobody registered goes to the hook', async () => {
    const { peer, receive, log } = rawPeer();
    const heard: unknown[] = [];
    peer.onUnknownNotification = (method, params) => heard.push([method, params]);
    receive({ jsonrpc: '2.0', method: 'anything', params: [1] });
    expect(heard).toEqual([['anything', [1]]]);
    expect(log).toEqual([]);
  });
});

test('methods that nobody registered can be served dynamically', async () => {
  const { client, server } = connected();
  server.onUnknownMethod = (params, { method }) => {
    if (!method.startsWith('tool.')) throw new RpcError(ErrorCode.MethodNotFound, `no ${method}`);
    return { method, params };
  };
  expect(await client.call('tool.x', [1])).toEqual({ method: 'tool.x', params: [1] });
  await expect(client.call('other')).rejects.toMatchObject({ code: ErrorCode.MethodNotFound });
  await expect(client.call('rpc.other')).rejects.toMatchObject({ code: ErrorCode.MethodNotFound });
});

test('a side that does not read makes the other stop working for it', async () => {
  let reads = false;
  const { receive, peer, allSent, drained } = rawPeer({}, () => reads);
  let ran = 0;
  peer.method('count', () => ++ran);
  for (let id = 0; id < 10; id++) receive(request(id, 'count'));
  expect(ran).toBe(1);
  const notified = peer.notify('news').then(() => 'accepted');
  expect(await Promise.race([notified, allSent().then(() => 'still waiting')])).toBe('still waiting');
  reads = true;
  drained();
  expect(await notified).toBe('accepted');
  await allSent();
  expect(ran).toBe(10);
});

test('a side that does not read what it is refused is read no further', async () => {
  let reads = false;
  const { receive, peer, allSent, drained } = rawPeer({}, () => reads);
  expect(receive('no JSON')).toBe(true); // nobody knows yet
  expect(receive('no JSON')).toBe(false);
  expect(receive(request(1, 'nobody'))).toBe(false);
  reads = true;
  drained();
  expect(receive('no JSON')).toBe(true);
  expect(await allSent()).toHaveLength(4);
  await peer.close();
});

test('a batch that waits is charged with its length once, whichever of its elements waits first', async () => {
  const { receive, allSent, peer } = rawPeer({ maxInFlight: 1, maxMessageBytes: 10_000 });
  peer.method('wait', () => peer.call('back').catch(() => {}));
  receive(request('first'));
  const pad = 'x'.repeat(5000);
  for (let n = 0; n < 4; n++)
    receive([{ jsonrpc: '2.0', method: 'note' }, request(`a${n}`, 'wait', { pad }), request(`b${n}`)]);
  const refused = (await allSent())
    .flat()
    .filter((text) => (text as { error?: unknown }).error !== undefined);
  // Two batches are too much to let more wait.
  expect(refused).toHaveLength(4);
  expect(refused).toMatchObject(Array(4).fill({ error: { code: ErrorCode.RateLimited } }));
  await peer.close();
});

test('the exact numbers of a batch are read once, whatever its elements ask for', async () => {
  const { receive, sent, peer } = rawPeer();
  peer.method('exact', { exact: true }, (params) => params);
  const ids = Array.from({ length: 1000 }, (_, n) => `${n}.10000000000000000001`);
  const pad = 'x'.repeat(2000);
  const elements = ids.map((id) => `{"jsonrpc":"2.0","method":"exact","params":[${id},"${pad}"],"id":${id}}`);
  receive(`[${elements.join(',')}]`);
  const answers = JSON.parse(await sent()) as { id: number; result: number[] }[];
  expect(answers.map(({ id }) => id)).toEqual(ids.map(Number));
  expect(answers.map(({ result }) => result[0])).toEqual(ids.map(Number));
});

test('an unknown method of any length is repeated as far as it helps', async () => {
  const { receive, allSent } = rawPeer();
  receive(request(1, 'm'.repeat(1 << 20)));
  const [answer] = (await allSent()) as { error: { code: number; message: string } }[];
  expect(answer?.error.code).toBe(ErrorCode.MethodNotFound);
  expect(answer?.error.message).toMatch(/^Method not found: m{200}…$/);
});
