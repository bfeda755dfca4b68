/** The value that the failure complains about came into the run here, and travelled on unchanged. */
import type { Birth } from '../lineage.ts';
import { shown, spotAt } from '../spots.ts';
import { issuesOf } from '../statuses.ts';
import { isAboutChange, isAboutValue } from './looks.ts';
import type { Rule } from './rule.ts';

const brought: Readonly<Record<Birth, string>> = {
  tool: 'a result brought it in',
  user: 'the person wrote it',
  system: 'the instructions hold it',
  clock: 'it was read from the clock or from chance',
  agent: "the agent's own code put it in",
  model: 'the model wrote it',
  unknown: 'it is too short or frequent to be followed further',
};

export const firstAppearance: Rule = {
  name: 'first-appearance',
  *find({ view, traces, symptom }) {
    // An error may name a value without finding fault with it.
    const blames =
      issuesOf(view.step(symptom.step)?.error).length > 0 ||
      (isAboutValue(symptom.text) && !isAboutChange(symptom.text));
    for (const { complaint, lineage } of traces) {
      const { birth, origin } = lineage;
      if (
        complaint.kind !== 'direct' ||
        origin === 'model' ||
        origin === 'unknown' ||
        birth.step === symptom.step
      )
        continue;
      yield {
        step: birth.step,
        pointer: birth.pointer,
        value: spotAt(view, birth)?.type === 'number' ? Number(birth.text) : birth.text,
        text: `${shown(view, birth)} first appears here: ${brought[origin]} (${complaint.text})`,
        score: !blames ? (origin === 'tool' ? 0.55 : 0.38) : origin === 'tool' ? 0.66 : 0.45,
        kind: 'value',
      };
    }
  },
};
