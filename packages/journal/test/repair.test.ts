/** Repair: brings back what the chain bears out, marks what is gone, and keeps everything that it replaces. */
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import {
  exportBundle,
  fileStore,
  importBundle,
  memoryStore,
  type Store,
  verifyBundle,
} from '../src/index.ts';
import { collect, folder, header, Run } from './build.ts';

let dir: ReturnType<typeof folder>;
let root: string;
let store: Store;
/** The lines as they were written, and the file that the first of them stand in. */
let lines: string[];
let bundle: string[];
let log: string;
let bytes: Buffer;

/** A session with one plain segment. */
async function make(segmentBytes?: number, cycles = 4): Promise<void> {
  store = fileStore({ root, ...(segmentBytes === undefined ? {} : { segmentBytes }) });
  const writer = await store.create(header('s'));
  const run = new Run(writer);
  run.begin('é \u2028 * "quoted"');
  for (let i = 0; i < cycles; i++) {
    run.cycles(1);
    await writer.barrier();
  }
  run.tool({ text: 'long '.repeat(4000) });
  await writer.close();
  lines = await collect((await store.reader('s')).lines());
  bundle = await collect(exportBundle(store, 's'));
  log = join(root, 'sessions', 's', 'log', `${'0'.repeat(20)}.jsonl`);
  if (existsSync(log)) bytes = readFileSync(log);
}

beforeEach(async () => {
  dir?.[Symbol.dispose]();
  dir = folder();
  root = join(dir.path, 'store');
  await make();
});

const source = async function* (): AsyncGenerator<string> {
  yield* bundle;
};
/** Offset of a line in the plain segment. */
const offsetOf = (line: number): number =>
  Buffer.byteLength(
    lines
      .slice(0, line)
      .map((l) => `${l}\n`)
      .join(''),
  );
const digest = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');
const kinds = (problems: readonly { kind: string }[]): string[] => problems.map(({ kind }) => kind);
const linesNow = async (): Promise<string[]> => collect((await store.reader('s')).lines());

/** Another content of the log, as if nothing had ever stood there: the index knows how far it reached. */
async function replaceLog(content: Uint8Array): Promise<void> {
  await store.close();
  rmSync(join(root, 'index.db'), { force: true });
  store = fileStore({ root });
  writeFileSync(log, content);
}

/** After a repair the record is whole, opens without force, and goes on clean. */
async function expectHealthy(): Promise<void> {
  expect(await store.verify('s')).toMatchObject({ ok: true, problems: [] });
  const writer = await store.open('s');
  writer.append('note.added', { text: 'after the repair', author: 'me' });
  await writer.close();
  expect(await store.verify('s')).toMatchObject({ ok: true, problems: [] });
  for (const line of readFileSync(log, 'utf8').trimEnd().split('\n')) JSON.parse(line);
}

test('any single flipped bit is put right, byte for byte', { timeout: 180_000 }, async () => {
  const end = bytes.length;
  const places = new Set<number>([0, 1, end - 1, end - 2, end - 70]);
  for (let line = 1; line < 12; line++) {
    const start = offsetOf(line);
    // The newline before it, its beginning, its middle, its hash.
    for (const at of [
      start - 1,
      start,
      start + 9,
      start + 60,
      offsetOf(line + 1) - 10,
      offsetOf(line + 1) - 70,
    ])
      places.add(at);
  }
  for (const at of places) {
    const copy = Buffer.from(bytes);
    copy[at] = (copy[at] as number) ^ (1 << (at % 8));
    writeFileSync(log, copy);
    const before = digest(log);
    const plan = await store.repair('s');
    expect(digest(log)).toBe(before);
    expect([at, plan.applied, kinds(plan.actions)]).toEqual([at, false, ['mended']]);
    const done = await store.repair('s', { apply: true });
    expect([at, done.applied, done.after.ok, done.after.losses]).toEqual([at, true, true, undefined]);
    expect(readFileSync(log).subarray(0, bytes.length)).toEqual(bytes);
    const kept = readdirSync(join(root, 'sessions', 's', 'quarantine'));
    expect(kept.some((name) => digest(join(root, 'sessions', 's', 'quarantine', name)) === before)).toBe(
      true,
    );
    expect((await linesNow()).at(-1)).toContain('"type":"session.repaired"');
    await replaceLog(bytes);
  }
});

test('a last event with a wrong hash is one problem, not also a missing end', async () => {
  const copy = Buffer.from(bytes);
  copy[bytes.length - 30] = (copy[bytes.length - 30] as number) ^ 1;
  writeFileSync(log, copy);
  expect((await store.verify('s')).problems).toMatchObject([{ kind: 'hash' }]);
});

test('a byte that turned into a newline, and one more newline, are put right too', async () => {
  const copy = Buffer.from(bytes);
  // An asterisk is one bit away from a newline.
  copy[bytes.indexOf(' * ') + 1] = 10;
  writeFileSync(log, copy);
  expect(kinds((await store.repair('s')).actions)).toEqual(['mended']);
  writeFileSync(
    log,
    Buffer.concat([bytes.subarray(0, offsetOf(5)), Buffer.from('\n'), bytes.subarray(offsetOf(5))]),
  );
  const done = await store.repair('s', { apply: true });
  expect(kinds(done.actions)).toEqual(['removed']);
  expect((await linesNow()).slice(0, lines.length)).toEqual(lines);
  await expectHealthy();
});

test('what cannot be brought back is marked, put on record once, and stays known', async () => {
  const copy = Buffer.from(bytes);
  // The last hash of what is lost is still there: what follows stays chained.
  copy.fill(0, offsetOf(4) + 5, offsetOf(7) - 80);
  writeFileSync(log, copy);
  await expect(store.open('s')).rejects.toMatchObject({ name: 'DamagedRecord' });
  const plan = await store.repair('s');
  expect(plan.actions).toMatchObject([{ kind: 'lost', message: 'events 4 to 6 are lost', seq: 4 }]);
  expect(readFileSync(log)).toEqual(copy);
  await store.repair('s', { apply: true });
  await expectHealthy();
  const { losses } = await store.verify('s');
  expect(losses).toMatchObject([{ kind: 'lost', message: 'events 4 to 6 are lost', seq: 4 }]);
  // It is still said to whoever looks, and to a listing it is no reason against opening.
  expect((await (await store.reader('s')).view()).problems).toMatchObject([{ kind: 'lost' }]);
  expect((await collect(store.list()))[0]?.problem).toBeUndefined();
  // Whole lines stay as they were, and are still chained: a flip behind the mark is found.
  const now = await linesNow();
  expect(now.slice(0, 4)).toEqual(lines.slice(0, 4));
  expect(now.slice(4, lines.length - 3)).toEqual(lines.slice(7));
  const mended = readFileSync(log);
  const at = mended.indexOf('"seq":7') + 12;
  const flipped = Buffer.from(mended);
  flipped[at] = (flipped[at] as number) ^ 1;
  writeFileSync(log, flipped);
  expect((await store.verify('s')).ok).toBe(false);
  // A mark that was changed is damage again.
  writeFileSync(log, mended.toString('utf8').replace('"lost":{"from":4,"to":6', '"lost":{"from":4,"to":5'));
  expect((await store.verify('s')).ok).toBe(false);
  writeFileSync(log, mended);
  expect(await store.verify('s')).toMatchObject({ ok: true });
});

test('a bundle gives back lines and values; nothing is missing then', async () => {
  const copy = Buffer.from(bytes);
  copy.fill(0, offsetOf(4) + 5, offsetOf(7) - 20);
  writeFileSync(log, copy);
  const blobs = readdirSync(join(root, 'blobs'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.zst'),
  );
  expect(blobs.length).toBeGreaterThan(1);
  for (const [i, name] of blobs.entries()) {
    if (i % 2 === 0) rmSync(join(root, 'blobs', name));
    else writeFileSync(join(root, 'blobs', name), 'nothing of the kind');
  }
  const done = await store.repair('s', { apply: true, from: source() });
  expect(kinds(done.actions)).toEqual(['restored', ...blobs.map(() => 'restored')]);
  expect(done.after).toMatchObject({ ok: true });
  expect(done.after.losses).toBeUndefined();
  expect((await linesNow()).slice(0, lines.length)).toEqual(lines);
  await expectHealthy();
});

test('without a bundle a lost value is put on record, and a damaged one no longer stands in the way of the same value', async () => {
  const [name = ''] = readdirSync(join(root, 'blobs'), { recursive: true, encoding: 'utf8' }).filter((one) =>
    one.endsWith('.zst'),
  );
  writeFileSync(join(root, 'blobs', name), 'nothing of the kind');
  const done = await store.repair('s', { apply: true });
  expect(done.actions).toMatchObject([{ kind: 'lost' }]);
  expect(done.after).toMatchObject({ ok: true, losses: [{ kind: 'blob-missing' }] });
  const writer = await store.open('s');
  new Run(writer).cycles(1).tool({ text: 'long '.repeat(4000) });
  await writer.close();
  expect((await store.verify('s')).losses).toBeUndefined();
});

test('a bundle brings back a log that lost its end, its beginning, or everything', async () => {
  for (const spoil of [bytes.subarray(0, offsetOf(9)), bytes.subarray(offsetOf(5)), Buffer.alloc(0)]) {
    await replaceLog(spoil);
    const done = await store.repair('s', { apply: true, from: source() });
    expect(kinds(done.actions)).toEqual(['restored']);
    expect((await linesNow()).slice(0, lines.length)).toEqual(lines);
    await replaceLog(bytes);
  }
});

test('a log that lost its end is taken as it is, and the loss is told', async () => {
  writeFileSync(log, bytes.subarray(0, offsetOf(9)));
  await expect(store.open('s')).rejects.toMatchObject({ name: 'DamagedRecord' });
  const done = await store.repair('s', { apply: true });
  expect(kinds(done.actions)).toEqual(['truncated']);
  await expectHealthy();
});

test('sealed segments: a damaged frame is lost or comes back, a missing segment too', async () => {
  rmSync(root, { recursive: true });
  await make(1500, 12);
  const logs = join(root, 'sessions', 's', 'log');
  const sealed = readdirSync(logs).filter((name) => name.endsWith('.zst'));
  expect(sealed.length).toBeGreaterThan(3);
  const path = join(logs, sealed[2] as string);
  const frame = readFileSync(path);
  const fresh = join(dir.path, 'fresh');
  cpSync(root, fresh, { recursive: true });
  for (const spoil of [
    () => writeFileSync(path, Buffer.from(frame.map((byte, i) => (i === 30 ? byte ^ 4 : byte)))),
    () => rmSync(path),
  ]) {
    for (const from of [true, false]) {
      rmSync(root, { recursive: true });
      cpSync(fresh, root, { recursive: true });
      spoil();
      expect((await store.verify('s')).ok).toBe(false);
      const done = await store.repair('s', { apply: true, ...(from ? { from: source() } : {}) });
      expect(done.after).toMatchObject({ ok: true, problems: [] });
      expect(done.after.losses === undefined).toBe(from);
      if (from) expect((await linesNow()).slice(0, lines.length)).toEqual(lines);
      await store.close();
      store = fileStore({ root });
      const writer = await store.open('s');
      await writer.close();
      expect(await store.verify('s')).toMatchObject({ ok: true });
    }
  }
});

test('a line that was used twice is moved out; the header is written anew from the first event', async () => {
  writeFileSync(
    log,
    Buffer.concat([
      bytes.subarray(0, offsetOf(6)),
      Buffer.from(`${lines[5]}\n`),
      bytes.subarray(offsetOf(6)),
    ]),
  );
  writeFileSync(join(root, 'sessions', 's', 'head.json'), '{');
  const done = await store.repair('s', { apply: true });
  expect(kinds(done.actions).sort()).toEqual(['head', 'removed']);
  expect((await linesNow()).slice(0, lines.length)).toEqual(lines);
  await expectHealthy();
});

test('a session that a process writes, or with nothing wrong, is left alone', async () => {
  const before = digest(log);
  expect(await store.repair('s')).toMatchObject({ problems: [], actions: [], applied: false });
  const writer = await store.open('s');
  await expect(store.repair('s')).rejects.toMatchObject({ name: 'Conflict' });
  await expect(store.repair('s', { apply: true })).rejects.toMatchObject({ name: 'Conflict' });
  await writer.close();
  expect(await store.repair('s', { apply: true })).toMatchObject({ applied: false });
  expect(digest(log)).toBe(before);
  expect(readdirSync(join(root, 'sessions'))).toEqual(['s']);
});

test('a line that can be put right is, though the one after or before it is lost', async () => {
  const spoil = (copy: Buffer, line: number): void =>
    void copy.fill(0, offsetOf(line) + 5, offsetOf(line + 1) - 80);
  const flip = (copy: Buffer, line: number): void => {
    const at = offsetOf(line) + 60;
    copy[at] = (copy[at] as number) ^ 2;
  };
  for (const [flipped, lost] of [
    [[4], [5, 6]],
    [[4, 5], [6]],
    [[6], [5]],
    [
      [4, 7],
      [5, 6],
    ],
    // The next to last ones of the log: nothing whole follows.
    [[lines.length - 2], [lines.length - 1]],
  ] as const) {
    const copy = Buffer.from(bytes);
    for (const line of flipped) flip(copy, line);
    for (const line of lost) spoil(copy, line);
    await replaceLog(copy);
    const { after } = await store.repair('s', { apply: true });
    expect(after.problems, `${flipped} and ${lost}`).toEqual([]);
    const now = await linesNow();
    const gone = new Set<number>(lost);
    expect(now.slice(0, lines.length - gone.size), `${flipped} and ${lost}`).toEqual(
      lines.filter((_, line) => !gone.has(line)),
    );
    await expectHealthy();
  }
});

test('what a repair of a parent has put on record is known in its forks', async () => {
  await (await store.fork('s', 12, header('f'))).close();
  const copy = readFileSync(log);
  copy.fill(0, offsetOf(4) + 5, offsetOf(7) - 80);
  writeFileSync(log, copy);
  expect((await store.verify('f')).ok).toBe(false);
  await expect(store.open('f')).rejects.toMatchObject({
    name: 'DamagedRecord',
    data: { problems: [{ kind: 'parse', offset: offsetOf(4) }] },
  });
  await expect(store.repair('f', { apply: true })).rejects.toMatchObject({ name: 'DamagedRecord' });
  await store.repair('s', { apply: true });
  expect(await store.verify('f')).toMatchObject({
    ok: true,
    problems: [],
    losses: [{ kind: 'lost', seq: 4 }],
  });
  // It stands on the parent's record, behind what the fork shares: to be handed on, the fork has to say it itself.
  await expect(collect(exportBundle(store, 'f'))).rejects.toMatchObject({
    name: 'DamagedRecord',
    message: expect.stringContaining('chassis repair f'),
  });
  expect(await store.repair('f', { apply: true })).toMatchObject({
    problems: [],
    actions: [{ kind: 'lost', seq: 4, message: expect.stringContaining('put on record here') }],
    applied: true,
  });
  expect(await store.repair('f', { apply: true })).toMatchObject({ actions: [], applied: false });
  const out = await collect(exportBundle(store, 'f'));
  const other = fileStore({ root: join(dir.path, 'other') });
  await importBundle(
    other,
    (async function* () {
      yield* out;
    })(),
  );
  expect(await other.verify('f')).toMatchObject({ ok: true, losses: [{ kind: 'lost', seq: 4 }] });
  await other.close();
  await (await store.open('f')).close();
  // A fork of a record with losses that are known is one, too.
  await (await store.fork('s', 14, header('g'))).close();
  expect(await store.verify('g')).toMatchObject({ ok: true, losses: [{ kind: 'lost' }] });
});

test('a record with losses that are known goes out, in, and out again as it is; with others it does not', async () => {
  const copy = Buffer.from(bytes);
  copy.fill(0, offsetOf(4) + 5, offsetOf(7) - 80);
  writeFileSync(log, copy);
  // One value is gone too, and two lines without a trace.
  const [name = ''] = readdirSync(join(root, 'blobs'), { recursive: true, encoding: 'utf8' }).filter((one) =>
    one.endsWith('.zst'),
  );
  rmSync(join(root, 'blobs', name));
  await expect(collect(exportBundle(store, 's'))).rejects.toMatchObject({ name: 'DamagedRecord' });
  await store.repair('s', { apply: true });
  const cut = readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => !/"seq":1[23],/.test(line));
  writeFileSync(log, cut.join('\n'));
  await expect(collect(exportBundle(store, 's'))).rejects.toMatchObject({
    name: 'DamagedRecord',
    data: { problems: [{ kind: 'gap', seq: 12 }] },
  });
  const { after } = await store.repair('s', { apply: true });
  expect(after).toMatchObject({
    ok: true,
    losses: [{ kind: 'lost' }, { kind: 'gap' }, { kind: 'blob-missing' }],
  });
  const out = await collect(exportBundle(store, 's'));
  const again = async function* (): AsyncGenerator<string> {
    yield* out;
  };
  const other = fileStore({ root: join(dir.path, 'other') });
  expect(await importBundle(other, again())).toEqual({ session: 's', fresh: true });
  expect(await importBundle(other, again())).toEqual({ session: 's', fresh: false });
  const moved = await other.verify('s');
  expect(moved).toMatchObject({ ok: true, events: after.events, head_hash: after.head_hash });
  expect(kinds(moved.losses ?? []).sort()).toEqual(kinds(after.losses ?? []).sort());
  expect(await collect(exportBundle(other, 's'))).toEqual(out);
  expect(await verifyBundle(again())).toMatchObject({ ok: true, losses: [{}, {}, {}] });
  await other.close();
  // In memory, as commands look at a bundle: numbers stay, and what is lost is said.
  const memory = memoryStore();
  await importBundle(memory, again());
  const reader = await memory.reader('s');
  const [, last = ''] = await collect(reader.lines({ from: 11, to: 14 }));
  expect(JSON.parse(last)).toMatchObject({ seq: 14 });
  const view = await reader.view();
  expect(view.lastSeq).toBe((await (await other.reader('s')).view()).lastSeq);
  expect(kinds(view.problems).sort()).toEqual(kinds(after.losses ?? []).sort());
  // Without the event that puts it on record it is damage.
  const bare = out.filter((line) => !line.includes('"session.repaired"'));
  const unknown = await verifyBundle(
    (async function* () {
      yield* bare;
    })(),
  );
  expect(unknown.ok).toBe(false);
});
