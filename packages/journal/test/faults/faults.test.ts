/** A fault at every operation by which the store touches the disk: what was acknowledged is there, and the store works on. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fileStore, type Store } from '../../src/index.ts';
import { collect } from '../build.ts';
import { type Bundled, bundled } from '../bundled.ts';
import type { Fault } from './fs-faults.ts';
import { bundleFrom, outputOf, SEGMENT_BYTES } from './scenario.ts';

const FULL = process.env.CHASSIS_FULL === '1';
/** Faults of each kind in the short share; the full one strikes every operation. */
const SAMPLE = 4;

const base = mkdtempSync(join(tmpdir(), 'chassis-faults-'));
const bundle = join(base, 'bundle.jsonl');
let program: Bundled;
let operations: string[] = [];

beforeAll(async () => {
  const store = fileStore({ root: join(base, 'source') });
  writeFileSync(bundle, `${(await bundleFrom(store)).join('\n')}\n`);
  await store.close();
  const child = join(import.meta.dirname, 'child.ts');
  program = await bundled(child, [join(base, 'warm'), bundle, '0', 'EIO']);
  const whole = await play(join(base, 'whole'), 0, 'EIO');
  operations = /^done (.+)$/m.exec(whole)?.[1]?.split(' ') ?? [];
  expect(operations.length).toBeGreaterThan(100);
});
afterAll(() => {
  program[Symbol.dispose]();
  rmSync(base, { recursive: true, force: true });
});

/** Runs the scenario with one fault; what it said. */
async function play(root: string, at: number, fault: Fault): Promise<string> {
  const child = spawn(process.execPath, [...program.args, root, bundle, String(at), fault], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: program.env,
  });
  let said = '';
  child.stdout.on('data', (text) => {
    said += text;
  });
  await once(child, 'close');
  return said;
}

test.each<Fault>(['kill', 'half', 'cut', 'short', 'EIO', 'ENOSPC!'])(
  '%s at any operation: nothing acknowledged is lost, nothing is glued, and every session goes on clean',
  { timeout: FULL ? 20 * 60_000 : 180_000 },
  async (fault) => {
    const seed = Number(process.env.CHASSIS_SEED ?? Math.floor(Math.random() * 2 ** 31));
    const all = operations
      .map((_, index) => index + 1)
      .filter((at) => strikes(fault, operations[at - 1] ?? ''));
    const stride = FULL ? 1 : all.length / SAMPLE;
    const places = Array.from(
      { length: Math.floor(all.length / stride) },
      (_, i) => all[Math.floor((i + (seed % 1000) / 1000) * stride)] as number,
    );
    const lanes = Array.from({ length: 2 }, async () => {
      for (let at = places.shift(); at !== undefined; at = places.shift()) {
        const root = mkdtempSync(join(base, 'run-'));
        const what = `${fault} at operation ${at} of ${operations.length}, ${operations[at - 1]} (seed ${seed})`;
        try {
          await judge(root, await play(root, at, fault), what);
        } catch (error) {
          throw new Error(what, { cause: error });
        }
        rmSync(root, { recursive: true, force: true });
      }
    });
    await Promise.all(lanes);
  },
);

/** Whether a fault means anything at an operation. */
function strikes(fault: Fault, operation: string): boolean {
  if (fault === 'half') return /^write/.test(operation);
  if (fault === 'short') return operation === 'write';
  return fault !== 'ENOSPC!' || /^(write|writeFile|mkdir|link|open)$/.test(operation);
}

/** Everything that must hold for a store after a fault. */
async function judge(root: string, said: string, what: string): Promise<void> {
  const told = new Map<string, { word: string; seq: number }>();
  for (const [, word = '', session = '', seq] of said.matchAll(/^(made|there|gone|seq) (\w+) (\d+)$/gm))
    told.set(session, { word, seq: Number(seq) });
  const store = fileStore({ root, segmentBytes: SEGMENT_BYTES });
  const listed = existsSync(root) ? (await collect(store.list())).map(({ id }) => id) : [];
  const folders = existsSync(join(root, 'sessions'))
    ? readdirSync(join(root, 'sessions')).filter((name) => !name.startsWith('.'))
    : [];
  expect(listed.sort(), what).toEqual(folders.sort());
  for (const [id, { word, seq }] of told) {
    if (word === 'gone') expect(folders, what).not.toContain(id);
    // It may have been removed just before the fault.
    else if (id !== 'gone') expect(folders, what).toContain(id);
    if (folders.includes(id) && word === 'seq') await goesOn(store, id, seq, what);
  }
  // What nobody was told of is whole, or says why it is not there.
  for (const id of folders) {
    if (told.get(id)?.word === 'seq') continue;
    const opened = await goesOn(store, id, -1, what).catch((error) => error);
    if (opened instanceof Error) expect(opened, what).toMatchObject({ code: expect.any(Number) });
  }
  // A collection after it takes nothing that is needed.
  if (folders.length > 0) await store.collect();
  for (const [id, { word }] of told) {
    if (word === 'gone' || !folders.includes(id)) continue;
    expect(await store.verify(id), what).toMatchObject({ ok: true, problems: [] });
  }
  await store.close();
}

/** The session opens, holds what was acknowledged, takes a new event, and is whole. */
async function goesOn(store: Store, id: string, acknowledged: number, what: string): Promise<void> {
  const writer = await store.open(id);
  const { view } = writer;
  const before = view.lastSeq;
  expect(before, what).toBeGreaterThanOrEqual(acknowledged);
  for (const step of view.steps) {
    if (step.kind !== 'tool' || step.status !== 'ok' || id === 'imported') continue;
    const { n } = step.output as { n: number };
    expect(step.output, what).toEqual(outputOf(n));
  }
  writer.append('note.added', { text: 'still here', author: 'test' });
  await writer.close();
  expect(await store.verify(id), what).toMatchObject({ ok: true, problems: [] });
  const lines = await collect((await store.reader(id)).lines());
  expect(
    lines.map((line) => JSON.parse(line).seq),
    what,
  ).toEqual(lines.map((_, seq) => seq));
  expect(lines.at(-1), what).toContain('still here');
}
