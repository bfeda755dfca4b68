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
    // Where a call of the circle was refused, that it is made again and again says it as well.
    const circle =
      exhausted && view.step(symptom.step)?.kind === 'model'
        ? circleIn(steps.filter(({ kind }) => kind === 'tool'))
        : undefined;
    if (circle) {
      const text = `from here on the ${circle.period} calls before it come again in their order, ${circle.rounds === 1 ? 'once' : `${circle.rounds} times`}`;
      yield { step: circle.first.number, text, score: 0.84, kind: 'end' };
    }
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

const mostPeriod = 8;
const leastRounds = 2;

/** Several calls that a run repeats in their order up to its end: edits that undo each other, and the checks between them. */
function circleIn(
  calls: readonly Step[],
): { readonly first: Step; readonly period: number; readonly rounds: number } | undefined {
  const keys = calls.map((step) => `${step.name} ${inputKey(step)}`);
  // The last call is the one that was refused.
  for (const end of [keys.length, keys.length - 1])
    for (let period = 2; period <= mostPeriod; period++) {
      let start = end - period;
      while (start > 0 && keys[start - 1] === keys[start - 1 + period]) start--;
      const rounds = Math.floor((end - start) / period);
      // The first round may have been needed; the second repeats it.
      const first = calls[start + period];
      if (first && rounds >= leastRounds && new Set(keys.slice(start, start + period)).size > 1)
        return { first, period, rounds: rounds - 1 };
    }
  return undefined;
}

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
