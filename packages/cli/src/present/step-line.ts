/** A step in a few words: what it was asked, what it used. */
import type { Step } from '@chassis/journal';
import type { Json, Usage } from '@chassis/types';
import { count } from '../terminal/units.ts';
import { shortValue } from './value.ts';

/** The arguments of a call, the number of messages of a model step, the value of a state step. */
export function shortInput(step: Pick<Step, 'kind' | 'input'>, width = 60): string {
  if (step.kind !== 'model') return shortValue(step.input, width);
  const { messages } = (step.input ?? {}) as { messages?: Json };
  return typeof messages === 'number' ? `${messages} message${messages === 1 ? '' : 's'}` : '';
}

/** `310→42`; a figure that is only a lower bound has a `+`. */
export function tokens(usage: Usage | null | undefined): string {
  if (usage === null || usage === undefined) return '';
  return `${count(usage.input)}→${count(usage.output)}${usage.lower_bound === true ? '+' : ''}`;
}

/** What all steps and their failed attempts used. `cost_usd` is null when no price is known. */
export function totals(steps: readonly Step[]): { input: number; output: number; cost_usd: number | null } {
  const usages = steps.flatMap((step) => [
    ...(step.usage ? [step.usage] : []),
    ...step.attempts.flatMap(({ error, usage }) => (error !== undefined && usage ? [usage] : [])),
  ]);
  const prices = usages.map((usage) => usage.cost_usd).filter((price) => price !== undefined);
  return {
    input: usages.reduce((sum, usage) => sum + usage.input, 0),
    output: usages.reduce((sum, usage) => sum + usage.output, 0),
    cost_usd: prices.length === 0 ? null : prices.reduce((sum, price) => sum + price, 0),
  };
}
