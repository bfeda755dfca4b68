/** The model did not stop by itself: its output limit or a filter cut the answer. */
import { follow } from '../pointer.ts';
import type { Rule } from './rule.ts';

const reasons: Readonly<Record<string, string>> = {
  length: "the output limit cut the model's answer",
  content_filter: "the provider's content filter stopped the answer",
};

export const finishReason: Rule = {
  name: 'finish-reason',
  *find({ steps }) {
    for (const step of steps) {
      if (step.kind !== 'model') continue;
      const value = follow(step.output, '/finish_reason');
      const text = typeof value === 'string' ? reasons[value] : undefined;
      if (value === undefined || text === undefined) continue;
      yield {
        step: step.number,
        pointer: '/output/finish_reason',
        value,
        text,
        score: 0.78,
        kind: 'missing',
      };
    }
  },
};
