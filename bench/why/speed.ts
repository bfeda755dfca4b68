/**
 * How long the answers take on a long session: `node bench/why/speed.ts [--cycles N] [--window N]`.
 *
 * The session has one model call and one tool call a cycle, 2 kB results that go back to the model, and a conversation
 * that is compacted as long runs are. CPU time of this process with all its threads, and wall time; the parse of the same
 * bytes stands beside.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { diff, lineage, why } from '../../packages/analyze/src/index.ts';
import {
  digestOf,
  type EventData,
  fileStore,
  Secrets,
  type SessionHeader,
  type SessionView,
  type Store,
} from '../../packages/journal/src/index.ts';
import type { Json, Message } from '../../packages/types/src/index.ts';

const { values: given } = parseArgs({
  options: {
    cycles: { type: 'string', default: '20666' },
    window: { type: 'string', default: '100' },
  },
});
const cycles = Number(given.cycles);
const window = Number(given.window);

const root = mkdtempSync(join(tmpdir(), 'chassis-speed-'));
process.on('exit', () => rmSync(root, { recursive: true, force: true }));
const store = fileStore({ root });
const secrets = new Secrets();
const plugin = { name: 'shop', version: '1.0.0', digest: 'a'.repeat(64) };

const header = (id: string): SessionHeader => ({
  format: 'chassis.session',
  v: 1,
  id,
  created: 0,
  chassis: '0.1.0',
  title: 'a long run',
  workspace: '/w',
  project: '/w',
  agent: { ...plugin, agent: 'default' },
  model: { name: 'm', fallbacks: [], params: {} },
  plugins: [plugin],
  settings: {},
});

const page = (cycle: number, bad: boolean) => ({
  page: cycle,
  orders: Array.from({ length: 15 }, (_, k) => ({
    id: `ORD-${1_000_000 + cycle * 20 + k}`,
    customer: `customer ${(cycle * 7 + k) % 997}`,
    amount: bad && k === 7 ? '1.249,90' : ((cycle * 31 + k * 17) % 9000) / 100 + 10,
    note: 'delivered in the morning, signed for',
  })),
});

/** Writes a session as the runtime would: `changed` is the cycle from which on it is another run. */
async function record(id: string, changed: number): Promise<void> {
  const writer = await store.create(header(id));
  const append = writer.append.bind(writer);
  append('input.received', { turn: 1, content: 'Go through all pages and average the amounts.' });
  const tools = writer.blob([
    { name: 'orders', description: 'a page of orders', parameters: { type: 'object' } },
  ]);
  const first: Message[] = [
    { role: 'system', content: 'You read orders.' },
    { role: 'user', content: 'Go through all pages and average the amounts.' },
  ];
  let step = 0;
  let held = 0;
  let from: number | null = null;
  let add: readonly Message[] = first;
  const start = (
    data: Partial<EventData['step.started']> & { kind: 'model' | 'tool'; name: string },
  ): number => {
    append(
      'step.started',
      {
        input: {},
        digest: digestOf((data.input ?? {}) as Json, secrets),
        causes: step === 0 ? [] : [step],
        parent: null,
        agent: 'main',
        turn: 1,
        plugin,
        ...data,
      },
      ++step,
    );
    append('step.dispatched', { attempt: 1, idempotency_key: `k${step}` }, step);
    return step;
  };
  for (let cycle = 0; cycle <= cycles; cycle++) {
    const compacted = held > window * 2;
    const messages = compacted ? { from, keep: 2, add: add.slice(-2) } : { from, keep: held, add };
    from = start({
      kind: 'model',
      name: 'm',
      input: { messages, tools, params: {} },
      digest: digestOf([id === 'b' && cycle >= changed, cycle], secrets),
    });
    held = messages.keep + messages.add.length;
    const last = cycle === cycles;
    const name = last ? 'average' : 'orders';
    const bad = cycle === cycles - Math.floor(window / 2);
    const input = last
      ? { amounts: [11.5, '1.249,90', 14.25] }
      : { page: cycle, ...(id === 'b' && cycle >= changed ? { size: 20 } : {}) };
    const call = { id: `call_${cycle}`, name, arguments: JSON.stringify(input) };
    const message = { role: 'assistant' as const, content: '', tool_calls: [call] };
    append(
      'step.finished',
      {
        status: 'ok',
        output: { message, finish_reason: 'tool_calls', usage: null, model: 'm' } as never,
        duration_ms: 900,
        attempts: 1,
        usage: { input: 100, cached: 0, output: 20, reasoning: 0 },
      },
      step,
    );
    start({ kind: 'tool', name, input: input as never, call_id: call.id, declared: 'read' });
    if (last) break;
    const output = page(cycle, bad);
    append('step.finished', { status: 'ok', output, duration_ms: 3, attempts: 1 }, step);
    add = [message, { role: 'tool', tool_call_id: call.id, content: JSON.stringify(output) }];
    if (cycle % 200 === 0) await writer.barrier();
  }
  const error = {
    code: -32602,
    name: 'InvalidParams',
    message: 'average: /amounts/1 must be a number',
    data: {
      issues: [{ path: '/amounts/1', message: 'must be a number', expected: 'number', received: 'string' }],
    },
  };
  append('step.finished', { status: 'error', error, duration_ms: 1, attempts: 1 }, step);
  append('session.ended', { outcome: 'failed', turn: 1, error, failed_step: step });
  await writer.barrier();
  await writer.close();
}

async function open(from: Store, id: string): Promise<SessionView> {
  return (await from.reader(id)).view(undefined, { whole: true });
}

async function cpu<T>(name: string, run: () => T | Promise<T>): Promise<T> {
  const before = process.cpuUsage();
  const started = performance.now();
  const value = await run();
  const wall = performance.now() - started;
  const { user, system } = process.cpuUsage(before);
  const times = [(user + system) / 1000, wall].map((ms) => ms.toFixed(0).padStart(7));
  console.log(`${name.padEnd(46)} ${times[0]} ms of CPU, ${times[1]} ms`);
  return value;
}

await record('a', cycles);
await record('b', Math.floor(cycles / 2));
const lines: string[] = [];
for await (const line of (await store.reader('a')).lines()) lines.push(line);
const bytes = lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
console.log(
  `${lines.length} events, ${(bytes / 1e6).toFixed(1)} MB, conversation of at most ${window} cycles`,
);
await cpu('JSON.parse of every line', () => {
  for (const line of lines) JSON.parse(line);
});
const a = await cpu('the view from disk', () => open(store, 'a'));
const found = await cpu('why, cold', () => why(a));
if (found.cause?.rule === undefined) throw new Error('no cause was found');
console.log(
  `  :${found.cause.step} ${found.cause.pointer ?? ''} ${found.cause.rule} (${found.slice.length} steps)`,
);
await cpu('why, warm', () => why(a));
await cpu('why of another step, warm', () => why(a, a.steps.length - 2));
await cpu('why of a step that went well: all steps', () => why(a, 2 * Math.floor(cycles * 0.99)));
const again = await open(store, 'a');
const last = again.steps.at(-1)?.number ?? 0;
await cpu('lineage, cold', () => lineage(again, { step: last, pointer: '/input/amounts/1' }));
await cpu('lineage of a value born in the model, cold', () =>
  lineage(again, { step: last, pointer: '/input/amounts/2' }),
);
const b = await open(store, 'b');
const fresh = await open(store, 'a');
const { same, rows } = await cpu('diff', () => diff(fresh, b));
console.log(`  ${same} steps the same, ${rows.length} rows after them`);
