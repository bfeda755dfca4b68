/** One effect twice, or an answer that belongs to an earlier question: something arrived late and was counted again. */
import type { Step } from '@chassis/journal';
import { inputKey } from '../outcome.ts';
import { isWriting } from './looks.ts';
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
        if (before && before.input !== input && measure.leaves >= leastLeaves) {
          const text = `the result of another question: equal to :${before.step.number}, though the arguments differ`;
          yield { step: step.number, pointer: '/output', text, score: 0.66, kind: 'value' };
        }
        if (before) continue;
        if (alike) alike.push({ step, input });
        else answers.set(measure.print, [{ step, input }]);
      }
    }
  },
};

function mayHaveActed(step: Step): boolean {
  return (step.status === 'ok' || step.status === 'timeout' || step.status === 'unknown') && isWriting(step);
}
