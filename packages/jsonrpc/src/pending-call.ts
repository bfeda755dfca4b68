/**
 * A call of ours that has not settled: on its own, or as one of a batch.
 */
import type { CallOptions } from './call.ts';
import { Link } from './deadlines.ts';
import type { RpcError } from './errors.ts';

/** Who waits for a call. */
type Resolve = (value: unknown) => void;
type Reject = (error: RpcError) => void;

export class PendingCall extends Link {
  readonly ordinal: number;
  readonly method: string;
  readonly options: CallOptions | undefined;
  onAbort: (() => void) | undefined;
  readonly #resolve: Resolve | undefined;
  readonly #reject: Reject | undefined;
  readonly #batch: PendingBatch | undefined;
  readonly #place: number;

  constructor(
    ordinal: number,
    method: string,
    options: CallOptions | undefined,
    resolve: Resolve | undefined,
    reject: Reject | undefined,
    batch?: PendingBatch,
    place = 0,
  ) {
    super();
    this.ordinal = ordinal;
    this.method = method;
    this.options = options;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#batch = batch;
    this.#place = place;
  }

  resolve(value: unknown): void {
    if (this.#batch) this.#batch.settle(this.#place, { status: 'fulfilled', value });
    else this.#resolve?.(value);
  }

  reject(reason: RpcError): void {
    if (this.#batch) this.#batch.settle(this.#place, { status: 'rejected', reason });
    else this.#reject?.(reason);
  }
}

/**
 * The calls of one batch.
 *
 * Promise: one settled result for each, in the order in which they were added.
 */
export class PendingBatch {
  readonly results: PromiseSettledResult<unknown>[] = [];
  #open = 0;
  #done: (() => void) | undefined;

  /** Reserves the next place. */
  add(): number {
    this.#open++;
    return this.results.push(unsettled) - 1;
  }

  settle(place: number, result: PromiseSettledResult<unknown>): void {
    this.results[place] = result;
    if (--this.#open === 0) this.#done?.();
  }

  /** Resolves when every call has settled; undefined if none is open. */
  settled(): Promise<void> | undefined {
    return this.#open === 0 ? undefined : new Promise((resolve) => (this.#done = resolve));
  }
}

const unsettled: PromiseSettledResult<unknown> = { status: 'fulfilled', value: undefined };
