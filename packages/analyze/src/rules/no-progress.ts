/** One tool in other words, time after time, with the same result: the questions change and nothing is learnt. */
import type { Step } from '@chassis/journal';
import { endKey, inputKey } from '../outcome.ts';
import { type Rule, toolsOf } from './rule.ts';

const least = 4;

export const noProgress: Rule = {
  name: 'no-progress',
  *find({ steps }) {
    for (const { name, calls } of toolsOf(steps)) {
      for (const run of runsOf(calls)) {
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
function runsOf(calls: readonly Step[]): Step[][] {
  const runs: Step[][] = [];
  let last: string | undefined;
  for (const step of calls) {
    const end = endKey(step);
    const run = runs.at(-1);
    if (run && end === last) run.push(step);
    else runs.push([step]);
    last = end;
  }
  return runs;
}
