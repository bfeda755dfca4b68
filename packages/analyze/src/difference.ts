/**
 * The first place where two JSON values differ.
 *
 * The order of members does not count; digits that a double cannot hold do. Equal values yield null, always.
 */
import type { Json } from '@chassis/types';
import { pointer } from './pointer.ts';
import { rawNumber } from './raw.ts';

export interface Difference {
  /** JSON Pointer to the first difference. */
  readonly path: string;
  /** `undefined` where there is nothing at that place. */
  readonly expected: Json | undefined;
  readonly actual: Json | undefined;
}

/**
 * @param expected the recorded value
 * @param actual the value that came instead
 * @returns the first difference in the order of `expected`, members that only `actual` has last; null when equal
 */
export function firstDifference(expected: unknown, actual: unknown, at = ''): Difference | null {
  if (expected === actual) return null;
  const raw = rawNumber(expected);
  const rawActual = rawNumber(actual);
  if (raw !== undefined || rawActual !== undefined) {
    return digits(expected, raw) === digits(actual, rawActual) ? null : differ(at, expected, actual);
  }
  if (Array.isArray(expected) && Array.isArray(actual)) {
    const length = Math.max(expected.length, actual.length);
    for (let index = 0; index < length; index++) {
      const path = at + pointer(index);
      if (index >= expected.length || index >= actual.length)
        return differ(path, expected[index], actual[index]);
      const found = firstDifference(expected[index], actual[index], path);
      if (found) return found;
    }
    return null;
  }
  if (isObject(expected) && isObject(actual)) {
    for (const key of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
      const found = firstDifference(own(expected, key), own(actual, key), at + pointer(key));
      if (found) return found;
    }
    return null;
  }
  return differ(at, expected, actual);
}

function differ(path: string, expected: unknown, actual: unknown): Difference {
  return { path, expected: expected as Json | undefined, actual: actual as Json | undefined };
}

/** What `JSON.stringify` writes for a number, so that `JSON.rawJSON('5')` equals 5 and no string equals a number. */
function digits(value: unknown, raw: string | undefined): string | undefined {
  return raw ?? (typeof value === 'number' ? JSON.stringify(value) : undefined);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function own(value: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}
