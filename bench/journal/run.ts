/**
 * The journal against its floors, side by side in one run. A cycle is one model call and one tool call with a 2 kB result,
 * as an agent records them: intent, dispatch, end, with message deltas. Request digests count to the agent's own work.
 *
 * CPU time, not wall time; each figure is the best of several rounds that alternate with its floor.
 */
import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { closeSync, fdatasync, mkdtempSync, openSync, rmSync, write, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fileStore, type Store } from '../../packages/journal/src/index.ts';
import { bareWriter, bytesBelow, cpu, header, record, report } from './cycle.ts';
import { growthOfBytes, growthOfTime, sizeOfSealed } from './growth.ts';

const root = mkdtempSync(join(tmpdir(), 'chassis-bench-'));
async function recording(): Promise<void> {
  const cycles = 3000;
  // Sealing works in the background; it is measured apart.
  const store = fileStore({ root: join(root, 'recording'), segmentBytes: 1e12 });
  const best = {
    ours: Number.POSITIVE_INFINITY,
    bare: Number.POSITIVE_INFINITY,
    floor: Number.POSITIVE_INFINITY,
  };
  let events: unknown[] = [];
  for (let round = 0; round < 8; round++) {
    const writer = await store.create(header(root));
    const ours = await cpu(async () => {
      await record(writer, cycles);
      await writer.barrier();
    });
    await writer.close();
    if (events.length === 0) {
      const lines = await Array.fromAsync((await store.reader(writer.id)).lines());
      events = lines.map((line) => JSON.parse(line) as unknown);
    }
    await store.remove(writer.id);
    const bare = await cpu(() => record(bareWriter(), cycles));
    const fd = openSync(join(root, 'floor.jsonl'), 'w');
    const floor = await cpu(() => {
      for (const event of events) writeSync(fd, `${JSON.stringify(event)}\n`);
    });
    closeSync(fd);
    best.ours = Math.min(best.ours, ours / cycles);
    best.bare = Math.min(best.bare, bare / cycles);
    best.floor = Math.min(best.floor, floor / cycles);
  }
  await store.close();
  const ours = best.ours - best.bare;
  report('the agent itself, us of CPU per cycle', best.bare.toFixed(1));
  report(
    'recording, us of CPU per cycle',
    ours.toFixed(1),
    best.floor.toFixed(1),
    (ours / best.floor).toFixed(2),
  );
}

async function barriers(store: Store): Promise<void> {
  const writer = await store.create(header(root));
  const fd = openSync(join(root, 'sync.bin'), 'w');
  const line = Buffer.alloc(400, 'x');
  const ours: number[] = [];
  const floor: number[] = [];
  for (let i = 0; i < 400; i++) {
    let start = performance.now();
    writer.append('note.added', { text: 'x'.repeat(200), author: 'bench' });
    await writer.barrier();
    ours.push(performance.now() - start);
    start = performance.now();
    await promisify(write)(fd, line, 0, line.length, i * line.length);
    await promisify(fdatasync)(fd);
    floor.push(performance.now() - start);
  }
  closeSync(fd);
  await writer.close();
  report(
    'barrier, ms (median)',
    median(ours).toFixed(3),
    median(floor).toFixed(3),
    (median(ours) / median(floor)).toFixed(2),
  );
}

const EVENTS_READ = 100_000;
const EVENTS_A_CYCLE = 6;
/** Rows of each result, so that an event has 2 kB on average. */
const ROWS_READ = 46;

/** Events as they come from the log, 2 kB each; the floor has them in memory. */
async function reading(store: Store): Promise<void> {
  const writer = await store.create(header(root));
  await record(writer, EVENTS_READ / EVENTS_A_CYCLE, ROWS_READ);
  await writer.close();
  const { id } = writer;
  // In one piece: a hundred thousand buffers would make every garbage collection of ours dear.
  const lines = await Array.fromAsync((await store.reader(id)).lines(), (line) => Buffer.from(line));
  const ends: number[] = [];
  for (const line of lines) ends.push((ends.at(-1) ?? 0) + line.length);
  const log = Buffer.concat(lines);
  lines.length = 0;
  let view = Number.POSITIVE_INFINITY;
  let check = view;
  let floor = view;
  for (let round = 0; round < 5; round++) {
    floor = Math.min(
      floor,
      await cpu(() => {
        let from = 0;
        for (const to of ends) {
          const line = log.subarray(from, to);
          hash('sha256', line);
          JSON.parse(line.toString('utf8'));
          from = to;
        }
      }),
    );
    view = Math.min(view, await cpu(async () => (await store.reader(id)).view(undefined, { whole: true })));
    check = Math.min(check, await cpu(async () => store.verify(id)));
  }
  const rate = (time: number): string => `${((ends.length / time) * 1e3).toFixed(0)} k/s`;
  report('read, check and fold, events per CPU second', rate(view), rate(floor), (floor / view).toFixed(2));
  report('verify', rate(check), rate(floor), (floor / check).toFixed(2));
  await forks(store, id);
}

/** Beside it what one small file takes that is made durable with its name. */
async function forks(store: Store, id: string): Promise<void> {
  const ours: number[] = [];
  const floor: number[] = [];
  let bytes = 0;
  for (let i = 0; i < 9; i++) {
    let start = performance.now();
    const fork = await store.fork(id, 20_000, header(root));
    ours.push(performance.now() - start);
    await fork.close();
    bytes = bytesBelow(join(root, 'store', 'sessions', fork.id));
    await store.remove(fork.id);
    start = performance.now();
    await durableFile(join(root, `file-${i}`), Buffer.alloc(1000, 'x'));
    floor.push(performance.now() - start);
  }
  report(
    'fork at event 20,000, ms (median of 9)',
    median(ours).toFixed(1),
    median(floor).toFixed(1),
    (median(ours) / median(floor)).toFixed(2),
  );
  report('fork, bytes', String(bytes), '4096');
}

async function durableFile(path: string, bytes: Buffer): Promise<void> {
  const file = await open(path, 'w');
  await file.write(bytes);
  await file.datasync();
  await file.close();
  const folder = await open(root, 'r');
  await folder.sync();
  await folder.close();
}

const median = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[times.length >> 1] as number;

try {
  const store = fileStore({ root: join(root, 'store') });
  report('', 'journal', 'floor', 'ratio');
  await recording();
  await barriers(store);
  await growthOfTime(root);
  await growthOfBytes(root);
  await sizeOfSealed(root);
  await reading(store);
  await store.close();
} finally {
  rmSync(root, { recursive: true, force: true });
}
// Following, moving and listing: in a process of their own.
const moving = spawnSync(process.execPath, [join(import.meta.dirname, 'moving.ts')], { stdio: 'inherit' });
if (moving.status !== 0) process.exitCode = 1;
