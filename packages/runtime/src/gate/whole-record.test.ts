import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ErrorCode } from '@chassis/errors';
import { fileStore, Secrets, type SessionView } from '@chassis/journal';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Fakes, fakeRegistry } from '../../test/support/fake-registry.ts';
import { openSession, surroundings } from '../../test/support/sessions.ts';
import { replayMixed } from '../session/mixed-replay.ts';
import { replay } from '../session/replay.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'chassis-whole-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Calls one tool with a long argument; the tool answers with a long text. */
const agent =
  (argument: string): NonNullable<Fakes['agent']> =>
  async (_input, ctx) => {
    const { output } = (await ctx.call('tool.call', { name: 'echo', arguments: { argument } })) as {
      output: string;
    };
    return { answer: output.slice(0, 3) };
  };
const tools = { echo: { run: () => 'out'.repeat(5000) } };
const long = 'in'.repeat(5000);

async function recorded(): Promise<string> {
  const store = fileStore({ root });
  const { session } = await openSession({ store, tools, agent: agent(long) });
  await session.prompt('go');
  await session.close();
  await store.close();
  return session.id;
}

async function viewOf(id: string): Promise<SessionView> {
  const store = fileStore({ root });
  const view = await (await store.reader(id)).view();
  await store.close();
  return view;
}

const blobs = (): string[] =>
  readdirSync(join(root, 'blobs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.zst'))
    .map((name) => join(root, 'blobs', name));

/** Spoils the one blob that holds a value. */
function spoil(value: unknown): void {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const sha256 = createHash('sha256').update(text).digest('hex');
  const path = blobs().find((one) => one.endsWith(`${sha256}.zst`));
  if (path === undefined) throw new Error('there is no such blob');
  writeFileSync(path, 'nothing of the kind');
}

const strictly = (view: SessionView, argument: string) =>
  replay(view, fakeRegistry({ agent: agent(argument) }), new Secrets(), new AbortController().signal);

const mixed = (view: SessionView, argument: string) =>
  replayMixed(view, surroundings({ tools, agent: agent(argument) }), {
    live: ['model'],
    signal: new AbortController().signal,
  });

for (const [name, again] of [
  ['strict', strictly],
  ['mixed', mixed],
] as const)
  test(`a ${name} replay stops at a value that is damaged, and says what the record lacks`, async () => {
    const id = await recorded();
    spoil('out'.repeat(5000));
    const view = await viewOf(id);
    // Nobody has looked yet: what is damaged shows when the answer is needed.
    expect(view.problems).toEqual([]);
    const damage = again(view, long);
    await expect(damage).rejects.toMatchObject({
      code: ErrorCode.DamagedRecord,
      message: expect.stringMatching(
        /^the record is damaged: it lacks blob [0-9a-f]{64}, an answer of step 1 .*chassis verify/,
      ),
      data: { session: id, fix: `chassis verify ${id}` },
    });
    // From now on it is known.
    expect(view.problems.length).toBeGreaterThan(0);
    await expect(again(view, long)).rejects.toMatchObject({ message: expect.stringContaining('is damaged') });
  });

test('an ask is not compared with an input that is lost', async () => {
  const id = await recorded();
  spoil({ argument: long });
  await expect(strictly(await viewOf(id), 'another argument')).rejects.toMatchObject({
    message: expect.stringMatching(/^the record is damaged: it lacks blob [0-9a-f]{64}, the input of step 1/),
  });
});

test('a record that lacks values is no measure', async () => {
  const id = await recorded();
  for (const path of blobs()) rmSync(path);
  const view = await viewOf(id);
  await expect(strictly(view, long)).rejects.toMatchObject({
    message: expect.stringContaining('is missing'),
  });
  await expect(mixed(view, long)).rejects.toMatchObject({ message: expect.stringContaining('is missing') });
});

test('a last line that a crash has cut off is no loss of what was acknowledged', async () => {
  const id = await recorded();
  const view = await viewOf(id);
  const torn = { kind: 'torn', message: 'the last line is cut off' };
  const cut = Object.create(view, { problems: { value: [torn] } }) as SessionView;
  expect(await strictly(cut, long)).toMatchObject({ ok: true, steps: 1 });
});
