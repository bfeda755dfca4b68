/** A step counts as successful, but its result says that it failed. */
import type { Step } from '@chassis/journal';
import { follow } from '../pointer.ts';
import { isMostlySame } from './changed-retry.ts';
import { failureInside } from './looks.ts';
import type { Rule } from './rule.ts';

export const swallowedError: Rule = {
  name: 'swallowed-error',
  *find({ steps, tools }) {
    const calls = new Map(tools.map(({ name, calls: own }) => [name, own]));
    for (const step of steps) {
      const found = failureInside(step);
      if (!found) continue;
      const value = follow(step, found.pointer);
      const text = `${step.name} reported success, its result says otherwise: ${found.text}`;
      yield {
        step: step.number,
        pointer: found.pointer,
        ...(value === undefined ? {} : { value }),
        text,
        score: isTriedAgain(step, calls.get(step.name) ?? []) ? 0.4 : 0.72,
        kind: 'missing',
      };
    }
  },
};

/** The next call of the tool was nearly the same, and went well. */
function isTriedAgain(step: Step, calls: readonly Step[]): boolean {
  const next = calls[calls.indexOf(step) + 1];
  return next?.status === 'ok' && !failureInside(next) && isMostlySame(step, next);
}
