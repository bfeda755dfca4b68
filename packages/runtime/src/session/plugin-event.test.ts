/** Events of plugins: written through the host, kept byte for byte, and never in the way. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportBundle, fileStore, importBundle, memoryStore, Secrets } from '@chassis/journal';
import type { JsonObject } from '@chassis/types';
import { expect, test } from 'vitest';
import { type Fakes, fakeRegistry, says } from '../../test/support/fake-registry.ts';
import { openSession } from '../../test/support/sessions.ts';
import { replay } from './replay.ts';

type Agent = NonNullable<Fakes['agent']>;

const agent: Agent = async (_input, ctx) => {
  await ctx.call('session.event', { type: 'x-fakes.plan', data: { steps: ['look', 'c4nary-value'] } });
  const reply = (await ctx.call('model.generate', { messages: [{ role: 'user', content: 'hi' }] })) as {
    message: JsonObject;
  };
  const refused: string[] = [];
  for (const type of ['x-other.plan', 'step.started', 'x-fakes.', 'x-fakes.a b', 'session.ended'])
    await ctx.call('session.event', { type, data: {} }).catch((error: Error) => refused.push(error.name));
  await ctx
    .call('session.event', { type: 'x-fakes.list', data: [1] as never })
    .catch((error: Error) => refused.push(error.name));
  await ctx.call('session.event', { type: 'x-fakes.refused', data: { refused } });
  return { answer: reply.message.content };
};

test('a plugin writes events under its own name only; they open, replay, travel and are redacted like all others', async () => {
  const root = mkdtempSync(join(tmpdir(), 'chassis-events-'));
  try {
    const secrets = new Secrets();
    secrets.add('CANARY', 'c4nary-value');
    const store = fileStore({ root, secrets });
    const { session } = await openSession({ agent, models: { p: () => says('ok') }, store, secrets });
    expect(await session.prompt('go')).toMatchObject({ outcome: 'ok', answer: 'ok' });
    await session.close();
    const { id } = session;
    const events = await Array.fromAsync((await store.reader(id)).events());
    const own = events.filter(({ type }) => type.startsWith('x-'));
    expect(own.map(({ type, data }) => [type, data])).toEqual([
      ['x-fakes.plan', { steps: ['look', '{{secret:CANARY}}'] }],
      ['x-fakes.refused', { refused: Array(6).fill('InvalidParams') }],
    ]);
    // The session opens for writing, goes on, and is whole; a re-execution is not disturbed.
    const writer = await store.open(id);
    writer.append('note.added', { text: 'went on', author: 'me' });
    await writer.close();
    expect(await store.verify(id)).toMatchObject({ ok: true, problems: [] });
    const view = await (await store.reader(id)).view();
    expect(view.problems).toEqual([]);
    const again = await replay(view, fakeRegistry({ agent }), secrets, new AbortController().signal);
    expect(again.divergence).toBeUndefined();
    const lines = await Array.fromAsync(exportBundle(store, id));
    const other = memoryStore();
    await importBundle(
      other,
      (async function* () {
        yield* lines;
      })(),
    );
    expect(await Array.fromAsync(exportBundle(other, id))).toEqual(lines);
    await store.close();
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
