import { describe, expect, test } from 'vitest';
import { connected, rawPeer } from '../test/support.ts';
import type { DialectName } from './index.ts';

const dialects: DialectName[] = ['chassis', 'lsp', 'mcp'];

describe.each(dialects)('dialect %s', (dialect) => {
  test('brings progress to the caller, in order, before the result', async () => {
    const { client, server } = connected({ dialect }, { dialect });
    server.method('work', async (_params, context) => {
      for (const n of [1, 2, 3]) context.progress({ n });
      await context.drained();
      return 'done';
    });
    const seen: unknown[] = [];
    const result = await client.call('work', { x: 1 }, { onProgress: (data) => seen.push(data) });
    seen.push(result);
    expect(seen).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }, 'done']);
  });

  test('cancels, and the handler sees it', async () => {
    const { client, server } = connected({ dialect }, { dialect });
    const begun = Promise.withResolvers<void>();
    const stopped = Promise.withResolvers<unknown>();
    server.method('work', (_params, { signal }) => {
      begun.resolve();
      return new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => {
          stopped.resolve(signal.reason);
          reject(signal.reason as Error);
        }),
      );
    });
    const abort = new AbortController();
    const call = client.call('work', {}, { signal: abort.signal });
    await begun.promise;
    abort.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    expect(await stopped.promise).toBeInstanceOf(Error);
    await client.call('rpc.discover');
    expect(server.open.requests).toBe(0);
  });
});

test('each dialect spells it its own way', async () => {
  const spelt = async (dialect: DialectName) => {
    const { peer, allSent, receive } = rawPeer({ dialect });
    const abort = new AbortController();
    const options = { signal: abort.signal, onProgress: () => {} };
    peer.call('m', { a: 1 }, options).catch(() => {});
    abort.abort(new Error('why'));
    const [call, cancel] = (await allSent()) as { id: string; method: string; params: object }[];
    peer.method('work', (_params, context) => context.progress({ n: 1 }));
    const token = { _meta: { progressToken: 'p' }, workDoneToken: 'w' };
    receive({ jsonrpc: '2.0', id: 7, method: 'work', params: token });
    const [progress] = (await allSent()) as { method: string; params: object }[];
    const text = JSON.stringify([call?.params, cancel, progress]);
    return JSON.parse(text.replaceAll(call?.id ?? '', 'ID')) as unknown;
  };
  const note = (method: string, params: object) => ({ jsonrpc: '2.0', method, params });
  expect(await spelt('chassis')).toEqual([
    { a: 1 },
    note('tool.cancel', { id: 'ID' }),
    note('tool.progress', { id: 7, n: 1 }),
  ]);
  expect(await spelt('lsp')).toEqual([
    { a: 1, workDoneToken: 'ID' },
    note('$/cancelRequest', { id: 'ID' }),
    note('$/progress', { token: 'w', value: { n: 1 } }),
  ]);
  expect(await spelt('mcp')).toEqual([
    { a: 1, _meta: { progressToken: 'ID' } },
    note('notifications/cancelled', { requestId: 'ID', reason: 'why' }),
    note('notifications/progress', { progressToken: 'p', n: 1 }),
  ]);
});

test("a cancelled request is answered with the dialect's code, or not at all", async () => {
  const answers = async (dialect: DialectName, method: string, params: object) => {
    const { peer, allSent, receive } = rawPeer({ dialect });
    peer.method(
      'wait',
      (_params, { signal }) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason as Error)),
        ),
    );
    receive({ jsonrpc: '2.0', id: 0, method: 'wait' });
    await allSent();
    receive({ jsonrpc: '2.0', method, params });
    return allSent();
  };
  expect(await answers('chassis', 'tool.cancel', { id: 0 })).toMatchObject([
    { id: 0, error: { code: -32003 } },
  ]);
  expect(await answers('lsp', '$/cancelRequest', { id: 0 })).toMatchObject([
    { id: 0, error: { code: -32800 } },
  ]);
  expect(await answers('mcp', 'notifications/cancelled', { requestId: 0 })).toEqual([]);
});

test('progress that belongs to no call of ours is an ordinary notification', async () => {
  const { peer, receive } = rawPeer();
  const heard: unknown[] = [];
  peer.notification('tool.progress', (params) => heard.push(params));
  for (const id of ['stranger', 5, null])
    receive({ jsonrpc: '2.0', method: 'tool.progress', params: { id } });
  expect(heard).toEqual([{ id: 'stranger' }, { id: 5 }, { id: null }]);
});
