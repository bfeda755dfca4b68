/**
 * Figures that are not ratios of round trips: garbage, large messages, import, dispatch, fairness, hostile input.
 */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { duplexPair, type Writable } from 'node:stream';
import { Peer, streamTransport } from '@chassis/jsonrpc';
import { bundle } from '../../scripts/bundle.ts';
import { implementation } from './implementation.ts';
import { median } from './pair.ts';
import { open, scenarios } from './scenario.ts';

const collect = (globalThis as { gc?: () => void }).gc;
const cpuMs = (from?: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1000;
};

/** Bytes of heap per round trip of both sides; needs a new space so large that nothing is collected meanwhile. */
export async function heapPerTrip(name: string): Promise<number> {
  const [small] = scenarios;
  if (!collect || !small)
    throw new Error('run with --expose-gc --min-semi-space-size=64 --max-semi-space-size=64');
  const { client, close } = await open(name, 'memory');
  const trips = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n++) await client.echo(small.params);
  };
  await trips(30_000);
  const figures: number[] = [];
  for (let round = 0; round < 9; round++) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 5));
    const before = process.memoryUsage().heapUsed;
    await trips(3000);
    figures.push((process.memoryUsage().heapUsed - before) / 3000);
  }
  close();
  return median(figures);
}

/** Takes a message of `bytes` that comes in chunks of `chunk`; gives CPU milliseconds. */
type Taking = (bytes: number, chunk: number) => Promise<number>;

/** This floor gathers decoded pieces and looks for the newline in each: the floor of the round trips would be quadratic. */
const takenByFloor: Taking = (bytes, chunk) => {
  const [near, far] = duplexPair();
  const done = Promise.withResolvers<void>();
  const pieces: string[] = [];
  far.setEncoding('utf8').on('data', (piece: string) => {
    const to = piece.indexOf('\n');
    pieces.push(to < 0 ? piece : piece.slice(0, to));
    if (to < 0) return;
    const { params } = JSON.parse(pieces.join('')) as { params: { s: string } };
    if (params.s.length === bytes) done.resolve();
  });
  return feed(near, bytes, chunk, done.promise);
};

const takenByPeer: Taking = (bytes, chunk) => {
  const [near, far] = duplexPair();
  const done = Promise.withResolvers<void>();
  new Peer(streamTransport(far, far)).method('length', ({ s }: { s: string }) => {
    if (s.length === bytes) done.resolve();
  });
  return feed(near, bytes, chunk, done.promise);
};

async function feed(near: Writable, bytes: number, chunk: number, done: Promise<void>): Promise<number> {
  const params = { s: 'x'.repeat(bytes) };
  const stream = Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'length', params })}\n`);
  collect?.();
  const before = process.cpuUsage();
  for (let at = 0; at < stream.length; at += chunk) {
    if (!near.write(stream.subarray(at, at + chunk))) await once(near, 'drain');
  }
  await done;
  return cpuMs(before);
}

interface LargeMessages {
  /** Ratios to the floor of 8 MB in 64 KiB chunks, and 4 MB in 4 KiB chunks. */
  readonly eight: number;
  readonly four: number;
  /** By megabytes: CPU milliseconds of the peer and of the floor for each of them. */
  readonly perMegabyte: readonly { readonly mib: number; readonly own: number; readonly floor: number }[];
}

/** What is compared takes turns, and medians are reported. */
export async function largeMessages(): Promise<LargeMessages> {
  const [kib, mib] = [1 << 10, 1 << 20];
  const ratio = async (candidate: () => Promise<number>, floor: () => Promise<number>): Promise<number> => {
    const ratios: number[] = [];
    for (let round = 0; round < 14; round++) {
      const base = await floor();
      const own = await candidate();
      if (round >= 3) ratios.push(own / base); // the first warm up
    }
    return median(ratios);
  };
  const perMegabyte: LargeMessages['perMegabyte'][number][] = [];
  for (const size of [4, 8, 16, 32]) {
    const [own, floor]: [number[], number[]] = [[], []];
    for (let round = 0; round < 10; round++) {
      floor.push((await takenByFloor(size * mib, 64 * kib)) / size);
      own.push((await takenByPeer(size * mib, 64 * kib)) / size);
    }
    perMegabyte.push({ mib: size, own: median(own.slice(3)), floor: median(floor.slice(3)) });
  }
  return {
    eight: await ratio(
      () => takenByPeer(8 * mib, 64 * kib),
      () => takenByFloor(8 * mib, 64 * kib),
    ),
    four: await ratio(
      () => takenByPeer(4 * mib, 4 * kib),
      () => takenByFloor(4 * mib, 4 * kib),
    ),
    perMegabyte,
  };
}

/**
 * CPU milliseconds that importing the package adds to bare Node, compile cache warm: as it is published (compiled and
 * bundled), and from its sources, whose types Node strips. Bare Node and both take turns.
 */
export async function importCost(): Promise<{ built: number; sources: number }> {
  const root = join(import.meta.dirname, '../..');
  const folder = mkdtempSync(join(tmpdir(), 'jsonrpc-import-'));
  const project = join(root, 'packages/jsonrpc/tsconfig.build.json');
  execFileSync(join(root, 'node_modules/.bin/tsc'), [
    '-p',
    project,
    '--outDir',
    folder,
    '--composite',
    'false',
  ]);
  const compiled = join(folder, 'packages/jsonrpc/src');
  await bundle(compiled, ['index.js']);
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const entries = [undefined, join(compiled, 'index.js'), join(root, 'packages/jsonrpc/src/index.ts')];
  const mains = entries.map((entry, n) => {
    const main = join(folder, `main${n}.js`);
    const body = entry === undefined ? '' : `import ${JSON.stringify(entry)};\n`;
    writeFileSync(main, `${body}const { user, system } = process.cpuUsage();\nconsole.log(user + system);\n`);
    return main;
  });
  const env = { ...process.env, NODE_COMPILE_CACHE: join(folder, 'cache') };
  const run = (main: string) =>
    Number(execFileSync(process.execPath, [main], { env, encoding: 'utf8' })) / 1000;
  const best = mains.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < 31; round++) {
    for (const [n, main] of mains.entries()) best[n] = Math.min(best[n] as number, run(main));
  }
  rmSync(folder, { recursive: true });
  const [bare, built, sources] = best as [number, number, number];
  return { built: built - bare, sources: sources - bare };
}

/** CPU per round trip with 10,000 methods over that with 10. */
export async function dispatch(): Promise<number> {
  const server = (methods: number) => {
    const [near, far] = duplexPair();
    const peer = new Peer(streamTransport(far, far));
    for (let n = 0; n < methods; n++) peer.method(`group${n % 100}.method${n}`, (params) => params);
    return new Peer(streamTransport(near, near));
  };
  const [few, many] = [server(10), server(10_000)];
  const names = (count: number) =>
    Array.from({ length: 10 }, (_, n) => Math.floor((n * count) / 10)).map(
      (n) => `group${n % 100}.method${n}`,
    );
  const slice = async (peer: Peer, methods: readonly string[]): Promise<number> => {
    const before = process.cpuUsage();
    let trips = 0;
    for (const end = performance.now() + 50; performance.now() < end; trips++) {
      await peer.call(methods[trips % methods.length] as string, { n: 1 });
    }
    return cpuMs(before) / trips;
  };
  const ratios: number[] = [];
  for (let pair = 0; pair < 40; pair++) {
    const base = await slice(few, names(10));
    const ratio = (await slice(many, names(10_000))) / base;
    if (pair >= 8) ratios.push(ratio);
  }
  return median(ratios);
}

/** How late timers of 1 ms fire, in ms. */
export interface Lateness {
  readonly median: number;
  /** The worst: by the clock, and in CPU time of this thread, which leaves out what other processes took. */
  readonly worst: number;
  readonly worstCpu: number;
}

/**
 * Timers while two peers in memory keep 256 calls under way; and, in turns with it, while a loop does nothing but work for 2 ms
 * and let the event loop turn: later than that is the machine's doing.
 */
export async function timersUnderLoad(): Promise<{ peers: Lateness; floor: Lateness }> {
  const { serve, client: connect } = await implementation('chassis');
  const [near, far] = duplexPair();
  await serve(far, far);
  const client = await connect(near, near);
  let stop = false;
  const calls = () =>
    Promise.all(
      Array.from({ length: 256 }, async () => {
        while (!stop) await client.echo({ n: 1 });
      }),
    );
  const spin = async () => {
    while (!stop) {
      for (const until = performance.now() + 2; performance.now() < until; );
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const measured = { calls: [] as [number, number][], spin: [] as [number, number][] };
  for (let round = 0; round < 20; round++) {
    for (const load of [calls, spin]) {
      stop = false;
      const loaded = load();
      for (let n = 0; n < 25; n++) {
        const [clock, cpu] = [performance.now(), threadCpuMs()];
        await new Promise((resolve) => setTimeout(resolve, 1));
        const late: [number, number] = [
          Math.max(0, performance.now() - clock - 1),
          Math.max(0, threadCpuMs() - cpu - 1),
        ];
        if (round > 0) measured[load.name as 'calls' | 'spin'].push(late); // the first warms up
      }
      stop = true;
      await loaded;
    }
  }
  const lateness = (all: readonly [number, number][]): Lateness => ({
    median: median(all.map(([clock]) => clock)),
    worst: Math.max(...all.map(([clock]) => clock)),
    worstCpu: Math.max(...all.map(([, cpu]) => cpu)),
  });
  return { peers: lateness(measured.calls), floor: lateness(measured.spin) };
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** CPU milliseconds that 10 MB of `[` cost, from the last byte to the answer, without returning to the event loop. */
export async function hostileNesting(): Promise<number> {
  const stream = Buffer.from(`${'['.repeat(10 << 20)}\n`);
  const figures: number[] = [];
  for (let round = 0; round < 21; round++) {
    const [near, far] = duplexPair();
    new Peer(streamTransport(far, far), { log: () => {} });
    const answered = new Promise((resolve) => near.once('data', resolve));
    for (let at = 0; at < stream.length - 1; at += 65_536) {
      const piece = stream.subarray(at, Math.min(at + 65_536, stream.length - 1));
      if (!near.write(piece)) await new Promise((resolve) => near.once('drain', resolve));
    }
    await new Promise((resolve) => setImmediate(resolve));
    const before = process.cpuUsage();
    near.write(stream.subarray(stream.length - 1));
    await answered;
    figures.push(cpuMs(before));
  }
  return median(figures);
}
