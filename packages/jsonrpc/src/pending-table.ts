/**
 * Open calls by their number.
 *
 * Promise: constant time. Numbers are consecutive, so a ring of slots finds almost all; a call that stays open while
 * thousands come and go moves aside. A `Map` would do, but its discarded tables stay linked to their successors:
 * under load one that has grown old keeps everything young alive, and garbage collection cost more than the
 * calls.
 */
interface Numbered {
  readonly ordinal: number;
}

const initial = 64;
const largest = 1 << 16;

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
