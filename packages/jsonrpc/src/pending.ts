/**
 * Calls of ours that have not settled: each on its own or as one of a batch, and the table that finds them.
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

interface Numbered {
  readonly ordinal: number;
}

const initial = 64;
const largest = 1 << 16;

/**
 * Open calls by their number.
 *
 * Promise: constant time. Numbers are consecutive, so a ring of slots finds almost all; a call that stays open while
 * thousands come and go moves aside. A `Map` would do, but its discarded tables stay linked to their successors:
 * under load one that has grown old keeps everything young alive, and garbage collection cost more than the
 * calls.
 */
export class PendingTable<T extends Numbered> {
  size = 0;
  #slots: (T | undefined)[] = new Array(initial).fill(undefined);
  readonly #aside = new Map<number, T>();

  get(ordinal: number): T | undefined {
    const item = this.#slots[ordinal & (this.#slots.length - 1)];
    if (item?.ordinal === ordinal) return item;
    return this.#aside.size === 0 ? undefined : this.#aside.get(ordinal);
  }

  add(item: T): void {
    this.size++;
    if (this.size * 2 > this.#slots.length && this.#slots.length < largest) this.#grow();
    this.#place(item);
  }

  delete(item: T): void {
    const at = item.ordinal & (this.#slots.length - 1);
    if (this.#slots[at] === item) this.#slots[at] = undefined;
    else if (!this.#aside.delete(item.ordinal)) return;
    this.size--;
  }

  values(): T[] {
    const inSlots = this.#slots.filter((item) => item !== undefined);
    return [...this.#aside.values(), ...inSlots].sort((a, b) => a.ordinal - b.ordinal);
  }

  /** The newcomer gets the slot: it is more likely to be asked for soon. */
  #place(item: T): void {
    const at = item.ordinal & (this.#slots.length - 1);
    const older = this.#slots[at];
    if (older) this.#aside.set(older.ordinal, older);
    this.#slots[at] = item;
  }

  #grow(): void {
    const items = this.values();
    this.#slots = new Array(this.#slots.length * 2).fill(undefined);
    this.#aside.clear();
    for (const item of items) this.#place(item);
  }
}
