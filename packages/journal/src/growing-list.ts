/**
 * A list that only grows, whose older part may stand elsewhere and is fetched when somebody looks.
 *
 * Promise: it behaves as an array for whoever reads it; of its older part what was changed stays in memory, and a bounded
 * number of other items.
 */

/** How many fetched items are remembered. */
const REMEMBERED = 256;

export class GrowingList<T extends object> {
  /** How many items stand elsewhere. */
  #past: number;
  readonly #fetch: (index: number) => T;
  #tail: T[] = [];
  readonly #changed = new Map<number, T>();
  readonly #fetched = new Map<number, T>();
  readonly #items: readonly T[];

  /** @param fetch without it nothing can stand elsewhere */
  constructor(past = 0, fetch?: (index: number) => T) {
    this.#past = past;
    this.#fetch = fetch ?? nothing;
    this.#items = fetch === undefined ? this.#tail : asArray(this);
  }

  get length(): number {
    return this.#past + this.#tail.length;
  }

  /** The list as an array to read. */
  get items(): readonly T[] {
    return this.#items;
  }

  at(index: number): T | undefined {
    if (index >= this.#past) return this.#tail[index - this.#past];
    if (index < 0) return undefined;
    const known = this.#changed.get(index) ?? this.#fetched.get(index);
    if (known !== undefined) return known;
    const item = this.#fetch(index);
    this.#fetched.set(index, item);
    if (this.#fetched.size > REMEMBERED) this.#fetched.delete(this.#fetched.keys().next().value as number);
    return item;
  }

  /** An item that is about to be changed. */
  change(index: number): T | undefined {
    if (index >= this.#past) return this.#tail[index - this.#past];
    const item = this.at(index);
    if (item !== undefined) {
      this.#changed.set(index, item);
      this.#fetched.delete(index);
    }
    return item;
  }

  push(item: T): void {
    this.#tail.push(item);
  }

  /** How many items do not stand elsewhere. */
  get own(): number {
    return this.#tail.length;
  }

  /** Lets the oldest of its own items go: from now on they are fetched, save those that must stay. */
  release(count: number, mustStay: (item: T) => boolean): void {
    for (const [place, item] of this.#tail.slice(0, count).entries())
      if (mustStay(item)) this.#changed.set(this.#past + place, item);
    this.#tail = this.#tail.slice(count);
    this.#past += count;
  }
}

function nothing(): never {
  throw new Error('there is no past');
}

/** A view of a list as an array that cannot be changed. */
function asArray<T extends object>(list: GrowingList<T>): readonly T[] {
  const indexOf = (key: string | symbol): number | undefined =>
    typeof key === 'string' && /^\d{1,15}$/.test(key) ? Number(key) : undefined;
  return new Proxy([] as T[], {
    get(target, key, receiver) {
      if (key === 'length') return list.length;
      const index = indexOf(key);
      return index === undefined ? Reflect.get(target, key, receiver) : list.at(index);
    },
    has(target, key) {
      const index = indexOf(key);
      return index === undefined ? Reflect.has(target, key) : index < list.length;
    },
    ownKeys() {
      return [...Array.from({ length: list.length }, (_, index) => String(index)), 'length'];
    },
    getOwnPropertyDescriptor(target, key) {
      if (key === 'length')
        return { value: list.length, writable: true, enumerable: false, configurable: false };
      const index = indexOf(key);
      if (index === undefined) return Reflect.getOwnPropertyDescriptor(target, key);
      if (index >= list.length) return undefined;
      return { value: list.at(index), writable: true, enumerable: true, configurable: true };
    },
    set: () => false,
    defineProperty: () => false,
    deleteProperty: () => false,
  });
}
