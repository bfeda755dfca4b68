/**
 * JSON, exactly: a number that a double cannot hold is carried as a `JSON.rawJSON` value and written as it was read,
 * and a value that JSON would change or drop is refused with its path.
 *
 * Promise: `parseJson(stringifyJson(x))` is `x`, also for −0, lone surrogates and a member named `__proto__`; the text
 * holds none of U+2028, U+2029, U+0085, so no line reader of any language splits it.
 */
import { ChassisError } from '@chassis/errors';
import type { Json, JsonObject } from '@chassis/types';

/** Deepest nesting of arrays and objects in a value. */
const MAX_DEPTH = 512;

/** Digits and dots in a row from which on a number may not survive a double. */
const LONG_RUN = 16;
const EXPONENT = /[eE][+-]?\d+/y;
const NUMBER = /^\d+(?:\.\d+)?(?:[eE]|$)/;
/** A cheap look for exponents of three digits and more; a hash in the text gives false alarms. */
const MAYBE_HUGE = /[eE][+-]?\d{3}/;
/** What follows a number tells it from the middle of a hash or a word. */
const HUGE_EXPONENT = /\d[eE][+-]?\d{3,}(?:[\s,\]}]|$)/;

interface RawJson {
  readonly rawJSON: string;
}
// Part of the language since 2025; the type library does not have it yet.
const { rawJSON, isRawJSON } = JSON as unknown as {
  rawJSON(this: void, text: string): RawJson;
  isRawJSON(this: void, value: unknown): value is RawJson;
};
type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown;

const { hasOwnProperty: isOwn } = Object.prototype as unknown as {
  hasOwnProperty(this: void, key: string): boolean;
};

/** Whether a value is a number kept as it was written. */
export function isExactNumber(value: unknown): value is RawJson {
  return isRawJSON(value);
}

/** A number kept as it was written, for `JSON.stringify` to write out unchanged. */
export function exactNumber(literal: string): Json {
  return rawJSON(literal) as unknown as Json;
}

/**
 * Parses JSON text. Numbers whose decimal value a double cannot hold come as `JSON.rawJSON` values.
 * @throws SyntaxError when the text is no JSON
 */
export function parseJson(text: string): Json {
  if (!hasExactNumber(text)) return JSON.parse(text) as Json;
  const reviver: Reviver = (_key, value, context) =>
    typeof value === 'number' && context.source !== undefined && !survives(context.source, value)
      ? rawJSON(context.source)
      : value;
  return JSON.parse(text, reviver as (key: string, value: unknown) => unknown) as Json;
}

/**
 * Whether a number in the text may not survive a double; only such a text is worth the slow way of parsing. A long number
 * covers a place that is a multiple of its length: all others need not be looked at.
 */
function hasExactNumber(text: string): boolean {
  for (let at = LONG_RUN - 1; at < text.length; at += LONG_RUN) {
    if (!isDigitOrDot(text.charCodeAt(at))) continue;
    let start = at;
    while (start > 0 && isDigitOrDot(text.charCodeAt(start - 1))) start--;
    let end = at + 1;
    while (end < text.length && isDigitOrDot(text.charCodeAt(end))) end++;
    if (end - start >= LONG_RUN && isExactAt(text, start, end)) return true;
    // The next long number ends at least its length behind this one.
    at = end - 1;
  }
  return MAYBE_HUGE.test(text) && HUGE_EXPONENT.test(text);
}

function isDigitOrDot(code: number): boolean {
  return code <= 57 && (code >= 48 || code === 46);
}

/** Most suspects are doubles written with all their digits. */
function isExactAt(text: string, start: number, end: number): boolean {
  let last = end;
  if (text[end] === 'e' || text[end] === 'E') {
    EXPONENT.lastIndex = end;
    last += EXPONENT.exec(text)?.[0].length ?? 0;
  }
  // What goes on otherwise is the middle of a hash or of a word.
  if (last < text.length && !' \t\n\r,]}'.includes(text[last] as string)) return false;
  const literal = text.slice(start, last);
  const value = Number(literal);
  return String(value) !== literal && NUMBER.test(literal) && !survives(literal, value);
}

function survives(source: string, value: number): boolean {
  if (!Number.isFinite(value)) return false;
  const written = String(value);
  return source === written || decimal(source) === decimal(written);
}

/** A number literal as its significant digits and the power of ten of the last one, so that equal values are equal text. */
function decimal(literal: string): string {
  const [mantissa = '', exponent = '0'] = literal.toLowerCase().replace('-', '').split('e');
  const sign = literal.startsWith('-') ? '-' : '';
  const negative = literal.toLowerCase().split('e')[1]?.startsWith('-') ?? false;
  const power = Number(exponent.replace(/[+-]/, '')) * (negative ? -1 : 1);
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  return `${sign}${significant}e${power - fraction.length + digits.length - significant.length}`;
}

/**
 * Writes a value as JSON text. −0 is kept as `-0`.
 * @throws ChassisError InvalidOutput naming the JSON path, for undefined, NaN, Infinity, BigInt, functions, symbols,
 *   instances of classes (a Date, a Map), holes in arrays, cycles, and nesting deeper than 512
 */
export function stringifyJson(value: unknown): string {
  const check = new JsonCheck(value);
  check.check(value);
  return escapeSeparators(serialise(value as Json, check.negativeZero));
}

/** `JSON.stringify` of a checked value. */
export function serialise(value: Json, negativeZero: boolean): string {
  if (!negativeZero) return JSON.stringify(value);
  return JSON.stringify(value, (_key, member: unknown) =>
    member === 0 && Object.is(member, -0) ? rawJSON('-0') : member,
  );
}

/** Escapes the three characters that some line readers take for the end of a line. */
export function escapeSeparators(text: string): string {
  if (!text.includes('\u2028') && !text.includes('\u2029') && !text.includes('\u0085')) return text;
  return text.replace(/[\u2028\u2029\u0085]/g, (character) =>
    character === '\u0085' ? '\\u0085' : character === '\u2028' ? '\\u2028' : '\\u2029',
  );
}

/** What a copy found on its way; each costs its owner a second look. */
export interface JsonCopy {
  readonly value: Json;
  readonly negativeZero: boolean;
  /** An object whose only member is `$blob`, `$$blob`, …: a reference, or user data that looks like one. */
  readonly blobs: boolean;
}

/** An object's only member that looks like a blob reference. */
export const BLOB_MEMBER = /^\$+blob$/;

/**
 * A checked deep copy (arrays and objects are new, strings shared), so that nobody changes afterwards what is on record.
 * @throws ChassisError InvalidOutput as `stringifyJson` does
 */
export function copyJson(root: unknown): JsonCopy {
  let negativeZero = false;
  let blobs = false;
  const walk = (value: unknown, depth: number): Json => {
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return value;
      case 'number':
        if (value === 0) negativeZero ||= Object.is(value, -0);
        else if (!Number.isFinite(value)) throw refusal(root);
        return value;
      case 'object': {
        if (value === null || isRawJSON(value)) return value as unknown as Json;
        if (depth >= MAX_DEPTH) throw refusal(root);
        if (Array.isArray(value)) {
          const list: Json[] = [];
          for (let i = 0; i < value.length; i++) list.push(walk(value[i], depth + 1));
          return list;
        }
        if (!isPlain(value)) throw refusal(root);
        const copy: Record<string, Json> = {};
        let count = 0;
        let last = '';
        for (const key in value) {
          if (!Object.hasOwn(value, key)) continue;
          const member = walk((value as Record<string, unknown>)[key], depth + 1);
          setMember(copy, key, member);
          count++;
          last = key;
        }
        if (count === 1 && last.startsWith('$')) blobs ||= BLOB_MEMBER.test(last);
        return copy;
      }
      default:
        throw refusal(root);
    }
  };
  return { value: walk(root, 0), negativeZero, blobs };
}

/** A deep copy of a value that was checked. */
function checkedCopy(value: Json): Json {
  if (typeof value !== 'object' || value === null || isRawJSON(value)) return value;
  return Array.isArray(value) ? value.map(checkedCopy) : copyMembers({ ...(value as JsonObject) });
}

/** Puts deep copies of an object's members in their place; they were checked. */
export function copyMembers(object: { [key: string]: Json }): JsonObject {
  for (const key in object) {
    const member = object[key] as Json;
    if (typeof member === 'object' && member !== null) object[key] = checkedCopy(member);
  }
  return object;
}

/**
 * Checks that values can be JSON, without copying them, and notes what it meets on the way.
 *
 * @throws ChassisError InvalidOutput as `stringifyJson` does
 */
export class JsonCheck {
  negativeZero = false;
  /** Whether there are objects that look like blob references and are none. */
  lookAlikes = false;
  /** Whether there are references. */
  refs = false;
  /** About how long the text of what was checked is; no less than a fraction of it. */
  weight = 0;
  readonly #root: unknown;
  readonly #isRef: (value: object) => boolean;

  /**
   * @param root what the paths in messages start from
   * @param isRef tells references from objects that only look like one
   */
  constructor(root: unknown, isRef: (value: object) => boolean = () => false) {
    this.#root = root;
    this.#isRef = isRef;
  }

  /** @param depth how deep in the root the value is */
  check(value: unknown, depth = 0): void {
    switch (typeof value) {
      case 'string':
        this.weight += value.length + 2;
        return;
      case 'number':
        this.weight += 4;
        if (value === 0) this.negativeZero ||= Object.is(value, -0);
        else if (!Number.isFinite(value)) throw refusal(this.#root);
        return;
      case 'boolean':
        this.weight += 5;
        return;
      case 'object':
        this.weight += 4;
        if (value === null) return;
        if (depth >= MAX_DEPTH && !isRawJSON(value)) throw refusal(this.#root);
        if (Array.isArray(value)) for (let i = 0; i < value.length; i++) this.check(value[i], depth + 1);
        else if (isPlain(value)) this.#members(value as Record<string, unknown>, depth);
        else throw refusal(this.#root);
        return;
      default:
        throw refusal(this.#root);
    }
  }

  #members(value: Record<string, unknown>, depth: number): void {
    let count = 0;
    let last = '';
    for (const key in value) {
      // Every value passes here, and this spelling is the one that compiles to nothing.
      if (!isOwn.call(value as never, key)) continue;
      this.weight += key.length + 4;
      this.check(value[key], depth + 1);
      count++;
      last = key;
    }
    if (count !== 1 || !last.startsWith('$') || !BLOB_MEMBER.test(last)) return;
    if (this.#isRef(value)) this.refs = true;
    else this.lookAlikes = true;
  }
}

/** Sets an own member of a new object, whatever its name; plain assignment of `__proto__` would set the prototype instead. */
export function setMember(target: object, key: string, value: unknown): void {
  if (key !== '__proto__') (target as Record<string, unknown>)[key] = value;
  else Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

/** Plain means that nothing but own members is lost; objects of another realm have another `Object.prototype`. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Walks again, now keeping the path, and says what cannot be JSON and where. */
function refusal(root: unknown): ChassisError {
  const fail = (path: string, what: string): ChassisError =>
    new ChassisError(
      'InvalidOutput',
      `the value at ${path === '' ? 'the root' : path} is ${what}, which JSON cannot hold`,
      {
        data: { path, reason: what },
      },
    );
  const open = new Set<object>();
  const walk = (value: unknown, path: string): ChassisError | undefined => {
    if (value === undefined) return fail(path, 'undefined');
    if (typeof value === 'number' && !Number.isFinite(value)) return fail(path, String(value));
    if (typeof value === 'bigint') return fail(path, 'a BigInt');
    if (typeof value === 'function' || typeof value === 'symbol') return fail(path, `a ${typeof value}`);
    if (typeof value !== 'object' || value === null || isRawJSON(value)) return undefined;
    if (open.has(value)) return fail(path, 'a cycle');
    if (open.size >= MAX_DEPTH) return fail(path, `nested deeper than ${MAX_DEPTH}`);
    const isArray = Array.isArray(value);
    if (!isArray && !isPlain(value)) {
      const name = (value as { constructor?: { name?: string } }).constructor?.name;
      return fail(path, `an instance of ${name || 'a class'}`);
    }
    open.add(value);
    const keys = isArray ? [...value.keys()] : Object.keys(value);
    for (const key of keys) {
      const member = (value as Record<string | number, unknown>)[key];
      const found = walk(member, `${path}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`);
      if (found) return found;
    }
    open.delete(value);
    return undefined;
  };
  return walk(root, '') ?? fail('', 'of a kind');
}

/** The value with every exact number turned into the nearest double; the value itself when there is none. */
export function plainNumbers(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (isRawJSON(value)) return Number(value.rawJSON);
  let changed = false;
  if (Array.isArray(value)) {
    const list = value.map((item: Json) => {
      const plain = plainNumbers(item);
      changed ||= plain !== item;
      return plain;
    });
    return changed ? list : value;
  }
  const copy: Record<string, Json> = {};
  for (const [key, member] of Object.entries(value)) {
    const plain = plainNumbers(member);
    changed ||= plain !== member;
    setMember(copy, key, plain);
  }
  return changed ? copy : value;
}
