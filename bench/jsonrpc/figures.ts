/**
 * Figures that are not ratios of round trips: garbage, large messages, import, dispatch, fairness, hostile input.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { duplexPair } from 'node:stream';
import { Peer, streamTransport } from '@chassis/jsonrpc';
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

/**
 * CPU milliseconds to take one message of `bytes` in chunks of `chunk`, floor and ours in turns; the median ratio. This floor
 * gathers decoded pieces and looks for the newline in each: the floor of the round trips would be quadratic.
 */
export async function largeMessage(bytes: number, chunk: number): Promise<{ ratio: number; ms: number }> {
  const text = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'length', params: { s: 'x'.repeat(bytes) } });
  const stream = Buffer.from(`${text}\n`);
  const floor = async (): Promise<number> => {
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
    return feed(near, done.promise);
  };
  const ours = async (): Promise<number> => {
    const [near, far] = duplexPair();
    const done = Promise.withResolvers<void>();
    new Peer(streamTransport(far, far)).method('length', ({ s }: { s: string }) => {
      if (s.length === bytes) done.resolve();
    });
    return feed(near, done.promise);
  };
  const feed = async (near: NodeJS.WritableStream, done: Promise<void>): Promise<number> => {
    const before = process.cpuUsage();
    for (let at = 0; at < stream.length; at += chunk) {
      if (!near.write(stream.subarray(at, at + chunk)))
        await new Promise((resolve) => near.once('drain', resolve));
    }
    await done;
    return cpuMs(before);
  };
  const ratios: number[] = [];
  const own: number[] = [];
  for (let round = 0; round < 14; round++) {
    const [base, candidate] = [await floor(), await ours()];
    if (round < 3) continue; // warming up
    ratios.push(candidate / base);
    own.push(candidate);
  }
  return { ratio: median(ratios), ms: median(own) };
}

/** CPU milliseconds that importing the package adds to bare Node: types stripped as published, compile cache warm. */
export function importCost(): { ms: number; floor: number } {
  const folder = mkdtempSync(join(tmpdir(), 'jsonrpc-import-'));
  const source = new URL('../../packages/jsonrpc/src/', import.meta.url).pathname;
  cpSync(source, folder, { recursive: true, filter: (path) => !path.endsWith('.test.ts') });
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts')) continue;
    const js = stripTypeScriptTypes(readFileSync(join(folder, name), 'utf8')).replace(
      /(from ['"].*)\.ts(['"])/g,
      '$1.js$2',
    );
    writeFileSync(join(folder, name.replace(/\.ts$/, '.js')), js);
  }
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const measure = (body: string): number => {
    writeFileSync(
      join(folder, 'main.js'),
      `${body}\nconst { user, system } = process.cpuUsage();\nconsole.log(user + system);`,
    );
    const env = { ...process.env, NODE_COMPILE_CACHE: join(folder, 'cache') };
    const run = () =>
      Number(execFileSync(process.execPath, [join(folder, 'main.js')], { env, encoding: 'utf8' }));
    run();
    return Math.min(...Array.from({ length: 15 }, run)) / 1000;
  };
  const floor = measure('');
  const ms = measure("import './index.js';") - floor;
  rmSync(folder, { recursive: true });
  return { ms, floor };
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

/** How late a timer of 1 ms fires while two peers in memory keep 256 calls under way; median and worst, in ms. */
export async function timersUnderLoad(): Promise<{ median: number; worst: number }> {
  const { client } = await (async () => {
    const { serve, client: connect } = await implementation('chassis');
    const [near, far] = duplexPair();
    await serve(far, far);
    return { client: await connect(near, near) };
  })();
  let stop = false;
  const workers = Array.from({ length: 256 }, async () => {
    while (!stop) await client.echo({ n: 1 });
  });
  const late: number[] = [];
  for (let n = 0; n < 300; n++) {
    const before = performance.now();
    await new Promise((resolve) => setTimeout(resolve, 1));
    late.push(performance.now() - before - 1);
  }
  stop = true;
  await Promise.all(workers);
  return { median: median(late), worst: Math.max(...late.slice(20)) };
}

/** CPU milliseconds that 10 MB of `[` cost, from the last byte to the answer, without returning to the event loop. */
export async function hostileNesting(): Promise<number> {
  const stream = Buffer.from(`${'['.repeat(10 << 20)}\n`);
  const figures: number[] = [];
  for (let round = 0; round < 9; round++) {
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
