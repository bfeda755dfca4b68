/** Random access: what a view says must not depend on whether a snapshot was near, whole, or there at all. */
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type FileStoreOptions, fileStore, isLoss, type SessionView, type Store } from '../src/index.ts';
import { collect, folder, header, Run } from './build.ts';

const SMALL = { segmentBytes: 6000, snapshotEvents: 20 };

function open(root: string, options: Partial<FileStoreOptions> = SMALL): Store {
  return fileStore({ root, ...options });
}

/** Everything that a view says, as plain data. */
function told(view: SessionView): unknown {
  const { turns, steps, values, approvals, notes, lastSeq, outcome, header: head } = view;
  const requests = steps.filter(({ kind }) => kind === 'model').map(({ number }) => view.request(number));
  return JSON.parse(
    JSON.stringify({ turns, steps, values, approvals, notes, lastSeq, outcome, head, requests }),
  ) as unknown;
}

async function record(root: string, cycles: number, options?: Partial<FileStoreOptions>): Promise<string> {
  const store = open(root, options);
  const writer = await store.create(header());
  const run = new Run(writer);
  run.begin();
  for (let cycle = 0; cycle < cycles; cycle++) {
    run.cycles(1);
    await writer.barrier();
  }
  writer.append('note.added', { text: 'seen', author: 'me' });
  run.end();
  await writer.close();
  await store.close();
  return writer.id;
}

/** The same session without what is derived. */
async function folded(root: string, id: string, to?: number): Promise<unknown> {
  const file = join(root, 'sessions', id, 'snapshots');
  const aside = `${file}.aside`;
  if (existsSync(file)) copyFileSync(file, aside);
  rmSync(file, { force: true });
  const store = open(root);
  const view = await (await store.reader(id)).view(to);
  expect(view.marks).toBeUndefined();
  const all = told(view);
  await store.close();
  if (existsSync(aside)) copyFileSync(aside, file);
  rmSync(aside, { force: true });
  return all;
}

test('the state at any event is the same from the nearest snapshot as from the beginning', async () => {
  using here = folder();
  const id = await record(here.path, 40);
  const store = open(here.path);
  const reader = await store.reader(id);
  const { lastSeq } = await reader.view();
  const log = readdirSync(join(here.path, 'sessions', id, 'log'));
  expect(log.some((name) => name.endsWith('.zst'))).toBe(true);
  for (let seq = 0; seq <= lastSeq; seq += 11) {
    const view = await reader.view(seq);
    expect(view.marks !== undefined || seq < 20).toBe(true);
    expect(told(view), `at event ${seq}`).toEqual(await folded(here.path, id, seq));
  }
  expect(told(await reader.view())).toEqual(await folded(here.path, id));
  expect((await store.verify(id)).problems).toEqual([]);
  await store.close();
});

test('snapshots are taken all along, however long a session gets', async () => {
  using here = folder();
  const id = await record(here.path, 150, { snapshotEvents: 20 });
  const store = open(here.path);
  const events = await collect((await store.reader(id)).events());
  const taken = events.filter(({ type }) => type === 'snapshot.taken').map(({ seq }) => seq);
  expect(taken.length).toBe(Math.floor(events.length / 20));
  expect(statSync(join(here.path, 'sessions', id, 'snapshots')).size).toBeLessThan(taken.length * 900);
  await store.close();
});

test('a snapshot that could not be written is made up for by the next one', async () => {
  using here = folder();
  const store = open(here.path, { snapshotEvents: 50 });
  const writer = await store.create(header());
  const run = new Run(writer);
  run.begin();
  run.cycles(50);
  const { id } = writer;
  const snapshots = join(here.path, 'sessions', id, 'snapshots');
  const before = statSync(snapshots).size;
  await writer.close();
  const again = await store.open(id);
  // A link to itself in its place can be neither opened nor written.
  renameSync(snapshots, `${snapshots}.aside`);
  symlinkSync(snapshots, snapshots);
  new Run(again).cycles(20);
  rmSync(snapshots, { recursive: true });
  renameSync(`${snapshots}.aside`, snapshots);
  expect(statSync(snapshots).size).toBe(before);
  new Run(again).cycles(20);
  expect(statSync(snapshots).size).toBeGreaterThan(before);
  const live = told(again.view);
  await again.close();
  expect(told(await (await store.reader(id)).view())).toEqual(live);
  expect((await store.verify(id)).problems).toEqual([]);
  await store.close();
});

test('a session that goes on from a snapshot is the one that was never closed', async () => {
  using here = folder();
  const id = await record(here.path, 30);
  const store = open(here.path);
  for (let time = 0; time < 3; time++) {
    const writer = await store.open(id);
    expect(writer.view.marks).toBeDefined();
    const turn = writer.view.turns.length + 1;
    writer.append('input.received', { turn, content: `again ${turn}` });
    const run = new Run(writer);
    run.cycles(9);
    writer.append('session.ended', { outcome: 'ok', turn, answer: `${turn}` });
    const live = told(writer.view);
    await writer.close();
    expect(told(await (await store.reader(id)).view())).toEqual(live);
    expect(await folded(here.path, id)).toEqual(live);
  }
  const { ok, problems } = await store.verify(id);
  expect(problems).toEqual([]);
  expect(ok).toBe(true);
  await store.close();
});

test('a fork shares the snapshots of its parents, and so does a fork of it', async () => {
  using here = folder();
  const id = await record(here.path, 40);
  const store = open(here.path);
  const events = (await (await store.reader(id)).view()).lastSeq;
  let parent = id;
  for (const at of [events - 60, events - 30, events - 29]) {
    const fork = await store.fork(parent, at, header());
    expect(fork.view.marks).toBeDefined();
    expect(fork.view.steps.length).toBeGreaterThan(50);
    const run = new Run(fork);
    run.cycles(8);
    const live = told(fork.view);
    await fork.close();
    const view = await (await store.reader(fork.id)).view();
    expect(told(view)).toEqual(live);
    // The parent's part by its snapshots or by the log alone: the same.
    rmSync(join(here.path, 'sessions', fork.id, 'snapshots'), { force: true });
    expect(told(await (await store.reader(fork.id)).view())).toEqual(live);
    expect((await store.verify(fork.id)).problems).toEqual([]);
    parent = fork.id;
  }
  const size = (file: string): number => statSync(join(here.path, 'sessions', parent, file)).size;
  expect(size('head.json')).toBeLessThan(4096);
  await store.close();
});

test('a damaged, cut or foreign file of snapshots costs nothing but time, and is told', async () => {
  using here = folder();
  const id = await record(here.path, 40);
  const file = join(here.path, 'sessions', id, 'snapshots');
  const whole = readFileSync(file);
  const expected = await folded(here.path, id);
  const told1 = async (): Promise<{ all: unknown; kinds: string[]; lost: boolean }> => {
    const store = open(here.path);
    const view = await (await store.reader(id)).view();
    const all = told(view);
    await store.close();
    return { all, kinds: view.problems.map(({ kind }) => kind), lost: view.problems.some(isLoss) };
  };
  for (let at = 0; at < whole.length; at += 397) {
    const damaged = Buffer.from(whole);
    damaged.writeUInt8(damaged.readUInt8(at) ^ 0x40, at);
    writeFileSync(file, damaged);
    expect(await told1(), `byte ${at}`).toEqual({ all: expected, kinds: ['snapshot'], lost: false });
  }
  for (let length = 0; length < whole.length; length += 811) {
    writeFileSync(file, whole.subarray(0, length));
    expect((await told1()).all).toEqual(expected);
  }
  const other = await record(here.path, 40);
  copyFileSync(join(here.path, 'sessions', other, 'snapshots'), file);
  const foreign = await told1();
  expect(foreign.all).toEqual(expected);
  expect(new Set(foreign.kinds)).toEqual(new Set(['snapshot']));

  // The next writer goes on behind the last one that is sound.
  writeFileSync(file, whole);
  truncateSync(file, whole.length - 5);
  const store = open(here.path);
  const writer = await store.open(id);
  writer.append('input.received', { turn: 2, content: 'on' });
  new Run(writer).cycles(20);
  const live = told(writer.view);
  await writer.close();
  expect(told(await (await store.reader(id)).view())).toEqual(live);
  expect(await folded(here.path, id)).toEqual(live);
  await store.close();
});

test('a fork does not read pages of its parent that were written anew', async () => {
  using here = folder();
  const id = await record(here.path, 40);
  const store = open(here.path);
  const last = (await (await store.reader(id)).view()).lastSeq;
  const fork = await store.fork(id, last, header());
  fork.append('input.received', { turn: 2, content: 'more' });
  new Run(fork).cycles(8);
  const live = told(fork.view);
  await fork.close();
  await store.close();
  const file = join(here.path, 'sessions', id, 'snapshots');
  const bytes = readFileSync(file);
  bytes.writeUInt8(bytes.readUInt8(60) ^ 1, 60);
  writeFileSync(file, bytes);
  const again = open(here.path);
  const writer = await again.open(id);
  writer.append('input.received', { turn: 2, content: 'other' });
  new Run(writer).cycles(30);
  await writer.close();
  expect(told(await (await again.reader(fork.id)).view())).toEqual(live);
  await again.close();
});

test('damage before a snapshot is told when it is met, and what is around it is shown', async () => {
  using here = folder();
  const id = await record(here.path, 40, { segmentBytes: 1e9, snapshotEvents: 20 });
  const [name = ''] = readdirSync(join(here.path, 'sessions', id, 'log')).filter((one) =>
    one.endsWith('.jsonl'),
  );
  const path = join(here.path, 'sessions', id, 'log', name);
  const lines = readFileSync(path, 'latin1').split('\n');
  const at = lines.findIndex((line) => line.includes('"step":4') && line.includes('step.finished'));
  const offset = lines.slice(0, at).join('\n').length + 1;
  const bytes = readFileSync(path);
  bytes.write('#', offset + 150);
  writeFileSync(path, bytes);
  const store = open(here.path);
  const view = await (await store.reader(id)).view();
  expect(view.problems).toEqual([]);
  expect(view.step(5)?.status).toBe('ok');
  expect(view.step(4)?.status).toBe('dispatched');
  expect(view.problems).toMatchObject([{ kind: 'hash', file: name, offset, seq: at }]);
  expect((await store.verify(id)).ok).toBe(false);
  await store.close();
});

test('a short session has neither snapshots nor places', async () => {
  using here = folder();
  const id = await record(here.path, 5, {});
  expect(readdirSync(join(here.path, 'sessions', id)).sort()).toEqual(['head.json', 'log']);
  expect(readdirSync(join(here.path, 'sessions', id, 'log'))).toHaveLength(1);
});
