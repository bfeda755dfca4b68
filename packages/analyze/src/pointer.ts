/** JSON Pointer (RFC 6901): built, taken apart, followed. Never throws: a pointer that leads nowhere yields `undefined`. */
import type { Json } from '@chassis/types';
import { rawNumber } from './raw.ts';

/** The pointer of a list of member names and array indices. */
export function pointer(...keys: readonly (string | number)[]): string {
  return keys.map((key) => `/${typeof key === 'number' ? key : escaped(key)}`).join('');
}

function escaped(key: string): string {
  return /[~/]/.test(key) ? key.replaceAll('~', '~0').replaceAll('/', '~1') : key;
}

function unescaped(key: string): string {
  return key.includes('~') ? key.replaceAll('~1', '/').replaceAll('~0', '~') : key;
}

/** The member names and indices of a pointer; `''` is the whole document. */
export function keysOf(path: string): string[] {
  if (path === '') return [];
  return path.slice(1).split('/').map(unescaped);
}

/** The last member name or index of a pointer. */
export function lastKey(path: string): string {
  return unescaped(path.slice(path.lastIndexOf('/') + 1));
}

/** The value that a pointer leads to. */
export function follow(value: unknown, path: string): Json | undefined {
  let at: unknown = value;
  for (const key of keysOf(path)) {
    if (Array.isArray(at)) {
      at = /^(?:0|[1-9]\d*)$/.test(key) ? at[Number(key)] : undefined;
    } else if (typeof at === 'object' && at !== null && rawNumber(at) === undefined) {
      at = Object.hasOwn(at, key) ? (at as Record<string, unknown>)[key] : undefined;
    } else {
      return undefined;
    }
  }
  return at as Json | undefined;
}

/** The nearest name above a value: array indices are no names (`/amounts/4` is one of the `amounts`). */
export function nameOf(path: string): string {
  let end = path.length;
  while (end > 0) {
    const start = path.lastIndexOf('/', end - 1);
    const key = path.slice(start + 1, end);
    if (!/^\d+$/.test(key)) return unescaped(key);
    end = start;
  }
  return '';
}

/** The pointer one level up. */
export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** The pointer with every array index replaced by `*`: the shape of a place, the same for all rows. */
export function shapeOf(path: string): string {
  return path.replaceAll(/\/\d+(?=\/|$)/g, '/*');
}
