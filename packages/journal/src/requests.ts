/**
 * Model requests put together again from their deltas.
 *
 * Promise: what `request` answers is what the model was sent. Memory holds the deltas (inline ones) and a few of the
 * newest conversations, not one per request.
 */
import { ChassisError } from '@chassis/errors';
import type { Json, JsonObject, Message, ToolSpec } from '@chassis/types';
import { isBlobRef, type Resolve, resolveRefs } from './blob-ref.ts';
import type { Edit, LoggedModelInput } from './event.ts';
import type { DeltaHead } from './lazy.ts';
import { setPointer } from './pointer.ts';
import type { RequestDelta } from './step.ts';

interface Logged {
  /** The logged input; it may be kept as text until it is asked for. */
  readonly input: () => Json;
  /** Absent when the input holds no reference. */
  readonly resolve: Resolve | undefined;
  readonly edits: Edit[];
  head: DeltaHead | undefined;
}

export interface ModelInput {
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSpec[];
  readonly params: JsonObject;
}

/** How many put-together conversations are remembered. */
const REMEMBERED = 8;

export class Requests {
  readonly #logged = new Map<number, Logged>();
  readonly #messages = new Map<number, readonly Message[]>();
  /** An edit of one request changes those that build on it. */
  #changed = false;

  /** @param head what is known of the input's messages, when it is kept as text */
  add(step: number, input: () => Json, resolve: Resolve | undefined, head?: DeltaHead): void {
    this.#logged.set(step, { input, resolve, edits: [], head });
    this.#messages.delete(step);
  }

  /** Changes a request: `path` starts with `/input`. */
  edit(edit: Edit): void {
    const logged = this.#logged.get(edit.step);
    if (!logged) throw unknownStep(edit.step);
    logged.edits.push(edit);
    this.#changed = true;
    this.#messages.clear();
  }

  /** Counts only, for a step's `input`. */
  outline(step: number): Json {
    const logged = this.#logged.get(step);
    if (!logged) throw unknownStep(step);
    if (logged.edits.length > 0) {
      const { messages, tools, params } = this.request(step);
      return { messages: messages.length, tools: tools.length, params };
    }
    const { messages, tools, params } = read(logged);
    return { messages: messages.keep + messages.add.length, tools: tools.length, params };
  }

  request(step: number): ModelInput {
    const logged = this.#logged.get(step);
    if (!logged) throw unknownStep(step);
    const messages = this.#conversation(step);
    const { tools, params } = read(logged);
    return this.#edited(step, { messages, tools, params });
  }

  delta(step: number): RequestDelta | undefined {
    const logged = this.#logged.get(step);
    if (!logged || this.#changed) return undefined;
    return {
      ...headOf(logged),
      get add() {
        return messagesOf(logged).add;
      },
    };
  }

  #edited(step: number, request: ModelInput): ModelInput {
    let input = request as unknown as Json;
    for (const { path, value } of this.#logged.get(step)?.edits ?? []) {
      input = setPointer({ input }, path, value);
      input = (input as { input: Json }).input;
    }
    return input as unknown as ModelInput;
  }

  #conversation(step: number): readonly Message[] {
    const messages = this.#changed ? this.#editedConversation(step) : this.#gathered(step);
    this.#remember(step, messages);
    return messages;
  }

  /** Walks back to the nearest remembered conversation, and looks only into the requests that added something that is left. */
  #gathered(step: number): readonly Message[] {
    const parts: (readonly Message[])[] = [];
    let wanted = Number.POSITIVE_INFINITY;
    for (let current: number | null = step; current !== null && wanted > 0; ) {
      const known = this.#messages.get(current);
      if (known) {
        parts.push(known.slice(0, wanted));
        break;
      }
      const logged = this.#logged.get(current);
      if (!logged) throw unknownStep(current);
      const { from, keep } = headOf(logged);
      if (from !== null && from >= current) throw notBefore(current, from);
      if (wanted > keep) parts.push(messagesOf(logged).add.slice(0, wanted - keep));
      wanted = Math.min(wanted, keep);
      current = from;
    }
    return parts.reverse().flat();
  }

  /** The same with every edit on the way applied. */
  #editedConversation(step: number): readonly Message[] {
    const chain: { step: number; keep: number; add: readonly Message[] }[] = [];
    let messages: readonly Message[] = [];
    for (let current: number | null = step; current !== null; ) {
      const known = this.#messages.get(current);
      if (known) {
        messages = known;
        break;
      }
      const logged = this.#logged.get(current);
      if (!logged) throw unknownStep(current);
      const { from, keep, add }: LoggedModelInput['messages'] = read(logged).messages;
      chain.push({ step: current, keep, add });
      if (from !== null && from >= current) throw notBefore(current, from);
      current = from;
    }
    for (const { step: number, keep, add } of chain.reverse()) {
      messages = keep === 0 ? add : [...messages.slice(0, keep), ...add];
      if (this.#logged.get(number)?.edits.length) {
        messages = this.#edited(number, { messages, tools: [], params: {} }).messages;
      }
    }
    return messages;
  }

  #remember(step: number, messages: readonly Message[]): void {
    this.#messages.set(step, messages);
    if (this.#messages.size <= REMEMBERED) return;
    for (const oldest of this.#messages.keys()) {
      this.#messages.delete(oldest);
      break;
    }
  }
}

interface PlainModelInput {
  readonly messages: LoggedModelInput['messages'];
  readonly tools: readonly ToolSpec[];
  readonly params: JsonObject;
}

function read({ input, resolve }: Logged): PlainModelInput {
  const logged = input();
  const plain = (resolve
    ? resolveRefs(logged, resolve)
    : logged) as unknown as Partial<PlainModelInput> | null;
  const { from = null, keep = 0, add = [] } = plain?.messages ?? {};
  return {
    messages: { from, keep, add },
    // A catalogue whose blob is lost stays a reference; the conversation can still be shown.
    tools: Array.isArray(plain?.tools) && !isBlobRef(plain.tools) ? plain.tools : [],
    params: plain?.params ?? {},
  };
}

function messagesOf({ input, resolve }: Logged): LoggedModelInput['messages'] {
  const logged = (input() as unknown as Partial<PlainModelInput> | null)?.messages;
  const plain =
    logged && resolve ? (resolveRefs(logged as never, resolve) as never as typeof logged) : logged;
  const { from = null, keep = 0, add = [] } = plain ?? {};
  return { from, keep, add };
}

function headOf(logged: Logged): DeltaHead {
  if (logged.head === undefined) {
    const { from, keep, add } = messagesOf(logged);
    logged.head = { from, keep, added: add.length };
  }
  return logged.head;
}

function notBefore(step: number, from: number): ChassisError {
  return new ChassisError(
    'InternalError',
    `the request of step ${step} builds on step ${from}, which is not before it`,
  );
}

function unknownStep(step: number): ChassisError {
  return new ChassisError('InvalidParams', `step ${step} is no model step of this session`);
}
