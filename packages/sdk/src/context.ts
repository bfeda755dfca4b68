/** The context of one invocation, over whatever carries its calls: the gate in this process, or a pipe. */
import type { Effect, Json, JsonObject } from '@chassis/types';
import type { FileChange, InvokeContext, WireContext } from './plugin.ts';

/** An invocation as far as it may be cancelled. */
interface Stoppable {
  readonly signal: AbortSignal;
}

/** Where a context's calls go. */
export interface ContextCalls {
  progress(data: JsonObject): void;
  log(level: string, message: string, data?: Json): void;
  secret(name: string): Promise<string>;
  call(method: string, params: JsonObject): Promise<Json>;
  value(name: 'now' | 'random' | 'uuid'): Promise<Json>;
  effect(effect: FileChange | Exclude<Effect, { kind: 'file' }>): void;
}

/**
 * @param call has the signal, which is asked for only if the handler looks at it: most do not, and one is dear to make
 * @param inputJson the exact text of the input, made only if the handler asks for it
 */
export function invokeContext(
  wire: WireContext,
  call: Stoppable,
  inputJson: () => string,
  calls: ContextCalls,
): InvokeContext {
  return Object.assign(new CallContext(call, inputJson, calls), wire) as unknown as InvokeContext;
}

/**
 * Most handlers use little of their context, so a call pays for nothing that it does not ask for. Each function is bound: a
 * handler may take it out of the context.
 */
class CallContext {
  readonly #call: Stoppable;
  readonly #inputJson: () => string;
  readonly #calls: ContextCalls;
  #text: string | undefined;

  constructor(call: Stoppable, inputJson: () => string, calls: ContextCalls) {
    this.#call = call;
    this.#inputJson = inputJson;
    this.#calls = calls;
  }

  get signal() {
    return this.#call.signal;
  }

  get input_json() {
    this.#text ??= this.#inputJson();
    return this.#text;
  }

  get log() {
    return (level: string, message: string, data?: Json) => this.#calls.log(level, message, data);
  }

  get progress() {
    return (data: JsonObject) => this.#calls.progress(data);
  }

  get secret() {
    return (name: string) => this.#calls.secret(name);
  }

  get call() {
    return (method: string, params: JsonObject) => this.#calls.call(method, params);
  }

  get now() {
    return async () => (await this.#calls.value('now')) as number;
  }

  get random() {
    return async () => (await this.#calls.value('random')) as number;
  }

  get uuid() {
    return async () => (await this.#calls.value('uuid')) as string;
  }

  get effect() {
    return (effect: FileChange | Exclude<Effect, { kind: 'file' }>) => this.#calls.effect(effect);
  }
}
