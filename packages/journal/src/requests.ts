/**
 * Model requests put together again from their deltas.
 *
 * Promise: what `request` answers is what the model was sent. Memory holds the deltas (inline ones) and a few of the
 * newest conversations, not one per request.
 */
import { ChassisError } from '@chassis/errors';
import type { Json, JsonObject, Message, ToolSpec } from '@chassis/types';
import { isLostBlob, lostBlobIn, type Resolve, resolveRefs, textOf } from './blob-ref.ts';
import { beginningOf, type DeltaHead } from './delta-head.ts';
import type { Edit, LoggedModelInput } from './event.ts';
import { Lazy } from './lazy.ts';
import { setPointer } from './pointer.ts';
import type { RequestDelta } from './step.ts';

/** What a logged request says about its messages, known without parsing it again. */
interface MessagesHead extends DeltaHead {
  /** How many messages it adds. */
  readonly added: number;
  /** The length of their contents together. */
  readonly chars: number;
}

export interface Logged {
  /** The logged input; it may be kept as text until it is asked for. */
  readonly input: Json | Lazy;
  /** Absent when the input holds no reference. */
  readonly resolve: Resolve | undefined;
  edits: readonly Edit[];
  head: MessagesHead | undefined;
}

export interface ModelInput {
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSpec[];
  readonly params: JsonObject;
  /** What of it is not on record; absent when it is whole. */
  readonly missing?: readonly string[];
}

/** A conversation, and what of it is not on record. */
interface Conversation {
  readonly messages: readonly Message[];
  readonly missing: readonly string[];
}

/** Requests that are read from the log when they are needed. */
interface PastRequests {
  readonly known: (step: number) => Logged | undefined;
  /** The nearest request of which messages are left in this one, and how many. */
  readonly before: (step: number) => DeltaHead | undefined;
  /** Whether one of them was edited. */
  readonly edited: boolean;
}

const NO_EDITS: readonly Edit[] = [];
/** How many put-together conversations are remembered. */
const REMEMBERED = 8;

export class Requests {
  readonly #logged = new Map<number, Logged>();
  readonly #messages = new Map<number, Conversation>();
  readonly #past: PastRequests | undefined;
  /** An edit of one request changes those that build on it. */
  #changed: boolean;

  constructor(past?: PastRequests) {
    this.#past = past;
    this.#changed = past?.edited ?? false;
  }

  add(step: number, input: Json | Lazy, resolve: Resolve | undefined): void {
    this.#logged.set(step, { input, resolve, edits: NO_EDITS, head: undefined });
    this.#messages.delete(step);
  }

  /** From now on the past answers for requests up to a step. */
  release(last: number): void {
    for (const [step, { edits }] of this.#logged) {
      if (step > last) return;
      if (edits.length === 0) this.#logged.delete(step);
    }
  }

  /** Changes a request: `path` starts with `/input`. */
  edit(edit: Edit): void {
    const logged = this.#get(edit.step);
    if (!logged) throw unknownStep(edit.step);
    this.#logged.set(edit.step, logged);
    logged.edits = [...logged.edits, edit];
    this.#changed = true;
    this.#messages.clear();
  }

  #get(step: number): Logged | undefined {
    return this.#logged.get(step) ?? this.#past?.known(step);
  }

  /** Counts only, for a step's `input`. */
  outline(step: number): Json {
    const logged = this.#get(step);
    if (!logged) throw unknownStep(step);
    if (logged.edits.length > 0) {
      const { messages, tools, params } = this.request(step);
      return { messages: messages.length, tools: tools.length, params };
    }
    const { messages, tools, params } = read(logged);
    return { messages: messages.keep + messages.add.length, tools: tools.length, params };
  }

  request(step: number): ModelInput {
    const logged = this.#get(step);
    if (!logged) throw unknownStep(step);
    const { messages, missing } = this.#conversation(step);
    const { tools, params, missing: own } = read(logged);
    const all = [...missing, ...own];
    return this.#edited(step, { messages, tools, params, ...(all.length === 0 ? {} : { missing: all }) });
  }

  delta(step: number): RequestDelta | undefined {
    const logged = this.#get(step);
    if (!logged || this.#changed) return undefined;
    const { from, keep } = headOfMessages(logged);
    return {
      from,
      keep,
      get added() {
        return headOf(logged).added;
      },
      get chars() {
        return headOf(logged).chars;
      },
      get add() {
        return messagesOf(logged).add;
      },
    };
  }

  #edited(step: number, request: ModelInput): ModelInput {
    let input = request as unknown as Json;
    for (const { path, value } of this.#get(step)?.edits ?? []) {
      input = setPointer({ input }, path, value);
      input = (input as { input: Json }).input;
    }
    return input as unknown as ModelInput;
  }

  #conversation(step: number): Conversation {
    const conversation = this.#changed ? this.#editedConversation(step) : this.#gathered(step);
    this.#remember(step, conversation);
    return conversation;
  }

  /** Walks back to the nearest remembered conversation, and looks only into the requests that added something that is left. */
  #gathered(step: number): Conversation {
    const parts: (readonly Message[])[] = [];
    const missing: string[] = [];
    let wanted = Number.POSITIVE_INFINITY;
    for (let current: number | null = step; current !== null && wanted > 0; ) {
      const known = this.#messages.get(current);
      if (known) {
        parts.push(known.messages.slice(0, wanted));
        missing.push(...known.missing);
        break;
      }
      const logged = this.#get(current);
      if (!logged) {
        missing.push(requestLost(current));
        break;
      }
      const { from, keep }: DeltaHead = this.#past?.before(current) ?? headOfMessages(logged);
      if (from !== null && from >= current) throw notBefore(current, from);
      if (wanted > keep) {
        const messages = messagesOf(logged);
        parts.push(messages.add.slice(0, wanted - keep));
        missing.push(...messages.missing);
      }
      wanted = Math.min(wanted, keep);
      current = from;
    }
    return { messages: parts.reverse().flat(), missing };
  }

  /** The same with every edit on the way applied. */
  #editedConversation(step: number): Conversation {
    const missing: string[] = [];
    const chain: { step: number; keep: number; add: readonly Message[] }[] = [];
    let messages: readonly Message[] = [];
    for (let current: number | null = step; current !== null; ) {
      const known = this.#messages.get(current);
      if (known) {
        messages = known.messages;
        missing.push(...known.missing);
        break;
      }
      const logged = this.#get(current);
      if (!logged) {
        missing.push(requestLost(current));
        break;
      }
      const { from, keep, add, missing: lost }: LoggedMessages = messagesOf(logged);
      missing.push(...lost);
      chain.push({ step: current, keep, add });
      if (from !== null && from >= current) throw notBefore(current, from);
      current = from;
    }
    for (const { step: number, keep, add } of chain.reverse()) {
      messages = keep === 0 ? add : [...messages.slice(0, keep), ...add];
      if (this.#get(number)?.edits.length) {
        messages = this.#edited(number, { messages, tools: [], params: {} }).messages;
      }
    }
    return { messages, missing };
  }

  #remember(step: number, conversation: Conversation): void {
    this.#messages.set(step, conversation);
    if (this.#messages.size <= REMEMBERED) return;
    for (const oldest of this.#messages.keys()) {
      this.#messages.delete(oldest);
      break;
    }
  }
}

interface PlainModelInput {
  readonly messages: LoggedMessages;
  readonly tools: readonly ToolSpec[];
  readonly params: JsonObject;
  /** What is not on record besides messages. */
  readonly missing: readonly string[];
}

interface LoggedMessages {
  readonly from: number | null;
  readonly keep: number;
  readonly add: readonly Message[];
  readonly missing: readonly string[];
}

function read(logged: Logged): PlainModelInput {
  const { resolve } = logged;
  const input = inputOf(logged);
  const plain = (resolve ? resolveRefs(input, resolve) : input) as { [key: string]: Json } | null;
  const { tools = [], params = {} } = plain ?? {};
  const missing = [
    ...(lostBlobIn(tools) ? [`the tools that were offered: ${lostText(tools)}`] : []),
    ...(lostBlobIn(params) ? [`parameters: ${lostText(params)}`] : []),
  ];
  return {
    messages: messagesIn(plain),
    // A catalogue whose blob is lost stays a reference; the conversation can still be shown.
    tools: Array.isArray(tools) ? (tools as unknown as readonly ToolSpec[]) : [],
    params: isLostBlob(params) ? {} : (params as JsonObject),
    missing,
  };
}

function inputOf({ input }: Logged): Json {
  return input instanceof Lazy ? input.get() : input;
}

function messagesOf(request: Logged): LoggedMessages {
  const { resolve } = request;
  const logged = inputOf(request) as { messages?: Json } | null;
  if (!resolve) return messagesIn(logged);
  // Neither the tools nor the parameters are looked at for it.
  return messagesIn(
    logged && 'messages' in logged
      ? { messages: resolveRefs(logged.messages as Json, resolve) }
      : (resolveRefs(logged as Json, resolve) as { [key: string]: Json }),
  );
}

/** The messages of a request with references resolved. A text that is lost stands there as its reference. */
function messagesIn(plain: { readonly messages?: Json } | null): LoggedMessages {
  const {
    from = null,
    keep = 0,
    add = [],
  } = (plain?.messages ?? {}) as unknown as Partial<LoggedModelInput['messages']>;
  const lost = lostBlobIn(plain?.messages === undefined ? plain : plain.messages);
  if (lost === undefined) return { from, keep, add, missing: [] };
  return {
    from,
    keep,
    add: Array.isArray(add) ? add.map(legible) : [],
    missing: [`messages: ${lostText(lost as unknown as Json)}`],
  };
}

/** A message in which texts that are lost stand as their references, and lists that are lost as none. */
function legible(message: Message): Message {
  if (lostBlobIn(message) === undefined) return message;
  if (isLostBlob(message)) return { role: 'user', content: textOf(message) };
  const content = textOf(message.content);
  if (message.role !== 'assistant') return { ...message, content };
  const { reasoning, tool_calls: calls, ...rest } = message;
  return {
    ...rest,
    content,
    ...(reasoning === undefined ? {} : { reasoning: textOf(reasoning) }),
    ...(Array.isArray(calls)
      ? { tool_calls: calls.map((call) => ({ ...call, arguments: textOf(call.arguments) })) }
      : {}),
  };
}

function lostText(value: Json): string {
  const { sha256, bytes } = lostBlobIn(value)?.$blob ?? { sha256: '', bytes: 0 };
  return `blob ${sha256} (${bytes} bytes) is not on record`;
}

function requestLost(step: number): string {
  return `messages: the request of step ${step} is not on record`;
}

/** What a request begins with. */
function headOfMessages(logged: Logged): DeltaHead {
  const { head, input } = logged;
  return head ?? (input instanceof Lazy ? beginningOf(input) : undefined) ?? headOf(logged);
}

function headOf(logged: Logged): MessagesHead {
  if (logged.head === undefined) {
    const { input } = logged;
    // Heads are asked for of very many requests: their texts are not held for it.
    const { from, keep, add } = messagesOf(
      input instanceof Lazy ? { ...logged, input: input.make() } : logged,
    );
    logged.head = { from, keep, added: add.length, chars: charsOf(add) };
  }
  return logged.head;
}

/** The length of the contents of some messages. */
function charsOf(messages: readonly { readonly content?: unknown }[]): number {
  return messages.reduce((sum, { content }) => sum + (typeof content === 'string' ? content.length : 0), 0);
}

function notBefore(step: number, from: number): ChassisError {
  return new ChassisError(
    'DamagedRecord',
    `the request of step ${step} builds on step ${from}, which is not before it`,
  );
}

function unknownStep(step: number): ChassisError {
  return new ChassisError('InvalidParams', `step ${step} is no model step of this session`);
}
