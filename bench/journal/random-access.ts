/**
 * Random access to long sessions: the state at any step, a fork anywhere, the first page of a session of gigabytes.
 *
 * `node bench/journal/random-access.ts [EVENTS] [GIGABYTES]`, by default 100,000 events of about 2 kB and no large session.
 * Wall-clock times, and CPU times, which a busy machine changes less. Those of the large session are taken in a process of its
 * own, with its peak memory.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Message } from '@chassis/types';
import {
  digestOfRequest,
  fileStore,
  messageDelta,
  newSessionId,
  type SessionHeader,
  type Store,
  type Writer,
} from '../../packages/journal/src/index.ts';

const [, script = '', task = '', ...rest] = process.argv;
const TOOLS = Object.freeze([
  { name: 'orders', description: 'Reads a page of orders. '.repeat(40), parameters: { type: 'object' } },
]);
/** Messages after which the agent compacts its conversation. */
const WINDOW = 200;
const CYCLES_A_TURN = 400;
/** About what an event takes in the log, and how many are written before the large session is opened anew. */
const BYTES_AN_EVENT = 2360;
const SITTING = 40_000;

function header(): SessionHeader {
  return {
    format: 'chassis.session',
    v: 1,
    id: newSessionId(),
    created: Date.now(),
    chassis: '0.1.0',
    title: 'bench',
    workspace: '/',
    project: '/',
    agent: { name: 'default', version: '0.1.0', digest: '', agent: 'main' },
    model: { name: 'scripted', fallbacks: [], params: {} },
    plugins: [],
    settings: {},
  };
}

/** Some text that does not repeat itself. */
function words(length: number, seed: number): string {
  let text = '';
  for (let state = seed + 1; text.length < length; ) {
    state = (state * 48271) % 2147483647;
    text += `${state.toString(36).replace(/\d/g, '')} `;
  }
  return text;
}

/** Records turns of cycles until there are so many events; each event has about `bytes`. */
async function record(writer: Writer, events: number, bytes: number): Promise<void> {
  let messages: Message[] = [];
  let previous: { step: number; messages: readonly Message[] } | null = null;
  let turn = writer.view.turns.length;
  for (let cycle = 0; writer.view.lastSeq < events; cycle++) {
    if (cycle % CYCLES_A_TURN === 0) {
      if (turn > 0) writer.append('session.ended', { outcome: 'ok', turn, answer: 'done' });
      writer.append('input.received', { turn: ++turn, content: `task ${turn}`, tools: writer.blob(TOOLS) });
      messages.push({ role: 'user', content: `task ${turn}` });
    }
    if (messages.length > WINDOW) messages = [messages[0] as Message, ...messages.slice(-10)];
    const common = { causes: [], parent: null, agent: 'main', turn, plugin: null } as const;
    const request = { messages: messages.slice(), tools: TOOLS, params: { temperature: 0 } };
    const input = {
      messages: messageDelta(previous, request.messages),
      tools: writer.blob(TOOLS),
      params: {},
    };
    const { step: model } = writer.append('step.started', {
      kind: 'model',
      name: 'scripted',
      input,
      digest: digestOfRequest({ ...request, messages: messages.slice(-2) }),
      ...common,
    }) as { step: number };
    previous = { step: model, messages: request.messages };
    writer.append('step.dispatched', { attempt: 1, idempotency_key: `${writer.id}-${model}` }, model);
    const call = { id: `call_${cycle}`, name: 'orders', arguments: `{"page":${cycle}}` };
    const message = { role: 'assistant' as const, content: words(bytes, cycle * 3), tool_calls: [call] };
    const usage = { input: 900, cached: 800, output: 20, reasoning: 0 };
    const output = { message, finish_reason: 'tool_calls' as const, usage, model: 'scripted' };
    writer.append('step.finished', { status: 'ok', output, duration_ms: 1, attempts: 1, usage }, model);
    const { step: tool } = writer.append('step.started', {
      kind: 'tool',
      name: 'orders',
      input: { page: cycle },
      digest: '',
      call_id: call.id,
      ...common,
      causes: [model],
    }) as { step: number };
    writer.append('step.dispatched', { attempt: 1, idempotency_key: `${writer.id}-${tool}` }, tool);
    const text = words(bytes * 2, cycle * 3 + 1);
    writer.append('step.finished', { status: 'ok', output: text, duration_ms: 1, attempts: 1 }, tool);
    messages.push(message, { role: 'tool', tool_call_id: call.id, content: text });
    if (cycle % 20 === 0) await writer.barrier();
  }
}

function sizes(folder: string): { derived: number; all: number; raw: number } {
  let [derived, all, raw] = [0, 0, 0];
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const { size } = statSync(path);
    all += size;
    if (/^snapshots$|\.idx$|\.places$/.test(entry.name)) derived += size;
    if (entry.name.endsWith('.jsonl')) raw += size;
    if (entry.name.endsWith('.idx'))
      for (const frame of JSON.parse(readFileSync(path, 'utf8')).frames) raw += frame.rawLength;
  }
  return { derived, all, raw };
}

interface Moment {
  readonly wall: number;
  readonly cpu: number;
}

/** In milliseconds. */
function now(): Moment {
  const { user, system } = process.cpuUsage();
  return { wall: performance.now(), cpu: (user + system) / 1000 };
}

class Times {
  readonly #wall: number[] = [];
  readonly #cpu: number[] = [];

  add(start: Moment): void {
    const end = now();
    this.#wall.push(end.wall - start.wall);
    this.#cpu.push(end.cpu - start.cpu);
  }

  /** Median and 95th percentile, wall clock and CPU. */
  toString(): string {
    const of = (times: readonly number[]): string => `${percentile(times, 0.5)}, ${percentile(times, 0.95)}`;
    return `${of(this.#wall)}; CPU ${of(this.#cpu)}`;
  }
}

function percentile(times: readonly number[], part: number): string {
  const sorted = times.toSorted((a, b) => a - b);
  return (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] as number).toFixed(1);
}

function row(what: string, figure: string, goal = ''): void {
  console.log(`${what.padEnd(60)} ${figure.padStart(22)} ${goal.padStart(12)}`);
}

/** Heads of all events, and beside it every line read, checked and parsed; CPU time, in turns. */
async function skeleton(store: Store, id: string, events: number): Promise<void> {
  const reader = await store.reader(id);
  const best = { heads: Number.POSITIVE_INFINITY, floor: Number.POSITIVE_INFINITY };
  for (let round = 0; round < 3; round++) {
    const start = now();
    for await (const _ of reader.heads());
    const between = now();
    for await (const line of reader.lines()) JSON.parse(line);
    best.heads = Math.min(best.heads, between.cpu - start.cpu);
    best.floor = Math.min(best.floor, now().cpu - between.cpu);
  }
  const rate = (cpu: number): string => (events / cpu).toFixed(0);
  row(
    'heads only, thousand events a CPU second; each line parsed',
    `${rate(best.heads)}, ${rate(best.floor)}`,
    '200',
  );
}

async function states(store: Store, id: string, root: string): Promise<void> {
  const events = (await (await store.reader(id)).view()).lastSeq + 1;
  const { derived, all, raw } = sizes(join(root, 'sessions', id));
  row('events, MB logged, MB on disk', `${events}, ${(raw / 1e6).toFixed(0)}, ${(all / 1e6).toFixed(0)}`);
  row('snapshots and offset tables of what is on disk', `${((100 * derived) / all).toFixed(2)} %`, '5 %');
  await skeleton(store, id, events);
  const times = new Times();
  const talks = new Times();
  for (let i = 0; i < 300; i++) {
    const seq = Math.floor(((i * 0.618034) % 1) * events);
    const start = now();
    // A reader of its own each time: nothing is known from the last one but blocks that were read.
    const view = await (await store.reader(id)).view(seq);
    view.step(view.steps.length);
    for (const number of view.marks?.unfinished() ?? []) view.step(number);
    view.turns.at(-1);
    times.add(start);
    const last = view.steps.findLast(({ kind }) => kind === 'model');
    if (last !== undefined) view.request(last.number);
    talks.add(start);
  }
  row('state at any event, ms: p50, p95', String(times), '15');
  row('the same with the whole conversation, ms: p50, p95', String(talks), '15');
  const forks = new Times();
  let bytes = 0;
  for (let i = 0; i < 40; i++) {
    const seq = Math.floor(((i * 0.618034) % 1) * events);
    const start = now();
    const fork = await store.fork(id, seq, header());
    forks.add(start);
    await fork.close();
    bytes = Math.max(bytes, sizes(join(root, 'sessions', fork.id)).all);
    await store.remove(fork.id);
  }
  row('fork at any event, ms: p50, p95', String(forks), '10');
  row('fork, bytes', String(bytes), '4096');
}

/** One look at a session in this process, which was started for it. */
async function look(root: string, id: string, what: string): Promise<void> {
  const before = performance.now();
  const store = fileStore({ root });
  const reader = await store.reader(id);
  if (what === 'list') await Array.fromAsync(store.list());
  else if (what === 'resume') await (await store.open(id)).close();
  else {
    const view = await reader.view();
    if (what === 'page')
      for (let n = view.steps.length - 9; n <= view.steps.length; n++) view.step(n)?.output;
    if (what === 'middle') (await reader.view(Math.floor(view.lastSeq / 2))).steps.at(-1)?.output;
    if (what === 'lines') await Array.fromAsync(reader.lines({ from: view.lastSeq - 9 }));
  }
  const time = performance.now() - before;
  await store.close();
  // The kernel counts what the parent had into `ru_maxrss`, not into this.
  const peak = /VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'latin1'))?.[1];
  console.log(JSON.stringify({ time, memory: Number(peak) / 1024 }));
}

async function large(gigabytes: number, root: string): Promise<void> {
  const store = fileStore({ root });
  let writer = await store.create(header());
  // What a process wrote stays in its memory: so it is done in sittings.
  for (let events = 0; events < (gigabytes * 1e9) / BYTES_AN_EVENT; ) {
    events += SITTING;
    await record(writer, events, 2000);
    await writer.close();
    writer = await store.open(writer.id);
  }
  await writer.close();
  await store.close();
  const { all, raw } = sizes(join(root, 'sessions', writer.id));
  row('large session, MB logged, MB on disk', `${(raw / 1e6).toFixed(0)}, ${(all / 1e6).toFixed(0)}`);
  for (const what of ['page', 'middle', 'lines', 'list', 'resume']) {
    rmSync(join(root, 'index.db'), { force: true });
    const { stdout, stderr } = spawnSync(process.execPath, [script, 'look', root, writer.id, what]);
    if (stderr.length > 0) console.error(String(stderr));
    const { time, memory } = JSON.parse(String(stdout)) as { time: number; memory: number };
    row(`${what}, ms, peak MB of the process`, `${time.toFixed(0)}, ${memory.toFixed(0)}`, '200, 150');
  }
}

if (task === 'look') {
  const [root = '', id = '', what = ''] = rest;
  await look(root, id, what);
} else {
  const root = mkdtempSync(join(tmpdir(), 'chassis-bench-'));
  try {
    const store = fileStore({ root });
    const writer = await store.create(header());
    await record(writer, Number(task || 100_000), 2000);
    await writer.close();
    await states(store, writer.id, root);
    await store.close();
    if (rest[0] !== undefined) await large(Number(rest[0]), join(root, 'large'));
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
