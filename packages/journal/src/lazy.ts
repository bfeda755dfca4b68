/**
 * Values that are kept as the text they were logged as and parsed when somebody looks.
 *
 * A run's outputs are looked at rarely; as text they cost memory once and the garbage collector nearly nothing. A value
 * that is in use is parsed once: while anybody holds it, the same one is given out.
 */
import type { Json } from '@chassis/types';

const parsers = new WeakMap<object, () => Json>();

/** Text shorter than this is not worth the trouble. */
export const LAZY_LENGTH = 512;

/** Defines an enumerable member whose value comes from `parse`. */
export function lazyMember(target: object, key: string, parse: () => Json): void {
  let held: WeakRef<object> | undefined;
  const get = (): Json => {
    const known = held?.deref();
    if (known !== undefined) return known as Json;
    const value = parse();
    if (typeof value === 'object' && value !== null) held = new WeakRef(value);
    return value;
  };
  parsers.set(get, parse);
  Object.defineProperty(target, key, { get, enumerable: true, configurable: true });
}

/**
 * A member's value for whoever looks at very many of them once: what had to be parsed for it is not remembered, so that
 * it can go as soon as it is let go. (A value that was given out by reading the member lives at least until the running
 * job ends.)
 */
export function peek(source: object, key: string): Json | undefined {
  const getter: unknown = Reflect.get(Object.getOwnPropertyDescriptor(source, key) ?? {}, 'get');
  const parse = typeof getter === 'function' ? parsers.get(getter) : undefined;
  return parse ? parse() : (source as Record<string, Json>)[key];
}

/** A member as a function, without looking at its value yet. */
export function memberOf(source: object, key: string): () => Json {
  if (isLazy(source, key)) return () => (source as Record<string, Json>)[key] as Json;
  const value = (source as Record<string, Json>)[key] as Json;
  return () => value;
}

/** Whether reading a member would parse it. */
export function isLazy(source: object, key: string): boolean {
  return Object.getOwnPropertyDescriptor(source, key)?.get !== undefined;
}

/** What a logged request says about its messages, known without parsing it again. */
export interface DeltaHead {
  readonly from: number | null;
  readonly keep: number;
  /** How many messages it adds. */
  readonly added: number;
  /** The length of their contents together. */
  readonly chars: number;
}

const heads = new WeakMap<object, DeltaHead>();

/** Remembers the head of the request that an event's data holds as text. */
export function keepHead(data: object, input: unknown): void {
  const head = headIn(input);
  if (head !== undefined) heads.set(data, head);
}

/** The head of the request in an event's data; undefined when it is kept as text and nobody looked before. */
export function headOf(data: object): DeltaHead | undefined {
  return heads.get(data) ?? (isLazy(data, 'input') ? undefined : headIn((data as { input?: unknown }).input));
}

function headIn(input: unknown): DeltaHead | undefined {
  const { from, keep, add } = ((input as { messages?: object } | null)?.messages ?? {}) as {
    [key: string]: unknown;
  };
  if ((from !== null && typeof from !== 'number') || typeof keep !== 'number' || !Array.isArray(add))
    return undefined;
  return { from, keep, added: add.length, chars: charsOf(add as readonly { content?: unknown }[]) };
}

/** The length of the contents of some messages. */
export function charsOf(messages: readonly { readonly content?: unknown }[]): number {
  return messages.reduce((sum, { content }) => sum + (typeof content === 'string' ? content.length : 0), 0);
}
