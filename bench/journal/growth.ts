/** What a cycle costs in a short session and in a long one: time, bytes, and what is kept beside the log. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { fileStore } from '../../packages/journal/src/index.ts';
import { bareWriter, bytesBelow, cpu, header, record, report } from './cycle.ts';

/** Cycles of a session, and how often it is recorded: the best counts. The first makes the code warm. */
const SESSIONS = [
  [1000, 4],
  [100, 20],
  [1000, 8],
  [10_000, 3],
  [100_000, 1],
] as const;

const SLICE = 1000;

/** Recording must cost the same however long the session is, and must not keep it in memory. */
export async function growthOfTime(root: string): Promise<void> {
  // Sealing works in the background; it is no part of this.
  const store = fileStore({ root: join(root, 'time'), segmentBytes: 1e12 });
  const costs = new Map<number, number>();
  for (const [cycles, rounds] of SESSIONS) {
    let [ours, bare] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let round = 0; round < rounds; round++) {
      const writer = await store.create(header(root));
      const recorded = async (): Promise<void> => {
        // As an agent does, it waits for the disk now and then: what waits for the disk is in memory.
        for (let left = cycles; left > 0; left -= SLICE) {
          await record(writer, Math.min(left, SLICE));
          await writer.barrier();
        }
      };
      ours = Math.min(ours, await cpu(recorded));
      await writer.close();
      await store.remove(writer.id);
      bare = Math.min(bare, await cpu(() => record(bareWriter(), cycles)));
    }
    costs.set(cycles, (ours - bare) / cycles);
  }
  await store.close();
  const shortest = Math.min(...costs.values());
  for (const [cycles, cost] of [...costs].sort(([a], [b]) => a - b))
    report(
      `recording at ${cycles} cycles, us of CPU per cycle`,
      cost.toFixed(1),
      '',
      (cost / shortest).toFixed(2),
    );
  report('peak memory of this process, MB', (process.resourceUsage().maxRSS / 1024).toFixed(0));
}

export async function growthOfBytes(root: string): Promise<void> {
  const sizes: [number, number][] = [];
  for (const cycles of [100, 1000, 10_000]) {
    const folder = join(root, `growth-${cycles}`);
    const store = fileStore({ root: folder });
    const writer = await store.create(header(root));
    await record(writer, cycles);
    await writer.close();
    const session = join(folder, 'sessions', writer.id);
    const raw = loggedBytes(join(session, 'log'));
    sizes.push([cycles, raw]);
    report(
      `bytes per cycle at ${cycles} cycles: logged, on disk`,
      (raw / cycles).toFixed(0),
      (bytesBelow(folder) / cycles).toFixed(0),
    );
    await store.close();
  }
  const [first, , last] = sizes as [[number, number], unknown, [number, number]];
  report(
    'growth exponent of logged bytes',
    (Math.log(last[1] / first[1]) / Math.log(last[0] / first[0])).toFixed(3),
    '1.000',
  );
}

/** The sealed log against one zstd of what its events say, for results of 2 kB that do not repeat themselves. */
export async function sizeOfSealed(root: string): Promise<void> {
  const steps = 6000;
  const folder = join(root, 'sealed');
  const store = fileStore({ root: folder, segmentBytes: 4e6 });
  const writer = await store.create(header(root));
  const common = { digest: '', causes: [], parent: null, agent: 'main', turn: 1, plugin: null } as const;
  for (let number = 1; number <= steps; number++) {
    writer.append('step.started', { kind: 'tool', name: 'read', input: { number }, ...common });
    writer.append('step.dispatched', { attempt: 1, idempotency_key: `${writer.id}-${number}` }, number);
    const output = words(2000, number);
    writer.append('step.finished', { status: 'ok', output, duration_ms: 1, attempts: 1 }, number);
    if (number % 20 === 0) await writer.barrier();
  }
  await writer.close();
  const session = join(folder, 'sessions', writer.id);
  const open = readdirSync(join(session, 'log')).filter((name) => name.endsWith('.jsonl'));
  const to = Number.parseInt(open.at(-1) ?? '0', 10) - 1;
  const events = await Array.fromAsync((await store.reader(writer.id)).events({ to, blobs: false }));
  const news = events.map(({ type, step, data }) => JSON.stringify({ type, step, data })).join('\n');
  const packed = zstdCompressSync(news).length;
  const sealed = bytesOf(session, /\.zst$/);
  const derived = bytesOf(session, /snapshots$|\.(idx|places)$/);
  await store.close();
  const perEvent = (bytes: number): string => (bytes / events.length).toFixed(0);
  const what = 'sealed log, one zstd of its news, bytes an event';
  report(what, perEvent(sealed), perEvent(packed), (sealed / packed).toFixed(2));
  const share = `${((100 * derived) / (sealed + derived)).toFixed(2)} %`;
  report('snapshots and offset tables, bytes an event', perEvent(derived), '', share);
}

/** Text that does not repeat itself. */
function words(length: number, seed: number): string {
  let text = '';
  for (let state = seed + 1; text.length < length; ) {
    state = (state * 48271) % 2147483647;
    text += `${state.toString(36).replace(/\d/g, '')} `;
  }
  return text;
}

/** Uncompressed bytes of a log. */
function loggedBytes(log: string): number {
  let raw = 0;
  for (const name of readdirSync(log)) {
    const path = join(log, name);
    if (name.endsWith('.idx'))
      for (const { rawLength } of (
        JSON.parse(readFileSync(path, 'utf8')) as { frames: { rawLength: number }[] }
      ).frames)
        raw += rawLength;
    else if (name.endsWith('.jsonl')) raw += statSync(path).size;
  }
  return raw;
}

function bytesOf(folder: string, wanted: RegExp): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && wanted.test(entry.name))
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
