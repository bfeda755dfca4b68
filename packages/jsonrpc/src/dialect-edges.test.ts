/** Where dialects, cancellation and progress meet limits, numbers and handlers that do not listen. */
import { describe, expect, test } from 'vitest';
import { rawPeer } from '../test/support.ts';
import type { DialectName } from './index.ts';

const spelling = {
  chassis: { cancel: 'tool.cancel', progress: 'tool.progress', id: 'id' },
  lsp: { cancel: '$/cancelRequest', progress: '$/progress', id: 'id' },
  mcp: { cancel: 'notifications/cancelled', progress: 'notifications/progress', id: 'requestId' },
} as const;
const wanted = { workDoneToken: 't', _meta: { progressToken: 't' } };

describe.each<DialectName>(['chassis', 'lsp', 'mcp'])('in dialect %s', (dialect) => {
  const { cancel, progress, id } = spelling[dialect];

  test('cancellation and progress are notifications: with an id they are refused as such', async () => {
    const { allSent, receive } = rawPeer({ dialect });
    receive({ jsonrpc: '2.0', id: 1, method: cancel, params: { [id]: 7 } });
    receive({ jsonrpc: '2.0', id: 2, method: progress, params: {} });
    const refused = { code: -32600, message: expect.stringContaining('is a notification') };
    expect(await allSent()).toMatchObject([
      { id: 1, error: refused },
      { id: 2, error: refused },
    ]);
  });

  test('a cancelled handler that goes on regardless is answered only where that is wanted', async () => {
    const { peer, allSent, receive } = rawPeer({ dialect });
    const ready = Promise.withResolvers<void>();
    peer.method('returns', async () => ready.promise.then(() => 'late'));
    peer.method('throws', async () => ready.promise.then(() => Promise.reject(new Error('late'))));
    for (const method of ['returns', 'throws']) {
      receive({ jsonrpc: '2.0', id: method, method });
      receive({ jsonrpc: '2.0', method: cancel, params: { [id]: method } });
    }
    ready.resolve();
    const answers = await allSent();
    if (dialect === 'mcp') expect(answers).toEqual([]);
    else
      expect(answers).toMatchObject([
        { id: 'returns', result: 'late' },
        { id: 'throws', error: { code: -32603 } },
      ]);
    expect(peer.open.requests).toBe(0);
  });

  test('a handler that hands its signal on is cancelled in the words of the dialect', async () => {
    const { peer, allSent, receive } = rawPeer({ dialect });
    peer.method('outer', (_params, context) => context.peer.call('inner', {}, { signal: context.signal }));
    receive({ jsonrpc: '2.0', id: 1, method: 'outer' });
    await allSent();
    receive({ jsonrpc: '2.0', method: cancel, params: { [id]: 1 } });
    const [told, answer] = await allSent();
    expect(told).toMatchObject({ method: cancel });
    if (dialect === 'mcp') expect(answer).toBeUndefined();
    else expect(answer).toMatchObject({ id: 1, error: { code: dialect === 'lsp' ? -32800 : -32003 } });
  });

  test('a cancelled request reports no more progress', async () => {
    const { peer, allSent, receive } = rawPeer({ dialect });
    const ready = Promise.withResolvers<void>();
    peer.method('work', async (_params, context) => {
      await ready.promise;
      context.progress({ n: 1 });
      context.signal.throwIfAborted();
    });
    receive({ jsonrpc: '2.0', id: 1, method: 'work', params: wanted });
    receive({ jsonrpc: '2.0', method: cancel, params: { [id]: 1 } });
    ready.resolve();
    expect(await allSent()).not.toContainEqual(expect.objectContaining({ method: progress }));
  });

  test('progress that cannot be sent within the limits is not sent', async () => {
    const { peer, allSent, receive } = rawPeer({ dialect, maxDepth: 20, maxMessageBytes: 1000 });
    const deep = JSON.parse(`${'['.repeat(30)}${']'.repeat(30)}`) as unknown;
    for (const data of [{ deep }, { long: 'x'.repeat(2000) }, { big: 1n }]) {
      peer.method('work', (_params, context) => context.progress(data));
      receive({ jsonrpc: '2.0', id: 1, method: 'work', params: wanted });
      expect(await allSent()).toMatchObject([{ id: 1, error: { code: -32603 } }]);
      peer.methods.remove('work');
    }
  });

  test('an array is progress only where it can be said', async () => {
    const { peer, allSent, receive } = rawPeer({ dialect });
    peer.method('work', (_params, context) => context.progress([1, 2]));
    receive({ jsonrpc: '2.0', id: 1, method: 'work', params: wanted });
    const sent = await allSent();
    if (dialect === 'lsp') expect(sent).toMatchObject([{ params: { value: [1, 2] } }, { result: null }]);
    else expect(sent).toMatchObject([{ error: { code: -32603 } }]);
  });

  test('a token that no double holds comes back as it was written', async () => {
    const { peer, sent, receive } = rawPeer({ dialect });
    peer.method('work', (_params, context) => context.progress({ n: 1 }));
    const n = '9007199254740993';
    const params = `{"workDoneToken":${n},"_meta":{"progressToken":${n}}}`;
    receive(`[{"jsonrpc":"2.0","id":${n},"method":"work","params":${params}}]`);
    const text = await sent();
    expect(text).toContain(progress);
    expect(text).toContain(n);
  });

  test('progress is exact for a call that asks for it, and dropped once the call is over', async () => {
    const { peer, allSent, receive } = rawPeer({ dialect });
    const heard: unknown[] = [];
    peer.onUnknownNotification = (method) => heard.push(method);
    const seen: unknown[] = [];
    const onProgress = (data: unknown) => seen.push(JSON.stringify(data));
    const call = peer.call('m', { workDoneToken: 'own' }, { onProgress, exact: true });
    const [{ id: ours } = {}] = (await allSent()) as { id?: string }[];
    const members = {
      chassis: `"id":"${ours}","n":12345678901234567890`,
      lsp: `"token":"${ours}","value":{"n":12345678901234567890}`,
      mcp: `"progressToken":"${ours}","n":12345678901234567890`,
    };
    const note = `{"jsonrpc":"2.0","method":"${progress}","params":{${members[dialect]}}}`;
    receive(note);
    receive({ jsonrpc: '2.0', id: ours, result: 1 });
    expect(await call).toBe(1);
    receive(note);
    expect(seen).toEqual(['{"n":12345678901234567890}']);
    expect(heard).toEqual([]);
  });
});

test('a token that is null, or no token at all, asks for no progress', async () => {
  for (const [dialect, params] of [
    ['lsp', { workDoneToken: null, partialResultToken: null }],
    ['mcp', { _meta: { progressToken: null } }],
    ['mcp', { _meta: { progressToken: {} } }],
  ] as const) {
    const { receive, peer, allSent } = rawPeer({ dialect });
    peer.method('report', (_params, context) => context.progress({ done: 1 }));
    receive({ jsonrpc: '2.0', method: 'report', params, id: 1 });
    expect(await allSent()).toEqual([{ jsonrpc: '2.0', id: 1, result: null }]);
  }
});
