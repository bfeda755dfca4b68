/**
 * A step that is under way: what its events have said so far, and how each of them changes it.
 *
 * Promise: a large value is fetched when somebody looks at it; a value or an error whose bytes are lost stays marked as that.
 */
import { ErrorCode } from '@chassis/errors';
import type { Json } from '@chassis/types';
import { isBlobRef, isLostBlob, type Resolve, resolveRefs } from './blob-ref.ts';
import type { Edit, EventData, StepStarted } from './event.ts';
import { Lazy, lazyMember, Made } from './lazy.ts';
import type { Attempt, Step } from './step.ts';

export type Mutable<T> = { -readonly [K in keyof T]: T[K] };
/** Most steps have no effects and no edits; they share this. */
export const NONE: readonly never[] = Object.freeze([]);

type Own = Mutable<Omit<Step, 'attempts' | 'edits' | 'seq'>>;
type Value = 'input' | 'output' | 'error';

/** What an event says of a step that starts, besides its input. */
export interface Said extends Omit<StepStarted, 'input' | 'call_id' | 'declared'> {
  readonly call_id: StepStarted['call_id'] | undefined;
  readonly declared: StepStarted['declared'] | undefined;
}

/** A step as it grows. Its members are plain ones, save values that are made when somebody looks at them. */
export class OpenStep {
  declare number: Own['number'];
  declare kind: Own['kind'];
  declare name: Own['name'];
  declare input: Own['input'];
  declare digest: Own['digest'];
  declare causes: Own['causes'];
  declare parent: Own['parent'];
  declare agent: Own['agent'];
  declare turn: Own['turn'];
  declare plugin: Own['plugin'];
  declare call_id?: string;
  declare declared?: NonNullable<Own['declared']>;
  declare status: Own['status'];
  declare started: Own['started'];
  declare output?: Json;
  declare error?: NonNullable<Own['error']>;
  declare duration_ms?: number;
  declare attempts: Mutable<Attempt>[];
  declare usage?: Own['usage'];
  declare effects: Own['effects'];
  declare edits: readonly Edit[];
  declare lost?: true;
  declare seq: Mutable<Step['seq']>;
  #input: Lazy | undefined;
  #output: Lazy | undefined;
  #error: Lazy | undefined;

  static readonly #lazy: Readonly<Record<Value, PropertyDescriptor>> = {
    input: lazyMember((step: OpenStep) => step.#input),
    output: lazyMember((step: OpenStep) => step.#output),
    error: lazyMember((step: OpenStep) => step.#error),
  };

  constructor(number: number, said: Said, input: Json | Lazy, started: number, seq: number) {
    this.number = number;
    this.kind = said.kind;
    this.name = said.name;
    if (input instanceof Lazy) this.setLazy('input', input);
    else this.input = input;
    this.digest = said.digest;
    this.causes = Array.isArray(said.causes) ? said.causes : NONE;
    this.parent = said.parent ?? null;
    this.agent = said.agent;
    this.turn = said.turn;
    this.plugin = said.plugin ?? null;
    if (said.call_id !== undefined) this.call_id = said.call_id;
    if (said.declared !== undefined) this.declared = said.declared;
    this.status = 'started';
    this.started = started;
    this.attempts = [];
    this.effects = NONE;
    this.edits = NONE;
    this.seq = { started: seq };
  }

  /** Sets a member to a value that is made when somebody looks. */
  setLazy(key: Value, value: Lazy): void {
    if (key === 'input') this.#input = value;
    else if (key === 'output') this.#output = value;
    else this.#error = value;
    Object.defineProperty(this, key, OpenStep.#lazy[key]);
  }

  /** Sets a member to a value that is there, whatever it was before. */
  setValue(key: Value, value: unknown): void {
    if (!Object.hasOwn(this, key)) (this as Record<Value, unknown>)[key] = value;
    else Object.defineProperty(this, key, { value, enumerable: true, configurable: true, writable: true });
  }

  /** Takes a member over from an event; a large value is fetched when somebody looks at it. */
  take(key: Value, value: Json | Lazy, resolve: Resolve | undefined): void {
    const taken = takenOver(key, value, resolve);
    if (taken instanceof Lazy) this.setLazy(key, taken);
    else this.setValue(key, taken);
  }
}

/** A value of an event as a step has it. */
export function takenOver(key: Value, value: Json | Lazy, resolve: Resolve | undefined): Json | Lazy {
  if (resolve === undefined) return value;
  if (value instanceof Lazy) return new Made(() => plain(value.make(), resolve));
  if (!isBlobRef(value)) return plain(value, resolve);
  return new Made(() => (key === 'error' ? errorOf(resolve(value)) : resolve(value)));
}

export function finish(
  step: OpenStep,
  data: EventData['step.finished'],
  seq: number,
  resolve: Resolve | undefined,
  large: Lazy | undefined,
): void {
  step.status = data.status;
  if (Object.hasOwn(step, 'output')) delete step.output;
  if (Object.hasOwn(step, 'error')) delete step.error;
  if (large !== undefined) step.take('output', large, resolve);
  else if (data.output !== undefined) step.take('output', data.output, resolve);
  if (data.error !== undefined) step.take('error', data.error as unknown as Json, resolve);
  step.duration_ms = data.duration_ms;
  step.seq.finished = seq;
  if (data.usage !== undefined) step.usage = plain(data.usage, resolve);
  const effects = data.effects === undefined ? undefined : plain(data.effects, resolve);
  if (Array.isArray(effects)) step.effects = effects;
}

/** Back to "started": it runs anew. In a fork as if for the first time, after a crash with its attempts kept. */
export function reopen(step: OpenStep | undefined, anew: boolean): void {
  if (!step) return;
  const last = step.attempts.at(-1);
  if (last !== undefined && last.error === undefined && step.error !== undefined) {
    last.error = step.error;
    if (step.usage !== undefined) last.usage = step.usage;
  }
  step.status = 'started';
  delete step.output;
  delete step.error;
  delete step.duration_ms;
  delete step.usage;
  delete step.seq.dispatched;
  delete step.seq.finished;
  step.effects = NONE;
  if (anew) step.attempts = [];
}

export function attemptOf(step: OpenStep, number: number): Mutable<Attempt> {
  let attempt = step.attempts.find((open) => open.number === number);
  if (!attempt) {
    attempt = { number, idempotency_key: '', text: '', reasoning: '' };
    step.attempts.push(attempt);
  }
  return attempt;
}

/** Logged data with its references resolved. */
export function plain<T>(data: T, resolve: Resolve | undefined): T {
  if (resolve === undefined || typeof data !== 'object' || data === null) return data;
  return resolveRefs(data as Json, resolve) as T;
}

/** An error whose record is lost is an error still. */
function errorOf(value: Json): Json {
  if (!isLostBlob(value)) return value;
  return {
    code: ErrorCode.InternalError,
    name: 'InternalError',
    message: 'the error is not on record',
    data: value,
  };
}
