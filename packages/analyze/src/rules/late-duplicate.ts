/** One effect twice, or an answer that belongs to an earlier question: something arrived late and was counted again. */
import { ErrorCode } from '@chassis/errors';
import type { Step } from '@chassis/journal';
import { isNumber, leavesOf } from '../json.ts';
import { findExact } from '../match.ts';
import { significantDigits } from '../numbers.ts';
import { opened } from '../opened.ts';
import { inputKey, outputText } from '../outcome.ts';
import { brief, isWriting } from './looks.ts';
import type { Rule } from './rule.ts';

/** A result that says less can be the same by chance. */
const leastLeaves = 2;
const leastSize = 16;

export const lateDuplicate: Rule = {
  name: 'late-duplicate',
  *find({ tools, survey }) {
    for (const { name, calls, groups } of tools) {
      // The same call with the same result time after time is a loop, and no accident.
      const looping = new Set(groups.filter((same) => same.length > 2).flat());
      const acted = new Map<string, Step>();
      const answers = new Map<number, { readonly step: Step; readonly input: string }[]>();
      for (const step of calls) {
        const input = inputKey(step);
        const twin = acted.get(input);
        if (twin && step.status === 'ok' && !looping.has(step)) {
          const text = `${name} took effect again: the same call was :${twin.number} (${twin.status})`;
          yield { step: step.number, pointer: '/output', text, score: 0.74, kind: 'act' };
        }
        if (!twin && mayHaveActed(step)) acted.set(input, step);
        const measure = step.status === 'ok' ? survey.measure(step) : undefined;
        if (measure === undefined || measure.size <= leastSize) continue;
        const alike = answers.get(measure.print);
        const before = alike?.find((one) => survey.sameEnd(one.step, step));
        if (before && calls.filter((other) => survey.measure(other)?.print === measure.print).length > 2)
          continue;
        if (before && before.input !== input && measure.leaves >= leastLeaves) {
          const of = answersFor(before.step, step);
          const text = `the result of another question${of === undefined ? '' : ` (it is about ${brief(of)})`}: equal to :${before.step.number}, though the arguments differ`;
          // Results that say little are the same by chance: alone it is a suspicion, tied to the failure it is more.
          const score = of !== undefined ? 0.78 : saysMuch(step) ? 0.62 : 0.5;
          yield {
            step: step.number,
            twin: before.step.number,
            pointer: '/output',
            text,
            score,
            kind: 'value',
          };
        }
        if (before) continue;
        if (alike) alike.push({ step, input });
        else answers.set(measure.print, [{ step, input }]);
      }
    }
  },
};

/** A figure that hardly comes twice. */
function saysMuch({ output }: Step): boolean {
  return leavesOf(opened(output)).some(({ value, text }) => isNumber(value) && significantDigits(text) >= 3);
}

/** What only the earlier question named and the result repeats. */
function answersFor(earlier: Step, later: Step): string | undefined {
  const own = new Set(leavesOf(later.input).map(({ text }) => text));
  const result = outputText(later);
  return leavesOf(earlier.input)
    .map(({ text }) => text)
    .find((text) => text.length >= 2 && !own.has(text) && findExact(text, result) !== undefined);
}

const noAnswer =
  /\btime(?:d)?[ -]?out\b|deadline exceeded|state of the request is unknown|no (?:answer|response|reply)\b|connection (?:was )?(?:reset|lost|closed)|socket hang up|\b504\b|\bETIMEDOUT\b|\bECONNRESET\b/i;

/** A call without an answer may have taken effect all the same. */
function mayHaveActed(step: Step): boolean {
  const unanswered =
    step.status === 'timeout' ||
    step.status === 'unknown' ||
    step.error?.code === ErrorCode.ToolTimeout ||
    noAnswer.test(step.error?.message ?? '');
  return (step.status === 'ok' || unanswered) && isWriting(step);
}
