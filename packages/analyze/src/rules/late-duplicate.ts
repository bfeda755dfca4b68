/** One effect twice, or an answer that belongs to an earlier question: something arrived late and was counted again. */
import type { Step } from '@chassis/journal';
import { leavesOf } from '../json.ts';
import { inputKey, outputText } from '../outcome.ts';
import { isWriting } from './looks.ts';
import { type Rule, toolsOf } from './rule.ts';

const leastLeaves = 2;

export const lateDuplicate: Rule = {
  name: 'late-duplicate',
  *find({ steps }) {
    for (const { name, calls, groups } of toolsOf(steps)) {
      // The same call with the same result time after time is a loop, and no accident.
      const looping = new Set(groups.filter((same) => same.length > 2).flat());
      const acted = new Map<string, Step>();
      const answers = new Map<string, { readonly step: Step; readonly input: string }>();
      for (const step of calls) {
        const input = inputKey(step);
        const twin = acted.get(input);
        if (twin && step.status === 'ok' && !looping.has(step)) {
          const text = `${name} took effect again: the same call was :${twin.number} (${twin.status})`;
          yield { step: step.number, pointer: '/output', text, score: 0.74, kind: 'act' };
        }
        if (!twin && mayHaveActed(step)) acted.set(input, step);
        const answer = answerOf(step);
        if (answer === undefined) continue;
        const before = answers.get(answer);
        if (before && before.input !== input && saysEnough(step)) {
          const text = `the result of another question: equal to :${before.step.number}, though the arguments differ`;
          yield { step: step.number, pointer: '/output', text, score: 0.66, kind: 'value' };
        }
        if (!before) answers.set(answer, { step, input });
      }
    }
  },
};

/** A result that says enough not to be the same by chance. */
function answerOf(step: Step): string | undefined {
  if (step.status !== 'ok' || step.output === undefined) return undefined;
  const text = outputText(step);
  return text.length > 16 ? text : undefined;
}

function saysEnough({ output }: Step): boolean {
  return leavesOf(output).length >= leastLeaves;
}

function mayHaveActed(step: Step): boolean {
  return (step.status === 'ok' || step.status === 'timeout' || step.status === 'unknown') && isWriting(step);
}
