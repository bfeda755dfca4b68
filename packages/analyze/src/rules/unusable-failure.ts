/** A tool failed, and the model step that it led to could make nothing of the failure: it stopped over the missing result. */
import { ErrorCode } from '@chassis/errors';
import { findExact } from '../match.ts';
import { crashText } from './own-code.ts';
import type { Rule } from './rule.ts';

export const unusableFailure: Rule = {
  name: 'unusable-failure',
  *find({ view, symptom }) {
    const step = view.step(symptom.step);
    const { error } = step ?? {};
    if (step?.kind !== 'model' || error?.code !== ErrorCode.ModelError) return;
    for (const number of step.causes) {
      const tool = view.step(number);
      if (tool?.kind !== 'tool' || tool.status !== 'error' || !tool.error) continue;
      // That it came before is not enough: the model's failure speaks of this tool, or repeats what it said.
      const named = findExact(tool.name, error.message) ?? findExact(tool.error.message, error.message);
      if (!named) continue;
      const what = crashText(tool) ?? `${tool.name} failed: ${tool.error.name}: ${tool.error.message}`;
      const text = `${what}; the model step after it found no result`;
      yield { step: number, pointer: '/error/message', text, score: 0.9, kind: 'end' };
    }
  },
};
