/**
 * A step that is under way: what its events have said so far, and how each of them changes it.
 *
 * Promise: a large value is fetched when somebody looks at it; a value or an error whose bytes are lost stays marked as that.
 */
import { ErrorCode } from '@chassis/errors';
import type { Json } from '@chassis/types';
import { isBlobRef, isLostBlob, type Resolve, resolveRefs } from './blob-ref.ts';
import type { Edit, EventData } from './event.ts';
import { isLazy, lazyMember, memberOf, peek } from './lazy.ts';
import type { Attempt, Step } from './step.ts';

export type Mutable<T> = { -readonly [K in keyof T]: T[K] };
export type OpenStep = Mutable<Omit<Step, 'attempts' | 'edits' | 'seq'>> & {
  attempts: Mutable<Attempt>[];
  edits: readonly Edit[];
  seq: Mutable<Step['seq']>;
};
/** Most steps have no effects and no edits; they share this. */
export const NONE: readonly never[] = Object.freeze([]);

export function finish(
  step: OpenStep,
  data: EventData['step.finished'],
  seq: number,
  resolve: Resolve | undefined,
): void {
  step.status = data.status;
  step.duration_ms = data.duration_ms;
  step.seq.finished = seq;
  delete step.output;
  delete step.error;
  if (Object.hasOwn(data, 'output')) setResolved(step, 'output', data, resolve);
  if (Object.hasOwn(data, 'error')) setResolved(step, 'error', data, resolve);
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
  return resolve ? (resolveRefs(data as Json, resolve) as T) : data;
}

/** Takes a member over from an event; a large value is fetched when somebody looks at it. */
export function setResolved(
  step: OpenStep,
  key: 'input' | 'output' | 'error',
  data: object,
  resolve: Resolve | undefined,
): void {
  const get = memberOf(data, key);
  if (isLazy(data, key)) {
    lazyMember(step, key, () => plain(peek(data, key) as Json, resolve));
    return;
  }
  const value = get();
  if (resolve && isBlobRef(value))
    lazyMember(step, key, () => (key === 'error' ? errorOf(resolve(value)) : resolve(value)));
  else setValue(step, key, plain(value, resolve));
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

export function setValue(step: OpenStep, key: string, value: unknown): void {
  Object.defineProperty(step, key, { value, enumerable: true, configurable: true, writable: true });
}
