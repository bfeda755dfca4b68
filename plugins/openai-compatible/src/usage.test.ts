import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { cost, modelPrices, type PriceTable } from './prices.ts';
import { normalizeUsage } from './usage.ts';

const i1 = JSON.parse(readFileSync(new URL('../test/wire/i1_usages.json', import.meta.url), 'utf8'));
const { input, cached_input: cached, output } = i1.price_per_million;
const prices = { input, cached, output };
const reported = (style: string): unknown => i1.cases.find((c: { style: string }) => c.style === style).usage;

describe('usage', () => {
  test.each(['openai', 'deepseek', 'disjoint'])(
    'cached tokens of the %s style are counted and paid once',
    (style) => {
      const usage = normalizeUsage(reported(style));
      expect(usage).toEqual({ input: 20_000, cached: 16_000, output: 1000, reasoning: 0 });
      expect(usage && cost(usage, prices)).toBeCloseTo(0.0058, 10);
    },
  );

  test('more cached than there was is clamped, flagged, and never negative', () => {
    const usage = normalizeUsage(reported('inconsistent'));
    expect(usage).toEqual({ input: 100, cached: 100, output: 0, reasoning: 0, inconsistent: true });
    expect(usage && cost(usage, prices)).toBeCloseTo(0.000005, 12);
  });

  test('the total tells that the cache, or the reasoning, is counted beside', () => {
    expect(
      normalizeUsage({
        prompt_tokens: 4000,
        completion_tokens: 1000,
        total_tokens: 21_000,
        prompt_tokens_details: { cached_tokens: 16_000 },
      }),
    ).toEqual({ input: 20_000, cached: 16_000, output: 1000, reasoning: 0 });
    expect(
      normalizeUsage({
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 22,
        completion_tokens_details: { reasoning_tokens: 7 },
      }),
    ).toEqual({ input: 10, cached: 0, output: 12, reasoning: 7 });
  });

  test('a proxy that reports both shapes is not counted twice', () => {
    expect(
      normalizeUsage({
        prompt_tokens: 100,
        completion_tokens: 1,
        total_tokens: 101,
        cache_read_input_tokens: 80,
        prompt_tokens_details: { cached_tokens: 80 },
      }),
    ).toEqual({ input: 100, cached: 80, output: 1, reasoning: 0 });
  });

  test('what is not reported stays unknown', () => {
    for (const nothing of [
      undefined,
      null,
      'x',
      {},
      { prompt_tokens: null },
      { prompt_tokens: -1 },
      { prompt_tokens: '7' },
    ]) {
      expect(normalizeUsage(nothing)).toBeNull();
    }
    expect(normalizeUsage({ completion_tokens: 3 })).toMatchObject({ output: 3, lower_bound: true });
    expect(normalizeUsage({ prompt_tokens: 3, completion_tokens: 4, total_tokens: 99 })).toMatchObject({
      inconsistent: true,
    });
  });
});

describe('the price table', () => {
  const table = modelPrices('deepseek') as PriceTable;
  const at = (iso: string): number => Date.parse(iso);

  test('knows the hour: peak prices on working days only', () => {
    const offPeak = { input: 0.15, cached: 0.003, output: 0.6 };
    const peak = { input: 0.3, cached: 0.006, output: 1.2 };
    expect(table('deepseek-flash', at('2026-11-30T00:59:59Z'))).toEqual(offPeak);
    expect(table('deepseek-flash', at('2026-11-30T01:00:00Z'))).toEqual(peak);
    expect(table('deepseek-flash', at('2026-11-30T05:00:00Z'))).toEqual(offPeak);
    expect(table('deepseek-flash', at('2026-11-30T09:59:59Z'))).toEqual(peak);
    expect(table('deepseek-flash', at('2026-11-28T01:30:00Z'))).toEqual(offPeak);
    expect(table('deepseek-v4-pro', at('2026-11-28T01:30:00Z'))).toEqual({
      input: 0.66,
      cached: 0.022,
      output: 1.98,
    });
  });

  test('does not guess for other models, nor for a time before it begins', () => {
    expect(table('deepseek-flash', at('2026-01-01T00:00:00Z'))).toBeUndefined();
    expect(table('gpt-next', at('2026-11-30T00:00:00Z'))).toBeUndefined();
    expect(modelPrices('openai')).toBeUndefined();
  });
});
