/** The first difference from a run that went well, among the steps that led to the failure. */
import type { SessionView } from '@chassis/journal';
import { diff } from '../diff.ts';
import { brief } from './looks.ts';
import type { Rule, Suspect } from './rule.ts';

export const unlikeGoodRun: Rule = {
  name: 'unlike-good-run',
  *find({ view, against, steps, symptom }) {
    if (!against) return;
    if (asked(view) !== asked(against)) {
      const text = 'the good run was asked something else: their differences explain little';
      yield { step: symptom.step, text, score: 0.2, kind: 'act' };
      return;
    }
    const led = new Set(steps.map(({ number }) => number));
    for (const { a, b, change, difference, name } of diff(against, view).rows) {
      if (b === null || !led.has(b) || change === 'same') continue;
      // That the failure itself differs is no news.
      if (b === symptom.step && !difference?.path.startsWith('/input')) return;
      yield difference
        ? {
            step: b,
            pointer: difference.path,
            ...(difference.actual === undefined ? {} : { value: difference.actual }),
            text: `the first difference from the good run, step ${a} there: ${shown(difference.expected)}, here ${shown(difference.actual)}`,
            score: 0.97,
            kind: kindOf(difference.path),
          }
        : { step: b, text: `the good run has no such call of ${name}`, score: 0.75, kind: 'act' };
      return;
    }
  },
};

/** What the person said. */
function asked({ turns }: SessionView): string {
  return JSON.stringify(turns.map(({ input }) => input));
}

function kindOf(path: string): Suspect['kind'] {
  return path.startsWith('/output/message') ? 'act' : 'value';
}

function shown(value: unknown): string {
  return value === undefined ? 'nothing' : brief(value);
}
