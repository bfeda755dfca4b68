/** One tool in other words, time after time, with the same result: the questions change and nothing is learnt. */
import { ErrorCode } from '@chassis/errors';
import type { Step } from '@chassis/journal';
import { isNumber, leavesOf } from '../json.ts';
import { opened } from '../opened.ts';
import { inputKey } from '../outcome.ts';
import type { Survey } from '../survey.ts';
import type { Rule } from './rule.ts';

const least = 4;

export const noProgress: Rule = {
  name: 'no-progress',
  *find({ view, steps, tools, survey, symptom }) {
    const exhausted = view.step(symptom.step)?.error?.code === ErrorCode.BudgetExceeded;
    const last = steps.findLast(({ kind, number }) => kind === 'tool' && number < symptom.step)?.name;
    for (const { name, calls } of tools) {
      // What differs in figures only is the same where the run came to its end over it.
      const same =
        exhausted && name === last
          ? (a: Step, b: Step): boolean => survey.sameEnd(a, b) || saysTheSame(a, b)
          : survey.sameEnd;
      for (const run of runsOf(calls, same)) {
        const first = run[0];
        const asked = new Set(run.map(inputKey)).size;
        if (!first || run.length < least || asked < 2) continue;
        const text = `${name} was asked ${run.length} times in ${asked} ways from here on and always gave the same result`;
        yield { step: first.number, text, score: exhausted && name === last ? 0.87 : 0.62, kind: 'act' };
      }
    }
  },
};

/** Calls in a row with equal results. */
function runsOf(calls: readonly Step[], sameEnd: Survey['sameEnd']): Step[][] {
  const runs: Step[][] = [];
  for (const step of calls) {
    const run = runs.at(-1);
    const last = run?.at(-1);
    if (run && last && sameEnd(last, step)) run.push(step);
    else runs.push([step]);
  }
  return runs;
}

/** Equal but for what repeats the question, and for figures: a time, a count of attempts. */
function saysTheSame(a: Step, b: Step): boolean {
  return a.status === 'ok' && b.status === 'ok' && essence(a) === essence(b);
}

const essences = new WeakMap<Step, string>();

function essence(step: Step): string {
  const known = essences.get(step);
  if (known !== undefined) return known;
  const asked = new Set(leavesOf(step.input).map(({ text }) => text));
  const parts = leavesOf(opened(step.output)).flatMap(({ pointer, text, value }) =>
    asked.has(text) || isNumber(value) || /^\d{4}-\d\d-\d\dT/.test(text) ? [] : [`${pointer} ${text}`],
  );
  const found = `${step.name} ${JSON.stringify(step.output)?.replaceAll(/[^[\]{}]/g, '')} ${parts.join('\n')}`;
  essences.set(step, found);
  return found;
}
