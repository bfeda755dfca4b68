import { expect, test } from 'vitest';
import { decodeText, looksBinary, wholeCharacters } from './text.ts';

test('text that is no UTF-8 is not turned into look-alikes', () => {
  expect(decodeText(Buffer.from([0x63, 0x61, 0x66, 0xe9]))).toBeUndefined();
  expect(decodeText(Buffer.from('\uFEFFcafé'))).toBe('\uFEFFcafé');
  expect(looksBinary(Buffer.from('a\0b'))).toBe(true);
});

test('cutting keeps characters whole', () => {
  const bytes = Buffer.from('a€😀');
  for (let n = 0; n <= bytes.length; n++) {
    expect(decodeText(wholeCharacters(bytes.subarray(0, n)))).toBe(
      n < 4 ? (n < 1 ? '' : 'a') : n < 8 ? 'a€' : 'a€😀',
    );
  }
});
