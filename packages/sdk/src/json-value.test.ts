import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonValue } from './json-value.ts';

const { rawJSON } = JSON as unknown as { rawJSON(this: void, text: string): unknown };

function refusal(value: unknown): { path: string; message: string } {
  try {
    jsonValue(value);
  } catch (error) {
    return { path: (error as { data: { path: string } }).data.path, message: (error as Error).message };
  }
  throw new Error('was taken');
}

describe('a value on its way out of a plugin', () => {
  test('is copied exactly, whatever JSON it is', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const copy = jsonValue(value);
        expect(JSON.stringify(copy)).toBe(JSON.stringify(value));
      }),
    );
  });

  test('shares nothing with the plugin', () => {
    const value = { rows: [{ a: 1 }] };
    const copy = jsonValue(value) as typeof value;
    (value.rows[0] as { a: number }).a = 2;
    expect(copy).toEqual({ rows: [{ a: 1 }] });
  });

  test('keeps exact numbers, null prototypes, instances without toJSON, and a key named __proto__', () => {
    class Point {
      x = 1;
    }
    const odd = Object.assign(Object.create(null) as object, {
      id: rawJSON('9007199254740993'),
      p: new Point(),
    });
    expect(JSON.stringify(jsonValue(odd))).toBe('{"id":9007199254740993,"p":{"x":1}}');
    expect(JSON.stringify(jsonValue(JSON.parse('{"__proto__":{"a":1}}')))).toBe('{"__proto__":{"a":1}}');
  });

  test('that is the same object twice is no cycle', () => {
    const shared = { a: 1 };
    expect(jsonValue([shared, shared])).toEqual([{ a: 1 }, { a: 1 }]);
  });

  test('of undefined at the top means nothing', () => {
    expect(jsonValue(undefined)).toBeNull();
  });

  const cycle: Record<string, unknown> = {};
  cycle.a = { b: [cycle] };
  let deep: unknown = 1;
  for (let i = 0; i < 600; i++) deep = [deep];
  test.each([
    ['NaN', { rows: [1, Number.NaN] }, '/rows/1', 'NaN'],
    ['Infinity', Number.POSITIVE_INFINITY, '', 'Infinity'],
    ['undefined', { a: { 'b/c': undefined } }, '/a/b~1c', 'undefined'],
    ['a hole', Object.assign([1], { 2: 3 }), '/1', 'undefined'],
    ['BigInt', { id: 1n }, '/id', 'BigInt'],
    ['a cycle', cycle, '/a/b/0', 'contains itself'],
    ['a Date', { at: new Date(0) }, '/at', 'a Date'],
    ['a Map', new Map([[1, 2]]), '', 'a Map'],
    ['bytes', { x: new Uint8Array(2) }, '/x', 'a Uint8Array'],
    ['a function', { f: () => 1 }, '/f', 'a function'],
    ['a symbol', [Symbol('x')], '/0', 'a symbol'],
    ['an Error', { e: new Error('x') }, '/e', 'a Error'],
    ['a promise', { p: Promise.resolve(1) }, '/p', 'a Promise'],
    ['deep nesting', deep, `${'/0'.repeat(512)}`, 'nested deeper than 512'],
  ])('is refused with its path: %s', (_what, value, path, message) => {
    const refused = refusal(value);
    expect(refused.path).toBe(path);
    expect(refused.message).toContain(message);
  });
});
