import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { occurrences, replaceAll } from './replace.ts';

describe('replacing text', () => {
  test('keeps the line ends of everything that is not replaced', () => {
    const { text, lines } = replaceAll(
      'alpha\r\nbeta\r\ngamma\ndelta\r\nlast',
      'beta\ngamma',
      'BETA\nnew\ngamma',
    );
    expect(text).toBe('alpha\r\nBETA\r\nnew\r\ngamma\ndelta\r\nlast');
    expect(lines).toEqual([2]);
  });

  test('new lines take the ends of the lines they replace, in order', () => {
    expect(replaceAll('a\r\nb\nc\r\n', 'a\nb\nc\n', 'x\ny\nz\nw\n').text).toBe('x\r\ny\nz\r\nw\r\n');
  });

  test('a piece without a line end borrows the end of its line', () => {
    expect(replaceAll('a\r\nb\r\n', 'b', 'b1\nb2').text).toBe('a\r\nb1\r\nb2\r\n');
    expect(replaceAll('a\r\nb', 'b', 'b1\nb2').text).toBe('a\r\nb1\r\nb2');
    expect(replaceAll('only', 'only', 'one\ntwo').text).toBe('one\ntwo');
  });

  test('a search text with CRLF finds a file with LF, and the file keeps LF', () => {
    expect(replaceAll('a\nb\nc', 'a\r\nb', 'A\r\nB').text).toBe('A\nB\nc');
  });

  test('removing a line removes its line end with it', () => {
    expect(replaceAll('a\r\nb\r\nc\r\n', 'b\n', '').text).toBe('a\r\nc\r\n');
  });

  test('overlapping finds count as several, so that they are ambiguous', () => {
    expect(occurrences('aaa', 'aa')).toEqual([1, 1]);
    expect(occurrences('x\r\ny\r\nx\r\n', 'x\n')).toEqual([1, 3]);
  });

  test('dollar signs in the new text are ordinary characters', () => {
    expect(replaceAll('price', 'price', '$& $1 $$').text).toBe('$& $1 $$');
  });

  const end = fc.constantFrom('\n', '\r\n');
  const fileOf = (line: fc.Arbitrary<string>): fc.Arbitrary<string> =>
    fc.array(fc.tuple(line, end)).map((lines) => lines.flat().join(''));
  const file = fileOf(fc.stringMatching(/^[ab\r]{0,3}$/));
  // Removing what stands between a lone carriage return and a line feed would make a new line end of the two.
  const plainFile = fileOf(fc.stringMatching(/^[ab]{0,3}$/));

  test('replacing a piece by itself changes nothing, whatever the line ends', () => {
    fc.assert(
      fc.property(file, fc.nat(), fc.nat(), (text, a, b) => {
        const from = a % (text.length + 1);
        const piece = text.slice(from, from + 1 + (b % 8));
        if (piece === '') return;
        expect(replaceAll(text, piece, piece).text).toBe(text);
      }),
    );
  });

  test('seen with LF only, it is the plain replacement', () => {
    fc.assert(
      fc.property(
        plainFile,
        fc.stringMatching(/^[ab\n]{1,3}$/),
        fc.stringMatching(/^[xyz\n]{0,5}$/),
        (text, old, fresh) => {
          const flat = (s: string): string => s.replaceAll('\r\n', '\n');
          expect(flat(replaceAll(text, old, fresh).text)).toBe(flat(text).replaceAll(old, () => fresh));
        },
      ),
    );
  });
});
