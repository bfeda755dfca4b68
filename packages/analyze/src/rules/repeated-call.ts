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
        const [first] = same;
        if (!first || same.length < 2) continue;
        const others = same.slice(1).map(({ number }) => `:${number}`);
        // The run came to its end over this very call.
        const circles = exhausted && name === failed.name && same.length >= 3;
        const text = `${name} was called ${same.length} times with the same arguments and gave the same result (again ${others.join(', ')})`;
        yield { step: first.number, text, score: circles ? 0.86 : same.length >= 3 ? 0.6 : 0.3, kind: 'act' };
      }
    }
  },
};
