import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { fileStore } from '../src/index.ts';
import { collect, folder, header, Run } from './build.ts';

const FULL = process.env.CHASSIS_FULL === '1';
/** The full shares take minutes, more on a busy machine. */
const FULL_TIMEOUT = FULL ? 20 * 60_000 : 180_000;
const CHILD = join(import.meta.dirname, 'writer-child.ts');

/** Compiled code of the children, so that they start fast. */
const cache = mkdtempSync(join(tmpdir(), 'chassis-crash-cache-'));
afterAll(() => rmSync(cache, { recursive: true, force: true }));

/** Starts a recording child; `acknowledged` is the last number that it said was on disk. */
function startWriter(
  root: string,
  id: string,
  seed: number,
): { child: ChildProcess; acknowledged: () => number; started: Promise<void> } {
  const child = spawn(process.execPath, [CHILD, root, id, String(seed)], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, NODE_COMPILE_CACHE: cache },
  });
  let text = '';
  const started = new Promise<void>((resolve, reject) => {
    child.stdout?.on('data', (piece: Buffer) => {
      text += piece.toString();
      resolve();
    });
    child.once('exit', () => reject(new Error(`the writer ended: ${text}`)));
  });
  return { child, started, acknowledged: () => Number(text.trim().split('\n').at(-1)) };
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

test('killed at any moment, a session loses nothing that was acknowledged and goes on clean', {
  timeout: FULL_TIMEOUT,
}, async () => {
  using dir = folder();
  // Those of packages/agent come on top.
  const rounds = FULL ? 400 : 6;
  let last = -1;
  for (let round = 0; round < rounds; round++) {
    // A session of its own now and then: a long one takes long to be looked through.
    const id = `s${Math.floor(round / 40)}`;
    if (round % 40 === 0) last = -1;
    const { child, started, acknowledged } = startWriter(dir.path, id, 7 * round + 1);
    await started;
    // Seeded, so that a failure can be looked at again; the moment itself belongs to the system.
    await new Promise((resolve) => setTimeout(resolve, (round * 37) % 90));
    await kill(child);
    const store = fileStore({ root: dir.path, segmentBytes: 6000 });
    const writer = await store.open(id);
    expect(writer.view.lastSeq).toBeGreaterThanOrEqual(Math.max(acknowledged(), last));
    await writer.close();
    const { ok, problems, events } = await store.verify(id);
    expect(problems).toEqual([]);
    expect(ok).toBe(true);
    last = events - 1;
    const numbers = (await collect((await store.reader(id)).lines())).map(
      (line) => JSON.parse(line).seq as number,
    );
    expect(numbers).toEqual(numbers.map((_, i) => i));
    await store.close();
  }
});

test('of two processes one writes; the other is told who, and takes over when that one is dead', async () => {
  using dir = folder();
  const { child, started } = startWriter(dir.path, 's', 1);
  await started;
  const store = fileStore({ root: dir.path });
  await expect(store.open('s')).rejects.toMatchObject({
    name: 'Conflict',
    message: expect.stringContaining(`process ${child.pid}`),
  });
  expect((await collect(store.list()))[0]?.outcome).toBe('running');
  expect((await store.verify('s')).problems).toEqual([]);
  await kill(child);
  expect((await collect(store.list()))[0]?.outcome).toBe('interrupted');
  const writer = await store.open('s');
  writer.append('note.added', { text: 'taken over', author: 'me' });
  await writer.close();
  expect((await store.verify('s')).ok).toBe(true);
  await store.close();
});

test('a writer that was only stopped while it was thought dead does no harm when it goes on', async () => {
  using dir = folder();
  const { child, started } = startWriter(dir.path, 's', 3);
  await started;
  child.kill('SIGSTOP');
  // As if the process number had been given to somebody else: the lock is not honoured.
  const path = join(dir.path, 'sessions', 's', 'lock');
  const holder = JSON.parse(readFileSync(path, 'utf8'));
  const store = fileStore({ root: dir.path });
  writeFileSync(`${path}.new`, JSON.stringify({ ...holder, started: '1' }));
  cpSync(`${path}.new`, path);
  const writer = await store.open('s');
  writer.append('note.added', { text: 'mine now', author: 'me' });
  await writer.barrier();
  child.kill('SIGCONT');
  await once(child, 'exit');
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
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
    stdio: 'inherit',
  });
  await once(child, 'exit');
  const store = fileStore({ root: dir.path });
  expect(await store.verify('s')).toMatchObject({ ok: true, events: 1 + 1 + 50 * 6 });
  await store.close();
});
