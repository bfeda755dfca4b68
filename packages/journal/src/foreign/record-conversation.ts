/** A conversation that is over, put on record as an agent would have: each answer a model step, each call a tool step. */
import type { AssistantMessage, Json, Message, ToolCall, ToolMessage, ToolSpec, Usage } from '@chassis/types';
import { messageDelta } from '../delta.ts';
import { digestOf, digestOfRequest } from '../digest.ts';
import { parseJson } from '../json.ts';
import type { Writer } from '../store.ts';

export interface Conversation {
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSpec[];
  readonly model?: string;
  /** Of the last answer. */
  readonly usage?: Usage | null;
}

export function recordConversation(writer: Writer, { messages, tools, model, usage }: Conversation): void {
  const recorder = new ConversationRecorder(writer, tools, model ?? 'unknown');
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  for (const [index, message] of messages.entries())
    recorder.take(message, index === last ? (usage ?? null) : null);
  recorder.end();
}

class ConversationRecorder {
  readonly #writer: Writer;
  readonly #tools: readonly ToolSpec[];
  readonly #model: string;
  readonly #messages: Message[] = [];
  readonly #calls = new Map<string, { readonly call: ToolCall; readonly step: number }>();
  #previous: { readonly step: number; readonly messages: readonly Message[] } | null = null;
  /** Tool steps since the last answer. */
  #results: number[] = [];
  #turn = 0;

  constructor(writer: Writer, tools: readonly ToolSpec[], model: string) {
    this.#writer = writer;
    this.#tools = tools;
    this.#model = model;
  }

  take(message: Message, usage: Usage | null): void {
    if (message.role === 'user') {
      this.end();
      this.#input(message.content);
    } else if (message.role !== 'system' && this.#turn === 0) {
      this.#input('');
    }
    if (message.role === 'assistant') this.#answer(message, usage);
    if (message.role === 'tool') this.#result(message);
    this.#messages.push(message);
  }

  /** Ends the turn: with its answer, or as interrupted when the conversation breaks off before one. */
  end(): void {
    if (this.#turn === 0) return;
    const last = this.#messages.at(-1);
    const answered = last?.role === 'assistant' && (last.tool_calls ?? []).length === 0;
    this.#writer.append('session.ended', {
      turn: this.#turn,
      ...(answered ? { outcome: 'ok', answer: last.content } : { outcome: 'interrupted' }),
    });
  }

  #input(content: string): void {
    const model = { name: this.#model, fallbacks: [], params: {} };
    this.#writer.append('input.received', {
      turn: ++this.#turn,
      content,
      tools: this.#writer.blob(this.#tools),
      model,
    });
  }

  #answer(message: AssistantMessage, usage: Usage | null): void {
    const request = { messages: [...this.#messages], tools: this.#tools, params: {} };
    const step = this.#step({
      kind: 'model',
      name: this.#model,
      input: {
        messages: messageDelta(this.#previous, request.messages),
        tools: this.#writer.blob(this.#tools),
        params: {},
      },
      digest: digestOfRequest(request),
      causes: this.#results,
    });
    const calls = message.tool_calls ?? [];
    const output = {
      message,
      finish_reason: calls.length > 0 ? 'tool_calls' : 'stop',
      usage,
      model: this.#model,
    } as unknown as Json;
    this.#finish(step, output, usage);
    this.#previous = { step, messages: request.messages };
    this.#results = [];
    for (const call of calls) this.#calls.set(call.id, { call, step });
  }

  #result({ tool_call_id: id, content }: ToolMessage): void {
    const asked = this.#calls.get(id);
    const input = argumentsOf(asked?.call.arguments ?? '{}');
    const step = this.#step({
      kind: 'tool',
      name: asked?.call.name ?? 'unknown',
      input,
      digest: digestOf(input),
      causes: asked === undefined ? [] : [asked.step],
      call_id: id,
    });
    this.#finish(step, structured(content));
    this.#results.push(step);
  }

  #step(started: {
    readonly kind: 'model' | 'tool';
    readonly name: string;
    readonly input: unknown;
    readonly digest: string;
    readonly causes: readonly number[];
    readonly call_id?: string;
  }): number {
    const { step } = this.#writer.append('step.started', {
      ...started,
      input: started.input as never,
      parent: null,
      agent: 'main',
      turn: this.#turn,
      plugin: null,
    });
    if (step === undefined) throw new Error('a step has a number');
    this.#writer.append('step.dispatched', { attempt: 1, idempotency_key: `imported-${step}` }, step);
    return step;
  }

  #finish(step: number, output: Json, usage?: Usage | null): void {
    const counted = usage === undefined ? {} : { usage };
    this.#writer.append(
      'step.finished',
      { status: 'ok', output, duration_ms: 0, attempts: 1, ...counted },
      step,
    );
  }
}

/** What a model wrote as arguments may be no JSON at all. */
function argumentsOf(text: string): Json {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

/** A result that is a JSON object or array can be pointed into. */
function structured(content: string): Json {
  if (!/^\s*[[{]/.test(content)) return content;
  try {
    return parseJson(content);
  } catch {
    return content;
  }
}
