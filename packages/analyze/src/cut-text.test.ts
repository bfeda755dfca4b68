import { expect, test } from 'vitest';
import { brokenOff } from './cut-text.ts';

test.each([
  '{"a":1,"b":[1,2',
  '[{"a":"x]"},{"a":"y',
  '{"a":1}\n{"b":',
  '{"q":"half a te',
  `["${'x'.repeat(3_000_000)}`,
])('JSON that stops in the middle is told (%#)', (text) =>
  expect(brokenOff(text)).toBe('it begins as JSON and stops in the middle'),
);

test.each([
  '[2026-01-01] INFO a\n[2026-01-01] INFO b',
  '[INFO] started',
  '[12:00:01] go',
  '{a note} and text',
  '{"a":1}',
])('what only begins with a bracket is not cut: %s', (text) => expect(brokenOff(text)).toBeUndefined());
