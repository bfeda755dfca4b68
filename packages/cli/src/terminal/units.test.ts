import { describe, expect, it } from 'vitest';
import { bytes, count, duration, money, since, spanOf } from './units.ts';

describe('numbers as people read them', () => {
  it('durations', () => {
    expect([0, 999, 1000, 59_949, 59_999, 125_000, 3_720_000].map(duration)).toEqual([
      '0ms',
      '999ms',
      '1.0s',
      '59.9s',
      '1m00s',
      '2m05s',
      '1h02m',
    ]);
  });

  it('bytes, tokens and money', () => {
    expect([0, 999, 1000, 999_949, 999_950, 5e12].map(bytes)).toEqual([
      '0 B',
      '999 B',
      '1.0 kB',
      '999.9 kB',
      '1.0 MB',
      '5.0 TB',
    ]);
    expect([999, 1234, 999_999, 1_250_000].map(count)).toEqual(['999', '1.2k', '1.0M', '1.3M']);
    expect([null, 0, 0.00213, 12.5].map(money)).toEqual(['', '$0', '$0.0021', '$12.50']);
  });

  it('spans and points in time', () => {
    expect(['90s', '30m', '12h', '2d', '1w'].map(spanOf)).toEqual([
      90e3, 1800e3, 43_200e3, 172_800e3, 604_800e3,
    ]);
    expect(['', '2', 'd', '2 years', '-1d'].map(spanOf)).toEqual(Array(5).fill(undefined));
    expect(since('2d', 1e9)).toBe(1e9 - 172_800e3);
    expect(since('2026-11-30', 0)).toBe(Date.UTC(2026, 10, 30));
    expect(since('yesterday', 0)).toBeUndefined();
  });
});
