/**
 * The scenarios: how two sides are connected, what is sent, how much is under way at once.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { duplexPair } from 'node:stream';
import { type Client, implementation } from './implementation.ts';

export interface Scenario {
  readonly name: string;
  readonly transport: 'memory' | 'stdio';
  readonly params: object;
  /** Calls under way at once. */
  readonly inFlight: number;
  /** Calls in one batch; 0 for single calls. */
  readonly batch: number;
  /** How long a turn lasts, in ms: long enough for every call under way to be repeated some times. */
  readonly sliceMs: number;
  /** What is aimed at, and what would be better still: CPU per round trip ÷ floor. */
  readonly goal: number;
  readonly stretch: number;
}

const small = {
  id: 12345,
  name: 'a small object',
  kind: 'benchmark',
  ok: true,
  ratio: 0.25,
  tags: ['a', 'b'],
};
/** 95 objects with one character beyond ASCII each: about 10 kB. */
const large = { rows: Array.from({ length: 95 }, (_, id) => ({ ...small, id, name: 'a small objéct' })) };

type Load = Pick<Scenario, 'inFlight' | 'batch'>;
const one: Load = { inFlight: 1, batch: 0 };
const many: Load = { inFlight: 256, batch: 0 };
const batches: Load = { inFlight: 1, batch: 100 };

function scenario(
  transport: Scenario['transport'],
  size: '100 B' | '10 kB',
  { inFlight, batch }: Load,
  goal: number,
  stretch: number,
): Scenario {
  const what = batch > 0 ? `batch of ${batch}` : `${inFlight} in flight`;
  return {
    name: `${transport}, ${size}, ${what}`,
    transport,
    params: size === '100 B' ? small : large,
    inFlight,
    batch,
    sliceMs: batch > 0 || (size === '10 kB' && inFlight > 1) ? 200 : 50,
    goal,
    stretch,
  };
}

export const scenarios: readonly Scenario[] = [
  scenario('memory', '100 B', one, 1.45, 1.25),
  scenario('memory', '100 B', many, 1.1, 0.9),
  scenario('stdio', '100 B', one, 1.2, 1.1),
  scenario('stdio', '100 B', many, 0.75, 0.6),
  scenario('memory', '10 kB', one, 1.05, 1),
  scenario('memory', '10 kB', many, 1.05, 1),
  scenario('stdio', '10 kB', one, 1.05, 0.95),
  scenario('stdio', '10 kB', many, 0.95, 0.9),
  scenario('memory', '100 B', batches, 1.3, 1.15),
  scenario('stdio', '100 B', batches, 1.25, 1.1),
];

/** One client and its server, ready to be driven. */
export interface Connection {
  readonly client: Client;
  /** CPU time so far of both sides, in microseconds. */
  cpu(): number;
  close(): void;
}

export async function open(name: string, transport: Scenario['transport']): Promise<Connection> {
  const { client, serve } = await implementation(name);
  if (transport === 'memory') {
    const [near, far] = duplexPair();
    await serve(far, far);
    return { client: await client(near, near), cpu: ownCpu, close: () => near.destroy() };
  }
  const child = spawn(process.execPath, [`${import.meta.dirname}/child.ts`, name], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  return {
    client: await client(child.stdout, child.stdin),
    cpu: () => ownCpu() + childCpu(child),
    close: () => child.kill('SIGKILL'),
  };
}

function ownCpu(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** All threads of a child, from the scheduler's own books (Linux). */
function childCpu({ pid }: ChildProcess): number {
  let nanoseconds = 0;
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    nanoseconds += Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]);
  }
  return nanoseconds / 1000;
}
