/** A step counts as successful, but its result says that it failed. */
import { follow } from '../pointer.ts';
import { failureInside } from './looks.ts';
import type { Rule } from './rule.ts';

export const swallowedError: Rule = {
  name: 'swallowed-error',
  *find({ steps }) {
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
        score: 0.72,
        kind: 'missing',
      };
    }
  },
};
