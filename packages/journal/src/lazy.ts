/**
 * Values that are kept as the bytes they were logged as and parsed when somebody looks.
 *
 * A run's outputs are looked at rarely; as bytes they cost memory once and the garbage collector nothing. A value that is in
 * use is parsed once: while anybody holds it, the same one is given out.
 */
import type { Json } from '@chassis/types';
import { parseJson } from './json.ts';
import { unescapeMarks } from './secrets.ts';

/** How much of a text is its beginning. */
const BEGINNING = 96;

/** Text shorter than this is not worth the trouble. */
export const LAZY_LENGTH = 512;

/** A value that is made when somebody looks at it. */
export abstract class Lazy {
  #held: WeakRef<object> | undefined;

  get(): Json {
    const known = this.#held?.deref();
    if (known !== undefined) return known as Json;
    const value = this.make();
    if (typeof value === 'object' && value !== null) this.#held = new WeakRef(value);
    return value;
  }

  /** The value, made anew and not remembered. */
  abstract make(): Json;

  /** The first characters of its JSON text, where that is at hand. */
  beginning(): string {
    return '';
  }
}

/** A value that a function makes. */
export class Made extends Lazy {
  readonly #make: () => Json;

  constructor(make: () => Json) {
    super();
    this.#make = make;
  }

  make(): Json {
    return this.#make();
  }
}

/** A value kept as JSON text in bytes that nobody changes. */
export class Kept extends Lazy {
  readonly #bytes: Buffer;
  readonly #start: number;
  readonly #end: number;
  readonly #member: string | undefined;

  /** @param member the value is this member of the object that stands there, not the whole */
  constructor(bytes: Buffer, start: number, end: number, member?: string) {
    super();
    this.#bytes = bytes;
    this.#start = start;
    this.#end = end;
    this.#member = member;
  }

  override beginning(): string {
    if (this.#member !== undefined) return '';
    return this.#bytes.toString('latin1', this.#start, Math.min(this.#end, this.#start + BEGINNING));
  }

  make(): Json {
    const value = parseJson(unescapeMarks(this.#bytes.toString('utf8', this.#start, this.#end)));
    return this.#member === undefined ? value : ((value as Record<string, Json>)[this.#member] as Json);
  }
}

const sources = new WeakMap<object, (owner: object) => Lazy | undefined>();

/** A member whose value is made when it is read. Objects with the same such members share their layout. */
export function lazyMember<T extends object>(lazyOf: (owner: T) => Lazy | undefined): PropertyDescriptor {
  const get = function (this: T): Json | undefined {
    return lazyOf(this)?.get();
  };
  sources.set(get, lazyOf as (owner: object) => Lazy | undefined);
  return { get, enumerable: true, configurable: true };
}

/**
 * A member's value for whoever looks at very many of them once: what had to be parsed for it is not remembered, so that
 * it can go as soon as it is let go. (A value that was given out by reading the member lives at least until the running
 * job ends.)
 */
export function peek(owner: object, key: string): Json | undefined {
  const getter: unknown = Reflect.get(Object.getOwnPropertyDescriptor(owner, key) ?? {}, 'get');
  const lazyOf = typeof getter === 'function' ? sources.get(getter) : undefined;
  return lazyOf ? lazyOf(owner)?.make() : (owner as Record<string, Json>)[key];
}

/** A member of an event's data that was left out of it, because it is large. */
export interface Large {
  readonly key: 'input' | 'output';
  readonly value: Lazy;
}

/** The member that is large in events of a type, if any is. */
export function largeMemberOf(type: string): Large['key'] | undefined {
  return type === 'step.finished' ? 'output' : type === 'step.started' ? 'input' : undefined;
}
