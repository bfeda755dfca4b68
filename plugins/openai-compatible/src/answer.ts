/**
 * Builds the answer from the stream's payloads.
 *
 * Promise: pure but for its own state; unknown members, missing members and nulls are no error; what has
 * arrived can be asked for at any moment.
 */
import type { AssistantMessage, FinishReason, ModelChunk } from '@chassis/types';
import { ToolCallAssembly } from './tool-calls.ts';

type Loose = { readonly [key: string]: unknown };

export class Answer {
  #text = '';
  #reasoning = '';
  readonly #calls = new ToolCallAssembly();
  #finish: string | undefined;
  #usage: unknown;
  #model: string | undefined;
  #ended = false;

  /** `[DONE]`, or the whole answer in one body. */
  end(): void {
    this.#ended = true;
  }

  /** Whether the provider said that this is all. A finish reason says it too: not everybody sends `[DONE]`. */
  get complete(): boolean {
    return this.#finish !== undefined || (this.#ended && !this.empty);
  }

  get empty(): boolean {
    return this.#text === '' && this.#reasoning === '' && this.#calls.calls(String).length === 0;
  }

  /** Ordinals of the calls that `message` asks an id for. */
  get callsWithoutId(): readonly number[] {
    const ordinals: number[] = [];
    this.#calls.calls((ordinal) => String(ordinals.push(ordinal)));
    return ordinals;
  }

  /** What the provider last reported as usage, as it came. */
  get usage(): unknown {
    return this.#usage;
  }

  /** The provider's name of the model. */
  get model(): string | undefined {
    return this.#model;
  }

  /** Takes one payload, a streamed chunk or a whole completion; answers the pieces in it. */
  add(payload: Loose): ModelChunk[] {
    if (typeof payload.model === 'string' && payload.model !== '') this.#model = payload.model;
    if (typeof payload.usage === 'object' && payload.usage !== null) this.#usage = payload.usage;
    const choice = firstChoice(payload.choices);
    if (choice === undefined) return [];
    // Some report usage inside the choice.
    if (typeof choice.usage === 'object' && choice.usage !== null) this.#usage ??= choice.usage;
    const reason = choice.finish_reason;
    if (typeof reason === 'string' && reason !== '') this.#finish = reason;
    const delta = choice.delta ?? choice.message;
    return typeof delta === 'object' && delta !== null ? this.#addDelta(delta as Loose) : [];
  }

  #addDelta(delta: Loose): ModelChunk[] {
    const chunks: ModelChunk[] = [];
    const { text, thought } = parts(delta.content);
    const reasoning = string(delta.reasoning_content) || string(delta.reasoning) || thought;
    if (reasoning !== '') {
      this.#reasoning += reasoning;
      chunks.push({ reasoning });
    }
    const said = text + string(delta.refusal);
    if (said !== '') {
      this.#text += said;
      chunks.push({ text: said });
    }
    const calls = delta.tool_calls;
    for (const piece of Array.isArray(calls) ? calls : []) {
      const tool_call = this.#calls.add(piece);
      if (tool_call !== undefined) chunks.push({ tool_call });
    }
    return chunks;
  }

  /** @param fresh an id for a call that came without one */
  message(fresh: (ordinal: number) => string): AssistantMessage {
    const tool_calls = this.#calls.calls(fresh);
    return {
      role: 'assistant',
      content: this.#text,
      ...(this.#reasoning === '' ? {} : { reasoning: this.#reasoning }),
      ...(tool_calls.length === 0 ? {} : { tool_calls }),
    };
  }

  get rawFinish(): string | undefined {
    return this.#finish;
  }

  /** The reason in our words; an answer with calls that claims to have stopped has stopped for the calls. */
  get finish(): FinishReason {
    const hasCalls = this.#calls.calls(String).length > 0;
    switch (this.#finish) {
      case undefined:
      case 'stop':
      case 'tool_calls':
      case 'function_call':
        return hasCalls ? 'tool_calls' : 'stop';
      case 'length':
      case 'max_tokens':
        return 'length';
      case 'content_filter':
        return 'content_filter';
      default:
        return 'other';
    }
  }
}

/** Of several choices the one with index 0, or without an index. */
function firstChoice(choices: unknown): Loose | undefined {
  if (!Array.isArray(choices)) return undefined;
  return choices.find(
    (choice) => typeof choice === 'object' && choice !== null && ((choice as Loose).index ?? 0) === 0,
  ) as Loose | undefined;
}

function string(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Content as text, or as a list of parts (`text`, and `thinking` with parts of its own). */
function parts(content: unknown): { text: string; thought: string } {
  if (!Array.isArray(content)) return { text: string(content), thought: '' };
  let text = '';
  let thought = '';
  for (const part of content as (Loose | null)[]) {
    if (part?.type === 'thinking') thought += string(part.thinking) || parts(part.thinking).text;
    else text += string(part?.text);
  }
  return { text, thought };
}
