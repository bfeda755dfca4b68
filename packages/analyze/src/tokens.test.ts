import { expect, test } from 'vitest';
import { estimateTokens } from './tokens.ts';

const han = '的一是不了人我在有他这为之大来以个中上们';

test.each([
  ['8,000 Han characters', han.repeat(400), 4_800, 12_000],
  [
    '8,000 characters of English',
    'the quick brown fox jumps over the lazy dog and on '.repeat(157).slice(0, 8000),
    1_600,
    2_700,
  ],
  ['1,000 emoji', '\u{1F44D}'.repeat(1000), 1_000, 4_000],
  [
    'a picture of 270,000 base64 characters',
    `see data:image/png;base64,${'A'.repeat(270_000)} there`,
    100,
    4_000,
  ],
])('%s', (_what, text, least, most) => {
  const tokens = estimateTokens(text);
  expect(tokens).toBeGreaterThanOrEqual(least);
  expect(tokens).toBeLessThanOrEqual(most);
});
