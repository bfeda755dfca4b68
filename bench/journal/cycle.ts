/** What the benchmarks of the journal measure: cycles of one model call and one tool call with a 2 kB result, and how. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Message } from '@chassis/types';
import {
  digestOfRequest,
  messageDelta,
  newSessionId,
  type SessionHeader,
  type Writer,
} from '../../packages/journal/src/index.ts';

const TOOLS = Object.freeze([
  { name: 'orders', description: 'Reads a page of orders. '.repeat(40), parameters: { type: 'object' } },
]);
/** Messages after which the agent compacts its conversation. */
const WINDOW = 200;

export function header(root: string): SessionHeader {
  return {
    format: 'chassis.session',
    v: 1,
    id: newSessionId(),
    created: Date.now(),
    chassis: '0.1.0',
    title: 'bench',
    workspace: root,
    project: root,
    agent: { name: 'default', version: '0.1.0', digest: '', agent: 'main' },
    model: { name: 'scripted', fallbacks: [], params: {} },
    plugins: [],
    settings: {},
  };
}

/** Rows of a result of 2 kB. */
const ROWS = 20;

export const page = (i: number, rows = ROWS) => ({
  rows: Array.from({ length: rows }, (_, k) => ({
    id: i * rows + k,
    customer: `customer ${k}`,
    amount: k * 3.14,
    note: 'delivered in the morning, signed for',
  })),
});

/** Records cycles; the conversation is compacted now and then, as a real one is. */
export async function record(writer: Writer, cycles: number, rows = ROWS): Promise<void> {
  let messages: Message[] = [{ role: 'user', content: 'What is the average order value?' }];
  let previous: { step: number; messages: readonly Message[] } | null = null;
  const common = { causes: [], parent: null, agent: 'main', turn: 1, plugin: null } as const;
  for (let i = 0; i < cycles; i++) {
    if (messages.length > WINDOW) messages = [messages[0] as Message, ...messages.slice(-10)];
    const request = { messages: messages.slice(), tools: TOOLS, params: { temperature: 0 } };
    const input = {
      messages: messageDelta(previous, request.messages),
      tools: writer.blob(TOOLS),
      params: request.params,
    };
    const model = writer.append('step.started', {
      kind: 'model',
      name: 'scripted',
      input,
      digest: digestOfRequest(request),
      ...common,
    }).step as number;
    previous = { step: model, messages: request.messages };
    writer.append('step.dispatched', { attempt: 1, idempotency_key: `${writer.id}-${model}` }, model);
    const call = { id: `call_${i}`, name: 'orders', arguments: `{"page":${i}}` };
    const message = { role: 'assistant' as const, content: `Page ${i} next.`, tool_calls: [call] };
    const usage = { input: 900, cached: 800, output: 20, reasoning: 0 };
    writer.append(
      'step.finished',
      {
        status: 'ok',
        output: { message, finish_reason: 'tool_calls', usage, model: 'scripted' },
        duration_ms: 1,
        attempts: 1,
        usage,
      },
      model,
    );
    const tool = writer.append('step.started', {
      kind: 'tool',
      name: 'orders',
      input: { page: i },
      digest: '',
      call_id: call.id,
      ...common,
      causes: [model],
    }).step as number;
    writer.append('step.dispatched', { attempt: 1, idempotency_key: `${writer.id}-${tool}` }, tool);
    const output = page(i, rows);
    writer.append('step.finished', { status: 'ok', output, duration_ms: 1, attempts: 1 }, tool);
    messages.push(message, { role: 'tool', tool_call_id: call.id, content: JSON.stringify(output) });
    if (i % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
}

export async function cpu(work: () => unknown): Promise<number> {
  globalThis.gc?.();
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

export function bytesBelow(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

export function report(what: string, figure: string, floor = '', ratio = ''): void {
  console.log(`${what.padEnd(44)} ${figure.padStart(16)} ${floor.padStart(16)} ${ratio.padStart(8)}`);
}

/** A writer that records nothing: what is left is the agent's own work. */
export function bareWriter(): Writer {
  let steps = 0;
  const ref = { $blob: { sha256: '', bytes: 0, media_type: '' } };
  const append = (type: string): unknown => ({ step: type === 'step.started' ? ++steps : steps });
  return { id: 'bare', append, blob: () => ref } as unknown as Writer;
}
