import fc from 'fast-check';
import { expect, test } from 'vitest';
import { datesIn } from './dates.ts';
import { locate, textLeaves } from './json-text.ts';
import { findExact, type Match, matches, otherForms } from './match.ts';
import { numberReadings, numbersIn } from './numbers.ts';

const findOtherForm = (needle: string, text: string): Match | undefined => otherForms(needle)(text);

test('one number in the spellings of five countries', () => {
  for (const text of [
    '1249.9',
    '1249.90',
    '1.249,90',
    '1,249.90',
    "1'249.90",
    '1 249,90',
    '1249,90',
    '1.2499e3',
  ]) {
    expect([...numberReadings(text)], text).toContain('1249.9');
  }
  expect([...numberReadings('1,249')]).toEqual(expect.arrayContaining(['1249', '1.249']));
  expect(numberReadings('1.249.90').size).toBe(0);
  expect(numberReadings('N/A').size).toBe(0);
});

test('long ids that one double would stand for are two numbers', () => {
  expect(matches('number', '9007199254740993', '9007199254740992')).toBe(false);
});

test('numbers are found between currency signs and units, never inside words', () => {
  expect(
    numbersIn('Total: €1.249,90 for 12kg, ref A17x9').map(({ range }) =>
      'Total: €1.249,90 for 12kg, ref A17x9'.slice(...range),
    ),
  ).toEqual(['1.249,90', '12']);
});

test('a text is not found inside a longer word or number', () => {
  expect(findExact('249.90', 'costs 1249.90')).toBeUndefined();
  expect(findExact('12', 'costs 12.5')).toBeUndefined();
  expect(findExact('12', 'minus -12')).toBeUndefined();
  expect(findExact('order', 'reorder orders')).toBeUndefined();
  expect(findExact('order', 'an order.')).toEqual({ form: 'exact', range: [3, 8] });
  expect(findExact('上海', '我在上海市')).toEqual({ form: 'exact', range: [2, 4] });
});

test('the other forms: number, date, spelling, path, percent-encoding, base64', () => {
  expect(findOtherForm('1249.9', 'it was 1.249,90 EUR')?.form).toBe('number');
  expect(findOtherForm('2026-03-01', 'on 1 March 2026')).toEqual({ form: 'date', range: [3, 15] });
  expect(findOtherForm('2026-03-01', 'on 01.03.2026')?.form).toBe('date');
  expect(findOtherForm('Hello World', 'hello\n   world!')).toEqual({ form: 'spelling', range: [0, 14] });
  expect(findOtherForm('/srv/data/a.txt', 'file:///srv/./data//a.txt')?.form).toBe('path');
  expect(findOtherForm('Zürich West', 'https://x.y/?q=Z%C3%BCrich%20West&n=1')).toEqual({
    form: 'url',
    range: [15, 33],
  });
  expect(findOtherForm('secret word', 'token c2VjcmV0IHdvcmQ= here')?.form).toBe('base64');
  expect(findOtherForm('1249.9', 'it was 1.249,91 EUR')).toBeUndefined();
  expect(findOtherForm('2026-03-01', 'on 2026-03-02')).toBeUndefined();
});

test('a day that does not exist is no date', () => {
  expect(datesIn('31.02.2026')).toEqual([]);
});

test('whatever is found is confirmed by the judge', () => {
  const needles = fc.oneof(
    fc.string({ minLength: 1, maxLength: 16 }),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  );
  const texts = fc.array(
    fc.oneof(needles, fc.constantFrom(' ', '%20', '/', 'c2VjcmV0IHdvcmQ=', '1.249,90', '01.03.2026')),
    { maxLength: 6 },
  );
  fc.assert(
    fc.property(needles, texts, (needle, parts) => {
      for (const text of [parts.join(''), [...parts, needle].join(' ')]) {
        for (const found of [findExact(needle, text), findOtherForm(needle, text)]) {
          if (found)
            expect(
              matches(found.form, needle, text.slice(...found.range)),
              JSON.stringify([needle, text, found]),
            ).toBe(true);
        }
      }
    }),
    { numRuns: 2000 },
  );
});

test('every leaf of a JSON text is found where it is written', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue())),
      fc.constantFrom(undefined, 2),
      (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        for (const leaf of textLeaves(text)) {
          const written = text.slice(...leaf.range);
          expect(leaf.quoted ? (JSON.parse(`"${written}"`) as unknown) : written).toBe(leaf.text);
          expect(locate(text, leaf.pointer)).toEqual(leaf);
        }
      },
    ),
  );
});
