/** Makes a session as large as it is told, or looks at one, in a process of its own: `large-child.ts ROOT ID DEED [BYTES]`. */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileStore, type Store, type Writer } from '../src/index.ts';
import { header } from './build.ts';

const [, , root = '', id = '', deed = '', size = '0'] = process.argv;
const STEPS_A_TURN = 200;

/** Text that is not all the same. */
function words(length: number, seed: number): string {
  let text = '';
  for (let state = seed + 1; text.length < length; ) {
    state = (state * 48271) % 2147483647;
    text += `${state.toString(36).replace(/\d/g, '')} `;
  }
  return text;
}

/** Some 6 kB in three events; the numbers of steps and turns say what was written where. */
function step(writer: Writer): void {
  const number = writer.view.steps.length + 1;
  const turn = Math.ceil(number / STEPS_A_TURN);
  if (number % STEPS_A_TURN === 1) {
    if (turn > 1) writer.append('session.ended', { outcome: 'ok', turn: turn - 1, answer: 'done' });
    writer.append('input.received', { turn, content: `task ${turn}` });
  }
  const common = { digest: '', causes: [], parent: null, agent: 'main', turn, plugin: null } as const;
  writer.append('step.started', { kind: 'tool', name: 'read', input: { number }, ...common });
  writer.append('step.dispatched', { attempt: 1, idempotency_key: `key-${number}` }, number);
  const output = { number, text: words(5500, number) };
  writer.append('step.finished', { status: 'ok', output, duration_ms: 1, attempts: 1 }, number);
}

/** Begins the session, or goes on with it. */
async function make(store: Store, bytes: number): Promise<void> {
  const begun = existsSync(join(root, 'sessions', id));
  const writer = begun ? await store.open(id) : await store.create(header(id));
  for (let total = 0; total < bytes; total += 6000) {
    step(writer);
    if (writer.view.steps.length % 100 === 0) await writer.barrier();
  }
  const first = writer.view.step(1)?.output as { number: number };
  if (first.number !== 1) throw new Error('the first step is another one');
  await writer.close();
}

/** One line of 32 MB: no value in it is large enough to be kept outside. */
async function makeLong(store: Store): Promise<void> {
  const writer = await store.open(id);
  const parts = Object.fromEntries(Array.from({ length: 4200 }, (_, i) => [`part${i}`, 'x'.repeat(8000)]));
  writer.append('x-test.long' as never, parts as never);
  await writer.close();
}

/** What a person would look at, as plain data. */
async function look(store: Store): Promise<unknown> {
  if (deed === 'list')
    return (await Array.fromAsync(store.list())).map(({ events, steps }) => ({ events, steps }));
  if (deed === 'resume') {
    const writer = await store.open(id);
    step(writer);
    await writer.barrier();
    const { steps, turns } = writer.view;
    const last = steps.at(-2)?.output as { number: number };
    await writer.close();
    return { steps: steps.length, turns: turns.length, before: last.number };
  }
  const reader = await store.reader(id);
  const last = await reader.lastSeq();
  if (deed === 'lines' || deed === 'follow') {
    const stop = new AbortController();
    const lines: string[] = [];
    const follow = deed === 'follow' ? { follow: true, signal: stop.signal } : {};
    for await (const line of reader.lines({ from: last - 9, ...follow }))
      if (lines.push(line) === 10) stop.abort();
    return lines.map((line) => (JSON.parse(line) as { seq: number }).seq - last);
  }
  const view = await reader.view(deed === 'middle' ? Math.floor(last / 2) : undefined);
  const { length } = view.steps;
  const shown = Array.from(
    { length: 10 },
    (_, i) => view.step(length - 10 + i)?.output as { number: number },
  );
  return {
    steps: length,
    turns: view.turns.length,
    last: view.turns.at(-1)?.input,
    outputs: shown.map(({ number }) => length - number),
  };
}

const store = fileStore({ root });
const before = performance.now();
const deeds: Record<string, () => Promise<unknown>> = {
  make: () => make(store, Number(size)),
  long: () => makeLong(store),
};
const found = await (deeds[deed]?.() ?? look(store));
const ms = performance.now() - before;
await store.close();
// The next one finds no list that this one left.
rmSync(join(root, 'index.db'), { force: true });
console.log(JSON.stringify({ found, ms, megabytes: process.resourceUsage().maxRSS / 1024 }));
