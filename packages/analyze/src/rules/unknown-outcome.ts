/** Nobody knows whether a call took effect: it timed out, was cut off, or has no end on record. */
import { isOpen } from '../statuses.ts';
import type { Rule } from './rule.ts';

export const unknownOutcome: Rule = {
  name: 'unknown-outcome',
  *find({ steps }) {
    for (const step of steps) {
      const open = isOpen(step) && step.seq.dispatched !== undefined;
      if (!open && step.status !== 'unknown' && step.status !== 'timeout') continue;
      const what = open
        ? 'has no end on record'
        : step.status === 'timeout'
          ? 'timed out'
          : 'was interrupted';
      const pointer = step.error ? { pointer: '/error/message' } : {};
      const text = `${step.name} ${what}: whether it took effect is not known`;
      yield { step: step.number, ...pointer, text, score: 0.62, kind: 'missing' };
    }
  },
};
