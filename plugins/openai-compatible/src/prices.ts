/**
 * What tokens cost, as dated data.
 *
 * Promise: a price that is not known for the model and the time is undefined, never 0.
 */
import type { Usage } from '@chassis/types';

/** US dollars per million tokens. `cached` defaults to `input`. */
export interface Prices {
  readonly input: number;
  readonly cached?: number;
  readonly output: number;
}

/** The prices of a model at a time (milliseconds since the epoch). */
export type PriceTable = (model: string, time: number) => Prices | undefined;

interface Period {
  readonly models: readonly string[];
  /** First moment at which these prices hold. */
  readonly from: string;
  readonly offPeak: Required<Prices>;
}

/**
 * https://api-docs.deepseek.com/quick_start/pricing as of 2026-11-15. At peak hours everything costs twice as
 * much. Public holidays in China are off-peak all day; they are not in this table, so a cost on such a day is
 * an upper bound. The oldest period of a model is where this table begins, not where the model did.
 */
const DEEPSEEK: readonly Period[] = [
  {
    models: ['deepseek-flash', 'deepseek-v4-flash', 'deepseek-chat', 'deepseek-reasoner'],
    from: '2026-09-10T04:00:00Z',
    offPeak: { input: 0.15, cached: 0.003, output: 0.6 },
  },
  {
    models: ['deepseek-v4-pro'],
    from: '2026-08-16T16:00:00Z',
    offPeak: { input: 0.66, cached: 0.022, output: 1.98 },
  },
];

/** Monday to Friday, 01:00-04:00 and 06:00-10:00 UTC. */
function isPeak(time: number): boolean {
  const at = new Date(time);
  const day = at.getUTCDay();
  const hour = at.getUTCHours();
  return day >= 1 && day <= 5 && ((hour >= 1 && hour < 4) || (hour >= 6 && hour < 10));
}

const deepseekPrices: PriceTable = (model, time) => {
  const period = DEEPSEEK.findLast(({ models, from }) => models.includes(model) && Date.parse(from) <= time);
  if (period === undefined) return undefined;
  const { input, cached, output } = period.offPeak;
  const factor = isPeak(time) ? 2 : 1;
  return { input: input * factor, cached: cached * factor, output: output * factor };
};

/** The built-in table of a preset. Other models have the prices that the configuration gives, or none. */
export function modelPrices(preset: string): PriceTable | undefined {
  return preset === 'deepseek' ? deepseekPrices : undefined;
}

/** US dollars. Input that came from the cache is paid once, at its own price. */
export function cost(usage: Usage, prices: Prices): number {
  const uncached = usage.input - usage.cached;
  return (
    (uncached * prices.input +
      usage.cached * (prices.cached ?? prices.input) +
      usage.output * prices.output) /
    1e6
  );
}
