/** One effect twice, or an answer that belongs to an earlier question: something arrived late and was counted again. */
import type { Step } from '@chassis/journal';
import { canonical, leavesOf } from '../json.ts';
import { isWriting } from './looks.ts';
import { byTool, type Rule } from './rule.ts';

const leastLeaves = 2;

export const lateDuplicate: Rule = {
  name: 'late-duplicate',
  *find({ steps }) {
    for (const [name, calls] of byTool(steps)) {
      for (const [index, step] of calls.entries()) {
        if (step.status !== 'ok') continue;
        const earlier = calls.slice(0, index);
        const twin = earlier.find(
          (other) => sameInput(other, step) && mayHaveActed(other) && isWriting(step),
        );
        if (twin) {
          const text = `${name} took effect again: the same call was :${twin.number} (${twin.status})`;
          yield { step: step.number, pointer: '/output', text, score: 0.74, kind: 'act' };
        }
        const late = earlier.find(
          (other) => !sameInput(other, step) && other.status === 'ok' && sameResult(other, step),
        );
        if (late) {
          const text = `the result of another question: equal to :${late.number}, though the arguments differ`;
          yield { step: step.number, pointer: '/output', text, score: 0.66, kind: 'value' };
        }
      }
    }
  },
};

function sameInput(a: Step, b: Step): boolean {
  return canonical(a.input) === canonical(b.input);
}

function sameResult(a: Step, b: Step): boolean {
  const text = canonical(a.output);
  return text.length > 16 && [...leavesOf(a.output)].length >= leastLeaves && text === canonical(b.output);
}

function mayHaveActed(step: Step): boolean {
  return (step.status === 'ok' || step.status === 'timeout' || step.status === 'unknown') && isWriting(step);
}
