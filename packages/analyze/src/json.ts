/**
 * JSON values as this package looks at them: the leaves with their places, one canonical text, equality.
 *
 * A number that a double cannot hold comes as a `JSON.rawJSON` value and is compared by the digits it was written with.
 */
import type { Json } from '@chassis/types';
import { pointer } from './pointer.ts';
import { rawNumber } from './raw.ts';

/** A string, number, boolean or null with its place. */
export interface Leaf {
  readonly pointer: string;
  readonly value: Json;
  /** The string itself, or the number's or word's JSON text. */
  readonly text: string;
}

/** The text of a leaf; `undefined` for arrays and objects. */
export function leafText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return JSON.stringify(value);
  return rawNumber(value);
}

/** Whether a leaf is a number, written in full or as a double. */
export function isNumber(value: unknown): boolean {
  return typeof value === 'number' || rawNumber(value) !== undefined;
}

/** `object`, `array`, `string`, `number`, `boolean`, `null`: the words of JSON Schema. */
export function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return isNumber(value) ? 'number' : typeof value;
}

/** Every leaf of a value, in the order in which it is written. */
export function leavesOf(value: unknown, at = ''): Leaf[] {
  const leaves: Leaf[] = [];
  collect(value, at, leaves);
  return leaves;
}

let newest: readonly { readonly output: unknown; readonly leaves: readonly Leaf[] }[] = [];
const mostRemembered = 2;

/** The leaves of a result. Each is looked at by one rule after the other, as recorded and with its texts opened: both are at hand. */
export function outputLeaves(output: unknown): readonly Leaf[] {
  const known = newest.find((one) => one.output === output);
  if (known && typeof output === 'object') return known.leaves;
  const leaves = leavesOf(output, '/output');
  newest = [{ output, leaves }, ...newest.slice(0, mostRemembered - 1)];
  return leaves;
}

function collect(value: unknown, at: string, leaves: Leaf[]): void {
  const text = leafText(value);
  if (text !== undefined) {
    leaves.push({ pointer: at, value: value as Json, text });
  } else if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) collect(value[index], `${at}/${index}`, leaves);
  } else if (typeof value === 'object' && value !== null) {
    for (const key of Object.keys(value)) {
      collect((value as Record<string, unknown>)[key], at + pointer(key), leaves);
    }
  }
}

/** JSON text with sorted keys: equal values have equal text. */
export function canonical(value: unknown): string {
  const text = rawNumber(value);
  if (text !== undefined) return text;
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`);
    return `{${members.join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}

/** The value of a JSON text, or `undefined` when it is none. Only objects and arrays count as documents. */
export function parseDocument(text: string): Json | undefined {
  const first = text.trimStart()[0];
  if (first !== '{' && first !== '[') return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
