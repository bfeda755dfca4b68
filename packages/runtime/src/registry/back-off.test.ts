import { expect, test } from 'vitest';
import { BACK_OFF, backOff } from './back-off.ts';

test('the wait grows, and three failures within five minutes are put to rest', () => {
  const one = backOff(BACK_OFF, () => 0);
  expect([one.failed(0), one.failed(1_000), one.failed(5_000)]).toEqual([1_000, 4_000, null]);
});

test('failures that are long past do not count', () => {
  const one = backOff(BACK_OFF, () => 0);
  expect([one.failed(0), one.failed(1_000), one.failed(400_000)]).toEqual([1_000, 4_000, 1_000]);
});

test('jitter only lengthens the wait, and the wait has a limit', () => {
  expect(backOff(BACK_OFF, () => 0.999).failed(0)).toBe(1_200);
  const capped = backOff({ ...BACK_OFF, most_ms: 1_500, tries: 9 }, () => 0);
  expect([capped.failed(0), capped.failed(1), capped.failed(2)]).toEqual([1_000, 1_500, 1_500]);
});
