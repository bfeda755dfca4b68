/**
 * What follows a failed attempt: the same call again after a pause, another model, or nothing.
 *
 * A retry repeats the request, never the turn: what happened before it stays done.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type ChassisError, ErrorCode, isRetryable } from '@chassis/errors';
import { isUnavailable, type ToolBinding, type Unavailable } from '../capability.ts';

export interface RetryPolicy {
  /** Attempts at one binding, the first included. */
  readonly attempts: number;
  /** Pause before the second attempt in milliseconds; doubled each time, at most 30 s. */
  readonly base_ms: number;
}

/** Failures that another model would meet as well, or that must not be papered over. */
const final = new Set<number>([ErrorCode.Cancelled, ErrorCode.BudgetExceeded, ErrorCode.ContextTooLong]);

/** @param tries attempts made at this binding so far */
export function pauseBeforeRetry(error: ChassisError, tries: number, policy: RetryPolicy): number | null {
  if (!isRetryable(error) || tries >= policy.attempts) return null;
  const asked = (error.data as { retry_after_ms?: unknown } | undefined)?.retry_after_ms;
  if (typeof asked === 'number') return Math.min(asked, 120_000);
  const backoff = Math.min(policy.base_ms * 2 ** (tries - 1), 30_000);
  return Math.round(backoff * (0.75 + Math.random() / 2));
}

/** Whether another model may be asked instead. */
export function mayFallBack(error: ChassisError): boolean {
  return !final.has(error.code);
}

/** How long a call waits for a plugin that is being started again, in milliseconds. */
const patienceMs = 5_000;

/** The binding as soon as its plugin is back, when that is to be soon; a model that asks again at once would only fail again. */
export async function whenBack(
  first: ToolBinding | Unavailable,
  resolve: () => ToolBinding | Unavailable,
  signal: AbortSignal,
): Promise<ToolBinding | Unavailable> {
  let binding = first;
  const until = Date.now() + patienceMs;
  while (
    isUnavailable(binding) &&
    binding.retry_at !== undefined &&
    binding.retry_at < until &&
    !signal.aborted
  ) {
    const pause = Math.max(50, binding.retry_at - Date.now());
    if (Date.now() + pause > until) break;
    await sleep(pause, undefined, { signal }).catch(() => {});
    binding = resolve();
  }
  return binding;
}
