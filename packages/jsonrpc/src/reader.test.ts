/** The table of answers, line by line. */
import { describe, expect, test } from 'vitest';
import { rawPeer } from '../test/support.ts';
import { ErrorCode, type PeerOptions } from './index.ts';

const { ParseError, InvalidRequest, MethodNotFound } = ErrorCode;

/** What a server with a few methods answers to one text. */
async function answersTo(message: unknown, options: PeerOptions = {}): Promise<unknown[]> {
  const { peer, allSent, receive } = rawPeer(options);
  peer.method('echo', (params) => params);
  peer.notification('note', () => {});
  receive(message);
  return allSent();
}

const request = (id: unknown, more: object = {}) => ({
  jsonrpc: '2.0',
  method: 'echo',
  params: [1],
  id,
  ...more,
});
const error = (id: unknown, code: number) =>
  expect.objectContaining({ id, error: expect.objectContaining({ code }) });

describe('not a request', () => {
  test.each([
    ['no JSON', '{"jsonrpc"', [error(null, ParseError)]],
    ['an empty text', '', [error(null, ParseError)]],
    ['a number', '1', [error(null, InvalidRequest)]],
    ['null', 'null', [error(null, InvalidRequest)]],
    ['an empty batch', '[]', [error(null, InvalidRequest)]],
    ['no version', { method: 'echo', id: 1 }, [error(1, InvalidRequest)]],
    ['another version', { ...request(1), jsonrpc: '1.0' }, [error(1, InvalidRequest)]],
    ['no method', { jsonrpc: '2.0', id: 'x' }, [error('x', InvalidRequest)]],
    ['a method that is no string', request(1, { method: 1 }), [error(1, InvalidRequest)]],
    ['params null', request(1, { params: null }), [error(1, InvalidRequest)]],
    ['params a string', request(1, { params: 'x' }), [error(1, InvalidRequest)]],
    ['an id that is an object', request({}), [error(null, InvalidRequest)]],
    ['an id that is true', request(true), [error(null, InvalidRequest)]],
    ['an infinite id', '{"jsonrpc":"2.0","method":"echo","id":1e999}', [error(null, InvalidRequest)]],
    ['a request with a result', request(1, { result: 1 }), [error(1, InvalidRequest)]],
    ['a misshapen message without id', { jsonrpc: '2.0', method: 1 }, [error(null, InvalidRequest)]],
  ])('%s', async (_what, message, answers) => {
    expect(await answersTo(message)).toEqual(answers);
  });

  test('a response is never answered, however malformed', async () => {
    for (const response of [
      { id: 1, result: 1 },
      { jsonrpc: '2.0', error: { code: 1, message: '' } },
      { jsonrpc: '2.0', id: {}, result: null, extra: 1 },
      { jsonrpc: '2.0', id: null, error: null },
    ]) {
      expect(await answersTo(response)).toEqual([]);
    }
  });
});

describe('a request', () => {
  test.each([1, 0, -1, 1.5, 'a', '', null, '"\\\n\ud800', 'é'])(
    'with id %j gets one answer with that id',
    async (id) => {
      expect(await answersTo(request(id))).toEqual([{ jsonrpc: '2.0', id, result: [1] }]);
    },
  );

  test.each(['9007199254740993', '-123456789012345678901234567890', '0.1000000000000000055511151231257827'])(
    'with id %s is answered with exactly that number, also in a batch and in errors',
    async (id) => {
      const { peer, sent, receive } = rawPeer();
      peer.method('echo', (params) => params);
      receive(`{"id":${id},"jsonrpc":"2.0","method":"echo","params":{"id":1}}`);
      expect(await sent()).toContain(`"id":${id},`);
      receive(`[{"jsonrpc":"2.0","method":"nope","id":${id}}]`);
      expect(await sent()).toContain(`"id":${id},`);
      receive(`{"method":"echo","id":${id}}`);
      expect(await sent()).toContain(`"id":${id},`);
    },
  );

  test.each(['nope', 'toString', 'constructor', '__proto__', 'rpc.nope', 'hasOwnProperty', ''])(
    'of the unknown method %j',
    async (method) => expect(await answersTo(request(1, { method }))).toEqual([error(1, MethodNotFound)]),
  );

  test('extra members and repeated members are accepted as JSON.parse does', async () => {
    const text = '{"jsonrpc":"2.0","method":"x","method":"echo","id":1,"id":2,"trace":[]}';
    expect(await answersTo(text)).toEqual([{ jsonrpc: '2.0', id: 2, result: null }]);
  });

  test('byte-order marks without end are no JSON, and cost no stack', async () => {
    expect(await answersTo('\ufeff'.repeat(200_000))).toEqual([error(null, ParseError)]);
  });

  test('a byte-order mark before it is no damage', async () => {
    expect(await answersTo(`\ufeff${JSON.stringify(request(1))}`)).toEqual([
      { jsonrpc: '2.0', id: 1, result: [1] },
    ]);
  });

  test('a wrong kind is refused with the right one named', async () => {
    const [answer] = await answersTo(request(1, { method: 'note' }));
    expect(answer).toEqual(error(1, InvalidRequest));
    expect(JSON.stringify(answer)).toContain('notification');
  });
});

describe('limits', () => {
  test('a message nested too deep names the limit', async () => {
    const deep = `${'['.repeat(600)}${']'.repeat(600)}`;
    const [answer] = await answersTo(`{"jsonrpc":"2.0","method":"echo","params":${deep},"id":1}`);
    expect(answer).toMatchObject({ id: null, error: { code: InvalidRequest, data: { limit: 512 } } });
  });

  test('a batch over the limit is refused as a whole', async () => {
    const [answer] = await answersTo(
      Array.from({ length: 4 }, (_, id) => request(id)),
      { maxBatch: 3 },
    );
    expect(answer).toMatchObject({ id: null, error: { code: InvalidRequest, data: { limit: 3 } } });
  });
});

describe('a batch', () => {
  test('gives one answer per request in one array, and an error for each invalid element', async () => {
    const batch = [request(1), { jsonrpc: '2.0', method: 'note' }, 1, null, [request(9)], {}, request('2')];
    const [answers, ...more] = (await answersTo(batch)) as unknown[][];
    expect(more).toEqual([]);
    expect(answers).toHaveLength(6);
    expect(answers).toEqual(
      expect.arrayContaining([
        { jsonrpc: '2.0', id: 1, result: [1] },
        { jsonrpc: '2.0', id: '2', result: [1] },
        error(null, InvalidRequest),
      ]),
    );
    expect(answers?.filter((answer) => (answer as { id: unknown }).id === null)).toHaveLength(4);
  });

  test('of notifications and responses gives nothing at all', async () => {
    expect(
      await answersTo([
        { jsonrpc: '2.0', method: 'note' },
        { jsonrpc: '2.0', id: 7, result: 1 },
      ]),
    ).toEqual([]);
  });

  test('of one is still an array', async () => {
    expect(await answersTo([request(1)])).toEqual([[{ jsonrpc: '2.0', id: 1, result: [1] }]]);
  });

  test('runs its requests concurrently', async () => {
    const { peer, allSent, receive } = rawPeer();
    const release: (() => void)[] = [];
    peer.method('wait', () => new Promise<void>((resolve) => release.push(resolve)));
    receive([1, 2, 3].map((id) => request(id, { method: 'wait' })));
    expect(await allSent()).toEqual([]);
    expect(release).toHaveLength(3);
    for (const done of release.reverse()) done();
    expect((await allSent()).flat().map((answer) => (answer as { id: number }).id)).toEqual([3, 2, 1]);
  });
});

describe('the log', () => {
  test('an error response without id is reported with what was sent before', async () => {
    const { peer, log, receive } = rawPeer();
    const call = peer.call('first', {}, { timeoutMs: 20 });
    await peer.notify('second');
    receive({ jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error' } });
    expect(log).toMatchObject([
      { level: 'warn', event: 'peer-error', recent: ['call first 1', 'notification second'] },
    ]);
    await expect(call).rejects.toMatchObject({ code: ErrorCode.ToolTimeout });
  });

  test('a response that belongs to nothing is named', async () => {
    const { peer, log, receive, sent } = rawPeer();
    const call = peer.call('m');
    const { id } = JSON.parse(await sent());
    for (const wrong of [7, '7', `${id}0`, `${id.slice(0, -1)}01`, `${id} `, `${id}.0`]) {
      receive({ jsonrpc: '2.0', id: wrong, result: 'wrong' });
    }
    expect(log.map(({ event }) => event)).toEqual(Array(6).fill('unmatched-response'));
    receive({ jsonrpc: '2.0', id, result: 'right' });
    expect(await call).toBe('right');
    receive({ jsonrpc: '2.0', id, result: 'again' });
    expect(log.at(-1)).toMatchObject({ level: 'debug', event: 'late-response', id });
  });

  test('never shows params', async () => {
    const { peer, log, receive } = rawPeer();
    peer.notification('fails', () => {
      throw new Error('x');
    });
    for (const method of ['fails', 'nobody', 'echo'])
      receive({ jsonrpc: '2.0', method, params: { key: 'hunter2' } });
    receive({ jsonrpc: '2.0', id: 1, method: 5, params: { key: 'hunter2' } });
    expect(log.length).toBeGreaterThan(2);
    expect(JSON.stringify(log)).not.toContain('hunter2');
  });
});
