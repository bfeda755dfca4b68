import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { environment } from './environment.ts';
import { HeadAndTail } from './output.ts';

function collect(limit: number, ...pieces: (string | Buffer)[]): ReturnType<HeadAndTail['end']> {
  const output = new HeadAndTail(limit);
  for (const piece of pieces) output.add(Buffer.from(piece as string));
  return output.end();
}

describe('the beginning and the end of an output', () => {
  test('what fits is kept whole', () => {
    expect(collect(10, 'abc', 'defg', 'hij')).toEqual({
      text: 'abcdefghij',
      bytes: 10,
      truncated: false,
      notUtf8: false,
    });
    expect(collect(10)).toEqual({ text: '', bytes: 0, truncated: false, notUtf8: false });
  });

  test('one byte more leaves out the middle and says so', () => {
    expect(collect(10, 'abcdefghijk')).toEqual({
      text: 'abcde\n[… 1 bytes left out …]\nghijk',
      bytes: 11,
      truncated: true,
      notUtf8: false,
    });
  });

  test('characters are not cut in half at the gap', () => {
    expect(collect(8, 'é'.repeat(20)).text).toBe('éé\n[… 32 bytes left out …]\néé');
    expect(collect(6, 'é'.repeat(20)).text).toBe('é\n[… 36 bytes left out …]\né');
    expect(collect(10, '😀'.repeat(5))).toMatchObject({
      text: '😀\n[… 12 bytes left out …]\n😀',
      notUtf8: false,
    });
  });

  test('bytes that are no text are flagged', () => {
    expect(collect(10, Buffer.from([0x61, 0xff]))).toMatchObject({ text: 'a\uFFFD', notUtf8: true });
    expect(collect(10, 'a\uFFFD')).toMatchObject({ text: 'a\uFFFD', notUtf8: false });
  });

  test('pieces of any size give what one piece gives', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 60 }),
        fc.integer({ min: 2, max: 40 }),
        fc.integer({ min: 1, max: 9 }),
        (text, limit, size) => {
          const bytes = Buffer.from(text);
          const pieces: Buffer[] = [];
          for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
          expect(collect(limit, ...pieces)).toEqual(collect(limit, bytes));
        },
      ),
    );
  });
});

test('the environment is built from names, not inherited', () => {
  const from = { PATH: '/bin', HOME: '/root', SECRET_KEY: 's3cr3t', CI: 'true' };
  expect(environment(['CI', 'NOT_SET'], from)).toEqual({
    PATH: '/bin',
    HOME: '/root',
    TERM: 'dumb',
    CI: 'true',
  });
});
