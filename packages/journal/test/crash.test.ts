import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fileStore } from '../src/index.ts';
import { collect, folder, header, Run } from './build.ts';
import { type Bundled, bundled } from './bundled.ts';

const FULL = process.env.CHASSIS_FULL === '1';
/** The full shares take minutes, more on a busy machine. */
const FULL_TIMEOUT = FULL ? 20 * 60_000 : 180_000;
/** Kills; in the full share 2,000 with those of packages/agent. */
const KILLS = FULL ? 1600 : 24;
/** A session of its own now and then: a long one takes long to be looked through. */
const KILLS_OF_ONE = 16;
const seed = Number(process.env.CHASSIS_SEED ?? Math.floor(Math.random() * 2 ** 31));

let child: Bundled;
beforeAll(async () => {
  using warm = folder();
  child = await bundled(join(import.meta.dirname, 'writer-child.ts'), [warm.path, 's', '1', '3']);
});
afterAll(() => child[Symbol.dispose]());

interface Writing {
  readonly process: ChildProcess;
  /** The last number that it said was on disk; −1 before any. */
  acknowledged(): number;
  /** Resolves when it runs, and when its session is open. */
  readonly runs: Promise<void>;
  readonly opened: Promise<void>;
}

function startWriter(root: string, id: string, random: number): Writing {
  const writing = spawn(process.execPath, [...child.args, root, id, String(random)], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: child.env,
  });
  let text = '';
  const said = (pattern: RegExp): Promise<void> =>
    new Promise((resolve, reject) => {
      writing.stdout.on('data', () => pattern.test(text) && resolve());
      writing.once('exit', () => reject(new Error(`the writer ended: ${text}`)));
    });
  writing.stdout.on('data', (piece: Buffer) => {
    text += piece.toString();
  });
  const [runs, opened] = [said(/^runs\n/), said(/\d\n/)];
  // Nobody waits for both.
  for (const promise of [runs, opened]) promise.catch(() => undefined);
  return {
    process: writing,
    runs,
    opened,
    acknowledged: () => Number(/(\d+)\n[^\n]*$/.exec(text)?.[1] ?? -1),
  };
}

async function kill({ process: writing }: Writing): Promise<void> {
  writing.kill('SIGKILL');
  if (writing.exitCode === null && writing.signalCode === null) await once(writing, 'exit');
}

/** A small linear congruential generator: the same seed, the same numbers. */
function generator(start: number): () => number {
  let state = start & 0x7fffffff;
  return () => {
    state = (state * 1103515245 + 12345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
}

test(`killed at any moment ${KILLS} times, a session loses nothing that was acknowledged and goes on clean`, {
  timeout: FULL_TIMEOUT,
}, async () => {
  using dir = folder();
  let left = KILLS;
  const lanes = Array.from({ length: 2 }, async (_, lane) => {
    const random = generator(seed + lane);
    for (let n = 0; left > 0; n++) {
      const id = `s${lane}-${n}`;
      let last = -1;
      for (let round = 0; round < KILLS_OF_ONE && left-- > 0; round++) {
        const writing = startWriter(dir.path, id, Math.floor(random() * 2 ** 31));
        // Seeded, so that a failure can be looked at again; the moment itself belongs to the system. Once it has been made, a
        // session is also killed while it is being opened.
        await (last < 0 ? writing.opened : writing.runs);
        await new Promise((resolve) => setTimeout(resolve, random() * 60));
        await kill(writing);
        last = await judge(dir.path, id, Math.max(writing.acknowledged(), last), `${id}, seed ${seed}`);
      }
      rmSync(join(dir.path, 'sessions', id), { recursive: true });
    }
  });
  await Promise.all(lanes);
});

/** The session holds what was acknowledged, goes on, and is whole; answers the number of its last event. */
async function judge(root: string, id: string, acknowledged: number, what: string): Promise<number> {
  const store = fileStore({ root, segmentBytes: 6000 });
  const writer = await store.open(id);
  expect(writer.view.lastSeq, what).toBeGreaterThanOrEqual(acknowledged);
  await writer.close();
  const { ok, problems, events } = await store.verify(id);
  expect({ ok, problems }, what).toEqual({ ok: true, problems: [] });
  let seq = 0;
  for await (const line of (await store.reader(id)).lines())
    expect((JSON.parse(line) as { seq: number }).seq, what).toBe(seq++);
  await store.close();
  return events - 1;
}

test('of two processes one writes; the other is told who, and takes over when that one is dead', async () => {
  using dir = folder();
  const writing = startWriter(dir.path, 's', 1);
  await writing.opened;
  const store = fileStore({ root: dir.path });
  await expect(store.open('s')).rejects.toMatchObject({
    name: 'Conflict',
    message: expect.stringContaining(`process ${writing.process.pid}`),
  });
  expect((await collect(store.list()))[0]?.outcome).toBe('running');
  expect((await store.verify('s')).problems).toEqual([]);
  await kill(writing);
  expect((await collect(store.list()))[0]?.outcome).toBe('interrupted');
  const writer = await store.open('s');
  writer.append('note.added', { text: 'taken over', author: 'me' });
  await writer.close();
  expect((await store.verify('s')).ok).toBe(true);
  await store.close();
});

test('a writer that was only stopped while it was thought dead does no harm when it goes on', async () => {
  using dir = folder();
  const writing = startWriter(dir.path, 's', 3);
  await writing.opened;
  writing.process.kill('SIGSTOP');
  // As if the process number had been given to somebody else: the lock is not honoured.
  const path = join(dir.path, 'sessions', 's', 'lock');
  const holder = JSON.parse(readFileSync(path, 'utf8'));
  const store = fileStore({ root: dir.path });
  writeFileSync(`${path}.new`, JSON.stringify({ ...holder, started: '1' }));
  cpSync(`${path}.new`, path);
  const writer = await store.open('s');
  writer.append('note.added', { text: 'mine now', author: 'me' });
  await writer.barrier();
  writing.process.kill('SIGCONT');
  await once(writing.process, 'exit');
  await writer.close();
  expect((await store.verify('s')).problems.filter(({ kind }) => kind !== 'stale')).toEqual([]);
  const again = await store.open('s');
  expect(again.view.notes.at(-1)?.text).toBe('mine now');
  await again.close();
  expect((await store.verify('s')).problems).toEqual([]);
  await store.close();
});

/** One small session, as bytes, to be damaged again and again. */
async function sample(root: string): Promise<{ log: string; bytes: Buffer; lines: string[] }> {
  const store = fileStore({ root });
  const writer = await store.create(header('s'));
  const run = new Run(writer);
  run.begin('é \u2028 \ud83d "quoted"');
  run.cycles(1);
  await writer.close();
  const lines = await collect((await store.reader('s')).lines());
  await store.close();
  const log = join(root, 'sessions', 's', 'log', `${'0'.repeat(20)}.jsonl`);
  return { log, bytes: readFileSync(log), lines };
}

test('cut at every byte, a log keeps every whole event before the cut and takes new ones cleanly', {
  timeout: FULL_TIMEOUT,
}, async () => {
  using dir = folder();
  const { bytes, lines } = await sample(join(dir.path, 'a'));
  const ends = [...bytes.entries()].filter(([, byte]) => byte === 10).map(([i]) => i + 1);
  const root = join(dir.path, 'b');
  cpSync(join(dir.path, 'a'), root, { recursive: true });
  const log = join(root, 'sessions', 's', 'log', `${'0'.repeat(20)}.jsonl`);
  for (let cut = ends[0] as number; cut < bytes.length; cut += FULL ? 1 : 37) {
    writeFileSync(log, bytes.subarray(0, cut));
    const store = fileStore({ root });
    const whole = ends.filter((end) => end <= cut).length;
    expect(await collect((await store.reader('s')).lines())).toEqual(lines.slice(0, whole));
    // Going on differs near the ends of lines; in the middle of one, every place is like the next.
    const near = ends.some((end) => Math.abs(end - cut) < 4);
    if (FULL && !near && cut % 5 !== 0) {
      await store.close();
      continue;
    }
    // The index knows that the log was longer: only with force.
    const writer = await store.open('s', { force: true });
    expect(writer.view.lastSeq).toBeGreaterThanOrEqual(whole - 1);
    writer.append('note.added', { text: 'after the cut', author: 'me' });
    await writer.close();
    const after = readFileSync(log);
    const kept = ends[whole - 1] as number;
    expect(after.subarray(0, kept)).toEqual(bytes.subarray(0, kept));
    for (const line of after.toString('utf8').trimEnd().split('\n')) JSON.parse(line);
    await store.close();
  }
});

test('every flipped bit is found', { timeout: FULL_TIMEOUT }, async () => {
  using dir = folder();
  const { log, bytes } = await sample(dir.path);
  const store = fileStore({ root: dir.path });
  await fc.assert(
    fc.asyncProperty(fc.nat(bytes.length - 1), fc.nat(7), async (at, bit) => {
      const copy = Buffer.from(bytes);
      copy[at] = (copy[at] as number) ^ (1 << bit);
      writeFileSync(log, copy);
      const { ok, problems } = await store.verify('s');
      expect(ok).toBe(false);
      const named = problems.some(({ offset = 0, length = 0 }) => at >= offset && at <= offset + length);
      // A flip in the very last newline leaves a line without an end; it is named by where it starts.
      expect(named || problems.some(({ kind }) => kind === 'torn')).toBe(true);
      await collect((await store.reader('s')).events());
    }),
    { numRuns: FULL ? 10_000 : 300 },
  );
  await store.close();
});

test('zero bytes at the end, as after a power cut, are set aside', async () => {
  using dir = folder();
  const { log, bytes } = await sample(dir.path);
  appendFileSync(log, Buffer.alloc(4096));
  const store = fileStore({ root: dir.path });
  const writer = await store.open('s');
  await writer.close();
  expect(readFileSync(log).subarray(0, bytes.length)).toEqual(bytes);
  expect(readFileSync(log).includes(0)).toBe(false);
  expect(await store.verify('s')).toMatchObject({ ok: true });
  const events = await collect((await store.reader('s')).events());
  expect(events.at(-1)).toMatchObject({
    type: 'session.repaired',
    data: { problems: [{ kind: 'torn', length: 4096 }] },
  });
  await store.close();
});

test('a process that exits without closing leaves everything it appended', async () => {
  using dir = folder();
  mkdirSync(dir.path, { recursive: true });
  const script = `
    import { fileStore } from ${JSON.stringify(join(import.meta.dirname, '../src/index.ts'))};
    import { header, Run } from ${JSON.stringify(join(import.meta.dirname, 'build.ts'))};
    const writer = await fileStore({ root: ${JSON.stringify(dir.path)} }).create(header('s'));
    const barrier = writer.append('note.added', { text: 'first', author: 'me' }) && writer.barrier();
    new Run(writer).cycles(50);
    process.exit(0);`;
  const exits = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
    stdio: 'inherit',
  });
  await once(exits, 'exit');
  const store = fileStore({ root: dir.path });
  expect(await store.verify('s')).toMatchObject({ ok: true, events: 1 + 1 + 50 * 6 });
  await store.close();
});
