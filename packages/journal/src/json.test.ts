import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isExactNumber, parseJson, plainNumbers, stringifyJson } from './json.ts';

const text = (): fc.Arbitrary<string> =>
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((c) => String.fromCharCode(c)) });
const anyJson = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constant(null),
    fc.boolean(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.bigInt().map((n) => parseJson(String(n))),
    text(),
    fc.array(tie('value')),
    fc.dictionary(fc.oneof(text(), fc.constant('__proto__'), fc.constant('$blob')), tie('value')),
  ),
})).value;

test('any value comes back exactly, −0, lone surrogates, __proto__ and 64-bit numbers included', () => {
  fc.assert(
    fc.property(anyJson, (value) => {
      const written = stringifyJson(value);
      expect(written).not.toMatch(/[\n\u0085\u2028\u2029]/);
      const read = parseJson(written);
      expect(stringifyJson(read)).toBe(written);
      expect(JSON.stringify(read)).toBe(JSON.stringify(value));
    }),
    { numRuns: 500 },
  );
});

test('a number that a double cannot hold is kept as it was written', () => {
  const source =
    '{"id":9007199254740993,"tiny":1e-400,"long":0.1000000000000000055511151231257827,"big":1e400}';
  const value = parseJson(source);
  expect(stringifyJson(value)).toBe(source);
  expect(plainNumbers(value)).toEqual({
    id: 9007199254740992,
    tiny: 0,
    long: 0.1,
    big: Number.POSITIVE_INFINITY,
  });
});

test('numbers that a double holds stay plain numbers, however they were written', () => {
  const value = parseJson(
    '[1.0, 1e3, 1.0000000000000000000, 0.1, 12345678901234567000, -0, 100000000000000000000]',
  ) as number[];
  expect(value).toEqual([1, 1000, 1, 0.1, 12345678901234567000, -0, 1e20]);
  expect(value.some((item) => isExactNumber(item))).toBe(false);
});

test('values without an exact number are returned as they are', () => {
  const value = { a: [1, { b: 'x' }] };
  expect(plainNumbers(value)).toBe(value);
});

test.each([
  ['undefined', { a: [1, { 'b/c': undefined }] }, '/a/1/b~1c', 'undefined'],
  ['NaN', [Number.NaN], '/0', 'NaN'],
  ['Infinity', { x: -Infinity }, '/x', '-Infinity'],
  ['a BigInt', { x: 1n }, '/x', 'BigInt'],
  ['a function', { x: () => 1 }, '/x', 'function'],
  ['a Date', { when: new Date(0) }, '/when', 'instance of Date'],
  ['a Map', new Map(), 'the root', 'instance of Map'],
  ['a hole', new Array(2), '/0', 'undefined'],
])('%s is refused with its path', (_name, value, path, reason) => {
  expect(() => stringifyJson(value)).toThrow(expect.objectContaining({ name: 'InvalidOutput' }));
  expect(() => stringifyJson(value)).toThrow(path);
  expect(() => stringifyJson(value)).toThrow(reason);
});

test('a cycle and a too deep value are told apart', () => {
  const cycle: Record<string, unknown> = { a: {} };
  cycle.a = { back: cycle };
  expect(() => stringifyJson(cycle)).toThrow('/a/back is a cycle');
  let deep: unknown = 1;
  for (let i = 0; i < 513; i++) deep = [deep];
  expect(() => stringifyJson(deep)).toThrow('deeper than 512');
  expect(stringifyJson((deep as unknown[])[0])).toContain('[1]');
});

test('an object of another realm is an object', async () => {
  const { runInNewContext } = await import('node:vm');
  expect(stringifyJson(runInNewContext('({a: [1, {b: 2}]})'))).toBe('{"a":[1,{"b":2}]}');
});
