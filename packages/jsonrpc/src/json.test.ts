import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isRawNumber, isTooDeep, isTooLong, mayBeDeep, mayHoldLongNumbers, parseExact } from './json.ts';

describe('numbers', () => {
  const written = (text: string) => JSON.stringify(parseExact(text));

  test.each([
    '9007199254740993',
    '-9007199254740993',
    '0.1000000000000000055511151231257827',
    '1e400',
    '-1E+999',
    '1e-400',
  ])('%s is kept exactly as it was written', (text) => {
    expect(isRawNumber(parseExact(text))).toBe(true);
    expect(written(`{"n":[${text}]}`)).toBe(`{"n":[${text}]}`);
  });

  test.each([
    ['zeros between digits', `0.1${'0'.repeat(1_000_000)}1`],
    ['zeros before an exponent', `1${'0'.repeat(300)}.${'0'.repeat(1_000_000)}1e-5`],
    ['a long exponent', `1e-${'9'.repeat(1_000_000)}`],
  ])('a long number costs no more than its length: %s', (_what, text) => {
    expect(isRawNumber(parseExact(text))).toBe(true); // quadratic, it would take minutes
  });

  test.each([`0.${'0'.repeat(400)}`, `-0e-${'9'.repeat(400)}`, `1e-${'0'.repeat(400)}7`])(
    'however it is written, what a double holds is an ordinary number',
    (text) => expect(parseExact(text)).toBe(Number(text)),
  );

  test.each([
    '0',
    '-1',
    '1.5',
    '1.50',
    '1e3',
    '0.30000000000000004',
    '9007199254740991',
    '1e21',
    '100000000000000000000',
  ])('%s survives a double and is an ordinary number', (text) => expect(parseExact(text)).toBe(Number(text)));

  test('whatever a double prints, a double reads', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (n) => parseExact(String(n)) === n),
    );
  });

  test('every whole number that a double changes is kept', () => {
    const changed = fc.bigInt({ min: 2n ** 53n, max: 2n ** 80n }).filter((n) => BigInt(Number(n)) !== n);
    fc.assert(fc.property(changed, (n) => written(`${n}`) === `${n}`));
  });
});

describe('a second look at the numbers', () => {
  const kept = [
    '9007199254740993',
    '-9007199254740993',
    '0.1000000000000000055511151231257827',
    '1e400',
    '-1E-999',
  ];
  const around = [
    (n: string) => n,
    (n: string) => `[${n},1]`,
    (n: string) => `[1,${n}]`,
    (n: string) => `{"a":${n}}`,
    (n: string) => `{"a" :\t${n} }`,
    (n: string) => `[1,\r\n${n}]`,
  ];
  test.each(around.flatMap((put) => kept.map((n) => put(n))))('is taken at %j', (text) => {
    expect(mayHoldLongNumbers(text)).toBe(true);
    expect(JSON.stringify(parseExact(text))).toBe(text.replace(/\s/g, ''));
  });

  test.each([
    `{"at":1764553795123,"id":"12e45678901234567890","share":0.25,"n":-123456789012345}`,
    `["a1e5", 99, true]`,
  ])('is not needed for %s', (text) => expect(mayHoldLongNumbers(text)).toBe(false));
});

describe('depth', () => {
  const nested = (n: number) => '['.repeat(n) + ']'.repeat(n);

  test('is counted exactly, and brackets inside strings do not count', () => {
    expect(isTooDeep(nested(512), 512)).toBe(false);
    expect(isTooDeep(nested(513), 512)).toBe(true);
    expect(isTooDeep(`["${'['.repeat(600)}","\\"${'{'.repeat(600)}"]`, 512)).toBe(false);
    expect(isTooDeep(`[${'[],'.repeat(600)}1]`, 512)).toBe(false);
  });

  test('no text that is exempt from the count can nest too deep', () => {
    expect(mayBeDeep(nested(512), 512)).toBe(false);
    expect(mayBeDeep(nested(513), 512)).toBe(true);
  });

  test('agrees with the depth of the parsed value', () => {
    const depth = (value: unknown): number =>
      typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depth)) : 0;
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
        const deepest = depth(value);
        const text = JSON.stringify(value);
        expect(isTooDeep(text, deepest)).toBe(false);
        if (deepest > 0) expect(isTooDeep(text, deepest - 1)).toBe(true);
      }),
    );
  });
});

test('length is counted in bytes of UTF-8', () => {
  expect(isTooLong('abc', 3)).toBe(false);
  expect(isTooLong('abcd', 3)).toBe(true);
  expect(isTooLong('éé', 3)).toBe(true);
  expect(isTooLong('漢', 3)).toBe(false);
});
