import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isCompactJson } from './json-bytes.ts';

const told = (text: string): boolean => isCompactJson(Buffer.from(text, 'latin1'));

test('what JSON.stringify writes is recognised', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      expect(isCompactJson(Buffer.from(JSON.stringify(value)))).toBe(true);
    }),
  );
});

test('"yes" is never wrong, whatever a byte was changed to', () => {
  const changed = fc.record({
    text: fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.stringify([value, 'a\\n\u00e9', -1.5e-7])),
    at: fc.nat(),
    byte: fc.oneof(
      fc.constantFrom(...'"\\{}[],:-+.0eEtu\u0000\u001f '.split('')),
      fc.string({ maxLength: 2 }),
    ),
    cut: fc.nat({ max: 1 }),
  });
  fc.assert(
    fc.property(changed, ({ text, at, byte, cut }) => {
      const bytes = Buffer.from(text).toString('latin1');
      const place = at % (bytes.length + 1);
      const candidate = bytes.slice(0, place) + byte + bytes.slice(place + cut);
      if (told(candidate)) JSON.parse(candidate);
    }),
    { numRuns: 3000 },
  );
});

test.each([
  '',
  '{',
  '"',
  '"\\',
  '"\\u12',
  '"a\u0001"',
  '"\\x"',
  '01',
  '-',
  '1.',
  '.5',
  '1e',
  '1e+',
  '+1',
  'tru',
  'nulll',
  '[1,]',
  '[,1]',
  '{"a"}',
  '{"a":}',
  '{"a":1,}',
  '{a:1}',
  '[1 2]',
  '1 1',
  '[1]]',
  '{"a":1}}',
  '\u00a0',
])('%j is no JSON', (text) => {
  expect(told(text)).toBe(false);
});

test('what a parser has to decide is left to it', () => {
  expect(told('[1, 2]')).toBe(false);
  expect(told(`${'['.repeat(5000)}${']'.repeat(5000)}`)).toBe(false);
  expect(told(`${'['.repeat(512)}1.5E+10${']'.repeat(512)}`)).toBe(true);
});
