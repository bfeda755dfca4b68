import { expect, test } from 'vitest';
import { ErrorRate, faultOf } from './error-rate.ts';

test('five failures and half of the calls are too many; the counts say how bad it is', () => {
  const rate = new ErrorRate();
  for (let i = 0; i < 6; i++) expect(rate.note(undefined, i)).toBeUndefined();
  for (let i = 0; i < 4; i++) expect(rate.note('locked', 10 + i)).toBeUndefined();
  // The fifth failure is not yet half of eleven calls, the sixth is half of twelve.
  expect(rate.note('locked', 20)).toBeUndefined();
  expect(rate.counts(20)).toEqual({ calls: 11, failed: 5, last_error: 'locked' });
  expect(rate.note('disk full', 21)).toEqual({ calls: 12, failed: 6, last_error: 'disk full' });
});

test('failures that are a minute old are forgotten', () => {
  const rate = new ErrorRate();
  for (let i = 0; i < 4; i++) rate.note('locked', i);
  expect(rate.note('locked', 60_010)).toBeUndefined();
});

test('after it tripped one more failure trips it again, and a success is a new start', () => {
  const rate = new ErrorRate();
  for (let i = 0; i < 5; i++) rate.note('locked', i);
  expect(rate.trips).toBe(1);
  expect(rate.note('still locked', 10)).toEqual({ calls: 1, failed: 1, last_error: 'still locked' });
  expect(rate.trips).toBe(2);
  rate.note(undefined, 20);
  expect(rate.trips).toBe(0);
  expect(rate.note('once', 21)).toBeUndefined();
});

test('only what is the plugin’s own fault counts', () => {
  const result = (code: number) => ({
    code,
    data: null,
    error: { code, name: 'x', message: 'm' },
    trace_id: 't',
  });
  const counts = (code: number, now = 0) => faultOf(result(code), 100, now) !== undefined;
  expect([-32603, -32009, -32001].map((code) => counts(code))).toEqual([true, true, true]);
  expect([0, -32602, -32005, -32010, -32004, -32003, 7].map((code) => counts(code))).not.toContain(true);
  expect(counts(-32003, 100)).toBe(true);
});
