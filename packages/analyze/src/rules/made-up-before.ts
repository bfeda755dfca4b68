/** An earlier call about the same thing was given a value that the model had made up, and took it. */
import type { Step } from '@chassis/journal';
import { leavesOf } from '../json.ts';
import { lineage } from '../lineage.ts';
import { sameName } from '../names.ts';
import { nameOf } from '../pointer.ts';
import { shown } from '../spots.ts';
import { isIdentifier, sharesSubject } from '../subject.ts';
import { wordsOf } from '../ties.ts';
import { isWriting } from './looks.ts';
import type { Rule } from './rule.ts';

const mostCalls = 24;

export const madeUpBefore: Rule = {
  name: 'made-up-before',
  *find({ view, steps, symptom }) {
    const failed = view.step(symptom.step);
    if (failed?.kind !== 'tool') return;
    const own = new Set(leavesOf(failed.input).map(({ text }) => text));
    const words = wordsOf(symptom.text);
    const before = steps
      .filter((step) => isDone(step, failed) && sharesSubject(step, failed, symptom.text))
      .slice(-mostCalls);
    for (const step of before) {
      for (const { pointer, value, text } of leavesOf(step.input, '/input')) {
        if (own.has(text) || !isIdentifier(value) || !/\d\D*\d/.test(text)) continue;
        const found = lineage(view, { step: step.number, pointer });
        if (found?.origin !== 'model' || found.derived || found.pieces.length > 0) continue;
        const { birth } = found;
        const name = nameOf(pointer);
        // The failure speaks of what this is.
        const meant = wordsOf(name).some((word) => words.some((said) => sameName(word, said)));
        yield {
          step: birth.step,
          pointer: birth.pointer,
          ...(birth.range ? { range: birth.range } : {}),
          value: birth.text,
          text: `the model wrote ${shown(view, birth)} as ${name} of ${step.name} :${step.number}, which nothing in its sight holds`,
          score: meant ? 0.64 : 0.5,
          kind: 'act',
        };
      }
    }
  },
};

function isDone(step: Step, failed: Step): boolean {
  return step.kind === 'tool' && step.number < failed.number && step.status === 'ok' && isWriting(step);
}
