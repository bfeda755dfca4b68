/**
 * What happens to a journal from outside: following it in another process, moving a session out and in again, listing many.
 *
 * `node bench/journal/moving.ts [MEGABYTES] [SESSIONS]`, by default 200 and 10,000. Wall-clock times; beside each the CPU time where
 * it is this process that works, which a busy machine changes less. Floors: for the tail a line through a pipe between the same
 * two processes, for moving the SHA-256 of the same bytes and reading and writing them.
 */
import { spawn } from 'node:child_process';
import { createHash, hash } from 'node:crypto';
import {
  createReadStream,
  createWriteStream,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import {
  exportBatches,
  fileStore,
  importBundle,
  memoryStore,
  readBundleBatches,
  writeBundleFile,
} from '../../packages/journal/src/index.ts';
import { header, record, report } from './cycle.ts';

const [, script = '', task = '', ...rest] = process.argv;
const TAILED = 300;

/** The other process: says when each note came, by the clock that both share. */
async function follow(root: string, id: string): Promise<void> {
  const store = fileStore({ root });
  const until = new AbortController();
  process.stdin.once('data', () => until.abort());
  process.stdout.write('ready\n');
  for await (const line of (await store.reader(id)).lines({ follow: true, signal: until.signal })) {
    const now = performance.timeOrigin + performance.now();
    const sent = /"text":"at (\d+\.\d+)"/.exec(line)?.[1];
    if (sent !== undefined) process.stdout.write(`${now - Number(sent)}\n`);
  }
  process.exit(0);
}

/** The floor: the same notes through a pipe. */
async function echo(): Promise<void> {
  process.stdout.write('ready\n');
  for await (const line of createInterface({ input: process.stdin })) {
    const now = performance.timeOrigin + performance.now();
    process.stdout.write(`${now - Number(line)}\n`);
  }
}

async function tail(root: string): Promise<void> {
  const store = fileStore({ root });
  const writer = await store.create(header(root));
  await writer.barrier();
  const start = (...args: string[]) => {
    const child = spawn(process.execPath, [script, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
    const delays: number[] = [];
    const lines = createInterface({ input: child.stdout });
    const ready = new Promise<void>((resolve) => {
      lines.on('line', (line) => (line === 'ready' ? resolve() : delays.push(Number(line))));
    });
    return { child, delays, ready };
  };
  const reader = start('follow', root, writer.id);
  const pipe = start('echo');
  await Promise.all([reader.ready, pipe.ready]);
  const now = (): string => (performance.timeOrigin + performance.now()).toFixed(3);
  const durable: number[] = [];
  for (let i = 0; i < TAILED; i++) {
    const before = performance.now();
    writer.append('note.added', { text: `at ${now()}`, author: 'bench' });
    await writer.barrier();
    durable.push(performance.now() - before);
    pipe.child.stdin.write(`${now()}\n`);
    await new Promise((resolve) => setTimeout(resolve, 5 + (i % 7) * 3));
  }
  for (let i = 0; i < 100 && reader.delays.length < TAILED; i++)
    await new Promise((resolve) => setTimeout(resolve, 50));
  reader.child.stdin.end('end\n');
  pipe.child.stdin.end();
  await writer.close();
  await store.close();
  if (reader.delays.length !== TAILED) throw new Error(`${reader.delays.length} of ${TAILED} notes came`);
  for (const share of [0.5, 0.95])
    report(
      `tail: append to reader in another process, ms (p${share * 100}); floor: a pipe`,
      at(reader.delays, share).toFixed(2),
      at(pipe.delays, share).toFixed(2),
    );
  report('tail: of it until it is durable, ms (p95)', at(durable, 0.95).toFixed(2));
}

function at(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] as number;
}

interface Took {
  readonly wall: number;
  readonly cpu: number;
}

async function timed(work: () => Promise<unknown>): Promise<Took> {
  const [start, before] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(before);
  return { wall: (performance.now() - start) / 1e3, cpu: (user + system) / 1e6 };
}

async function moving(root: string, megabytes: number): Promise<void> {
  const one = fileStore({ root: join(root, 'one') });
  const writer = await one.create(header(root));
  const first = join(root, 'first.session.jsonl');
  await record(writer, Math.ceil((megabytes * 1e6) / 5400));
  await writer.close();
  const show = (what: string, took: Took, floor: Took): void =>
    report(
      `${what}, s (CPU s)`,
      `${took.wall.toFixed(2)} (${took.cpu.toFixed(2)})`,
      `${floor.wall.toFixed(2)} (${floor.cpu.toFixed(2)})`,
      (took.cpu / floor.cpu).toFixed(2),
    );
  const out = await timed(() => writeBundleFile(first, exportBatches(one, writer.id)));
  const floor = await timed(async () => {
    const sum = createHash('sha256');
    await pipeline(
      createReadStream(first, { highWaterMark: 1024 * 1024 }),
      async function* (pieces: AsyncIterable<Buffer>) {
        for await (const piece of pieces) {
          sum.update(piece);
          yield piece;
        }
      },
      createWriteStream(join(root, 'copy')),
    );
  });
  show(`export of ${(statSync(first).size / 1e6).toFixed(0)} MB; floor: copy and hash it`, out, floor);
  const two = fileStore({ root: join(root, 'two') });
  const back = await timed(() => importBundle(two, readBundleBatches(first)));
  show('import of it', back, floor);
  const second = join(root, 'second.session.jsonl');
  const again = await timed(() => writeBundleFile(second, exportBatches(two, writer.id)));
  show('export of what was imported', again, floor);
  const same = (await digest(first)) === (await digest(second));
  report('exported again: the same bytes', String(same));
  if (!same) process.exitCode = 1;
  await one.close();
  await two.close();
}

async function digest(path: string): Promise<string> {
  const sum = createHash('sha256');
  for await (const piece of createReadStream(path)) sum.update(piece as Buffer);
  return sum.digest('hex');
}

async function listing(root: string, sessions: number): Promise<void> {
  // Written as files at once: recording so many would wait for the disk most of the time.
  for (let i = 0; i < sessions; i++) {
    const memory = memoryStore();
    const writer = await memory.create(header(root));
    writer.append('input.received', { turn: 1, content: hash('sha256', String(i)) });
    writer.append('session.ended', { outcome: 'ok', turn: 1, answer: '42' });
    await writer.close();
    const folder = join(root, 'sessions', writer.id);
    mkdirSync(join(folder, 'log'), { recursive: true });
    writeFileSync(join(folder, 'head.json'), JSON.stringify(writer.header));
    const lines = await Array.fromAsync((await memory.reader(writer.id)).lines());
    writeFileSync(join(folder, 'log', `${'0'.repeat(20)}.jsonl`), `${lines.join('\n')}\n`);
  }
  const store = fileStore({ root });
  const list = async (): Promise<Took> => {
    const fresh = fileStore({ root });
    const took = await timed(async () => {
      const found = await Array.fromAsync(fresh.list());
      if (found.length !== sessions) throw new Error(`${found.length} of ${sessions} sessions are listed`);
    });
    await fresh.close();
    return took;
  };
  const text = ({ wall, cpu }: Took): string => `${wall.toFixed(2)} (${cpu.toFixed(2)})`;
  const anew = await list();
  const known = await list();
  report(`list of ${sessions} sessions, s (CPU s)`, text(known));
  report('list without an index, s (CPU s)', text(anew));
  await store.close();
}

if (task === 'follow') await follow(rest[0] as string, rest[1] as string);
else if (task === 'echo') await echo();
else {
  const root = mkdtempSync(join(tmpdir(), 'chassis-bench-'));
  try {
    report('', 'journal', 'floor', 'CPU ratio');
    await tail(join(root, 'tail'));
    await moving(root, Number(task === '' ? 200 : task));
    await listing(join(root, 'many'), Number(rest[0] ?? 10_000));
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
