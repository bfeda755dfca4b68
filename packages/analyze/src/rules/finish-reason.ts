/** The model did not stop by itself: its output limit or a filter cut the answer. */
import { follow } from '../pointer.ts';
import type { Rule } from './rule.ts';

const reasons: Readonly<Record<string, string>> = {
  length: "the output limit cut the model's answer",
  content_filter: "the provider's content filter stopped the answer",
};

export const finishReason: Rule<string> = {
  name: 'finish-reason',
  see({ kind }, output) {
    const reason = kind === 'model' ? follow(output, '/finish_reason') : undefined;
    return typeof reason === 'string' && Object.hasOwn(reasons, reason) ? reason : undefined;
  },
  *find(_, seen) {
    for (const [step, value] of seen) {
      const text = reasons[value] ?? value;
      yield {
        step,
        pointer: '/output/finish_reason',
        value,
        text,
        score: 0.78,
        kind: 'missing',
      };
    }
  },
};
