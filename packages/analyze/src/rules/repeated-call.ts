/** The same call with the same result, again and again: nothing new can come of it. */
import { ErrorCode } from '@chassis/errors';
import type { Rule } from './rule.ts';

export const repeatedCall: Rule = {
  name: 'repeated-call',
  *find({ view, tools, symptom }) {
    const failed = view.step(symptom.step);
    const exhausted = failed?.error?.code === ErrorCode.BudgetExceeded;
    for (const { name, groups } of tools) {
      for (const same of groups) {
        const [first, again, ...others] = same;
        if (!first || !again) continue;
        // The run came to its end over this very call.
        const circles = exhausted && name === failed.name && same.length >= 3;
        // That the call that fails was tried again is the failure once more, and no reason for it.
        const itself = !exhausted && same.length < 4 && same.some(({ number }) => number === symptom.step);
        const text = `${name} was called ${same.length} times with the same arguments and gave the same result`;
        const score = circles ? 0.86 : itself ? 0.2 : same.length >= 3 ? 0.6 : 0.3;
        // A loop begins with its first round; of two equal calls the second is one too many.
        if (same.length > 2) {
          const later = [again, ...others].map(({ number }) => `:${number}`).join(', ');
          yield { step: first.number, text: `${text} (again ${later})`, score, kind: 'act' };
        }
        yield {
          step: again.number,
          text: `${text} (first :${first.number})`,
          score: same.length > 2 ? score - 0.1 : score,
          kind: 'act',
        };
      }
    }
  },
};
