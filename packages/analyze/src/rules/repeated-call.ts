/** The same call with the same result, again and again: nothing new can come of it. */
import type { Rule } from './rule.ts';

export const repeatedCall: Rule = {
  name: 'repeated-call',
  *find({ tools }) {
    for (const { name, groups } of tools) {
      for (const same of groups) {
        const [first] = same;
        if (!first || same.length < 2) continue;
        const others = same.slice(1).map(({ number }) => `:${number}`);
        const text = `${name} was called ${same.length} times with the same arguments and gave the same result (again ${others.join(', ')})`;
        yield { step: first.number, text, score: same.length >= 3 ? 0.6 : 0.3, kind: 'act' };
      }
    }
  },
};
