/**
 * How many of a plugin's last calls broke, and when that is too many.
 *
 * Promise: pure but for the calls it was told of. Only failures of the plugin's own count: what the caller got
 * wrong, was denied or cancelled says nothing of its health. After it tripped, the first call decides: one more
 * failure trips it again, one success and it starts afresh.
 */
import { ErrorCode } from '@chassis/errors';
import type { Result } from '@chassis/types';

export interface CallCounts {
  readonly calls: number;
  readonly failed: number;
  /** Message of the last failure. */
  readonly last_error: string;
}

export interface ErrorRateTiming {
  readonly window_ms: number;
  /** The last calls that count. */
  readonly calls: number;
  /** So many failures at least, and so great a share of the calls. */
  readonly failures: number;
  readonly share: number;
}

export const ERROR_RATE: ErrorRateTiming = { window_ms: 60_000, calls: 20, failures: 5, share: 0.5 };

export class ErrorRate {
  readonly #timing: ErrorRateTiming;
  #calls: { readonly at: number; readonly error: string | undefined }[] = [];
  #onTrial = false;
  /** How often it tripped without a success in between. */
  trips = 0;

  constructor(timing: ErrorRateTiming = ERROR_RATE) {
    this.#timing = timing;
  }

  /**
   * Counts a call.
   *
   * @param error what went wrong, undefined for a call that did what it should
   * @returns the counts, when they are too bad to go on
   */
  note(error: string | undefined, now: number): CallCounts | undefined {
    if (error === undefined && this.#onTrial) {
      this.#onTrial = false;
      this.trips = 0;
    }
    // Those that are too old are left out when somebody asks; a call that went well must cost next to nothing.
    this.#calls.push({ at: now, error });
    if (this.#calls.length > this.#timing.calls) this.#calls.shift();
    if (error === undefined) return undefined;
    const counts = this.counts(now);
    const { failures, share } = this.#timing;
    const bad = counts !== undefined && counts.failed >= failures && counts.failed >= share * counts.calls;
    if (!this.#onTrial && !bad) return undefined;
    this.#calls = [];
    this.#onTrial = true;
    this.trips++;
    return counts;
  }

  /** undefined when none of the last calls failed. */
  counts(now: number): CallCounts | undefined {
    const recent = this.#recent(now);
    const failed = recent.filter(({ error }) => error !== undefined);
    const last = failed.at(-1)?.error;
    return last === undefined ? undefined : { calls: recent.length, failed: failed.length, last_error: last };
  }

  #recent(now: number) {
    return this.#calls.filter(({ at }) => now - at < this.#timing.window_ms);
  }
}

/** What a Result says against the plugin itself; undefined when nothing. */
export function faultOf({ code, error }: Result, deadline: number, now: number): string | undefined {
  if (code === 0) return undefined;
  const message = error?.message ?? `code ${code}`;
  if (code === ErrorCode.InternalError || code === ErrorCode.InvalidOutput || code === ErrorCode.ToolTimeout)
    return message;
  // Nobody waits at the deadline, so the call is cancelled.
  return code === ErrorCode.Cancelled && now >= deadline ? 'no answer in time' : undefined;
}
