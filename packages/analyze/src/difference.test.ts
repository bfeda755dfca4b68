import fc from 'fast-check';
import { expect, test } from 'vitest';
import { firstDifference } from './difference.ts';
import { follow } from './pointer.ts';

const raw = (digits: string): unknown =>
  (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(digits);

test('the first difference is named by its pointer with both values', () => {
  const recorded = {
    rows: [
      { id: 1, amount: 12.5 },
      { id: 2, amount: 7 },
    ],
    page: 1,
  };
  const actual = {
    page: 1,
    rows: [
      { id: 1, amount: 12.5 },
      { id: 2, amount: '7' },
    ],
  };
  expect(firstDifference(recorded, actual)).toEqual({ path: '/rows/1/amount', expected: 7, actual: '7' });
});

test('a missing or an added member is a difference at its own place', () => {
  expect(firstDifference({ a: 1, b: 2 }, { a: 1 })).toEqual({ path: '/b', expected: 2, actual: undefined });
  expect(firstDifference({ a: 1 }, { a: 1, 'x/y': null })).toEqual({
    path: '/x~1y',
    expected: undefined,
    actual: null,
  });
  expect(firstDifference([1], [1, 2])).toEqual({ path: '/1', expected: undefined, actual: 2 });
});

test('the names of Object.prototype are ordinary members', () => {
  const own = JSON.parse('{"__proto__": 1, "toString": 2}') as unknown;
  expect(firstDifference(own, {})).toMatchObject({ path: '/__proto__', expected: 1, actual: undefined });
  expect(firstDifference({}, JSON.parse('{"toString": 2}'))).toMatchObject({ path: '/toString', actual: 2 });
});

test('digits beyond a double are compared as written', () => {
  const id = raw('9007199254740993');
  expect(firstDifference({ id }, { id: raw('9007199254740993') })).toBeNull();
  expect(firstDifference({ id }, { id: 9007199254740992 })).toMatchObject({ path: '/id' });
  expect(firstDifference({ id }, { id: '9007199254740993' })).toMatchObject({ path: '/id' });
  expect(firstDifference(raw('5'), 5)).toBeNull();
});

test('a value equals its copy, whatever the order of its members', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(firstDifference(value, reversed(value))).toBeNull();
    }),
  );
});

test('a difference that is reported is there', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      const found = firstDifference(a, b);
      if (found === null) {
        expect(a).toEqual(b);
      } else {
        expect(follow(a, found.path)).toEqual(found.expected);
        expect(follow(b, found.path)).toEqual(found.actual);
        expect(found.expected).not.toEqual(found.actual);
      }
    }),
  );
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, reversed(item)]),
  );
}
