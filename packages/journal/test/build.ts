/** Small sessions for tests: a header, a run of cycles, a folder that is gone afterwards. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Message } from '@chassis/types';
import {
  digestOfRequest,
  messageDelta,
  newSessionId,
  type SessionHeader,
  type Writer,
} from '../src/index.ts';

export function header(id = newSessionId(), more: Partial<SessionHeader> = {}): SessionHeader {
  return {
    format: 'chassis.session',
    v: 1,
    id,
    created: 1_760_000_000_000,
    chassis: '0.1.0',
    title: 'average of three days',
    workspace: '/w',
    project: '/p',
    agent: { name: 'default', version: '1.0.0', digest: 'd', agent: 'main' },
    model: { name: 'scripted', fallbacks: [], params: {} },
    plugins: [],
    settings: {},
    ...more,
  };
}

export const TOOLS = Object.freeze([
  { name: 'fetch', description: 'Reads a page.', parameters: { type: 'object' } },
]);

/** One model step and one tool step, as an agent would record them. */
export class Run {
  readonly writer: Writer;
  readonly messages: Message[] = [{ role: 'user', content: 'What is the average?' }];
  #previous: { step: number; messages: readonly Message[] } | null = null;
  #cycle = 0;

  constructor(writer: Writer) {
    this.writer = writer;
  }

  begin(content = 'What is the average?'): void {
    this.writer.append('input.received', { turn: 1, content });
  }

  model(content: string): number {
    const { writer, messages } = this;
    const request = { messages: [...messages], tools: TOOLS, params: {} };
    const { step } = writer.append('step.started', {
      kind: 'model',
      name: 'scripted',
      input: {
        messages: messageDelta(this.#previous, request.messages),
        tools: writer.blob(TOOLS),
        params: {},
      },
      digest: digestOfRequest(request),
      causes: [],
      parent: null,
      agent: 'main',
      turn: 1,
      plugin: null,
    }) as { step: number };
    this.#previous = { step, messages: request.messages };
    writer.append('step.dispatched', { attempt: 1, idempotency_key: `key-${step}` }, step);
    writer.append(
      'step.finished',
      { status: 'ok', output: { content }, duration_ms: 1, attempts: 1, usage: null },
      step,
    );
    messages.push({ role: 'assistant', content });
    return step;
  }

  tool(output: unknown, name = 'fetch'): number {
    const { writer, messages } = this;
    const { step } = writer.append('step.started', {
      kind: 'tool',
      name,
      input: { page: ++this.#cycle },
      digest: '0',
      causes: [writer.view.steps.length],
      parent: null,
      agent: 'main',
      turn: 1,
      plugin: null,
    }) as { step: number };
    writer.append('step.dispatched', { attempt: 1, idempotency_key: `key-${step}` }, step);
    writer.append(
      'step.finished',
      { status: 'ok', output: output as never, duration_ms: 1, attempts: 1 },
      step,
    );
    messages.push({ role: 'tool', tool_call_id: `c${step}`, content: JSON.stringify(output) });
    return step;
  }

  cycles(count: number): this {
    for (let i = 1; i <= count; i++) {
      this.model(`call ${i}`);
      this.tool({ rows: [{ day: i, amount: i * 10 }] });
    }
    return this;
  }

  end(): void {
    this.writer.append('session.ended', { outcome: 'ok', turn: 1, answer: '42' });
  }
}

/** A fresh folder; `using` removes it at the end of the test. */
export function folder(): { path: string; [Symbol.dispose](): void } {
  const path = mkdtempSync(join(tmpdir(), 'chassis-journal-'));
  return {
    path,
    [Symbol.dispose]() {
      rmSync(path, { recursive: true, force: true });
    },
  };
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  return Array.fromAsync(items);
}
