/** One tool in other words, time after time, with the same result: the questions change and nothing is learnt. */
import type { Step } from '@chassis/journal';
import { inputKey } from '../outcome.ts';
import type { Survey } from '../survey.ts';
import type { Rule } from './rule.ts';

const least = 4;

export const noProgress: Rule = {
  name: 'no-progress',
  *find({ tools, survey }) {
    for (const { name, calls } of tools) {
      for (const run of runsOf(calls, survey)) {
        const first = run[0];
        const asked = new Set(run.map(inputKey)).size;
        if (!first || run.length < least || asked < 2) continue;
        const text = `${name} was asked ${run.length} times in ${asked} ways from here on and always gave the same result`;
        yield { step: first.number, text, score: 0.62, kind: 'act' };
      }
    }
  },
};

/** Calls in a row with equal results. */
function runsOf(calls: readonly Step[], { sameEnd }: Survey): Step[][] {
  const runs: Step[][] = [];
  for (const step of calls) {
    const run = runs.at(-1);
    const last = run?.at(-1);
    if (run && last && sameEnd(last, step)) run.push(step);
    else runs.push([step]);
  }
  return runs;
}
