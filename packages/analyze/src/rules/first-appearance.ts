/** The value that the failure complains about came into the run here, and travelled on unchanged. */
import type { Birth } from '../lineage.ts';
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
  *find({ traces, symptom }) {
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
        value: birth.text,
        text: `${JSON.stringify(birth.text)} first appears here: ${brought[origin]} (${complaint.text})`,
        score: origin === 'tool' ? 0.66 : 0.56,
        kind: 'value',
      };
    }
  },
};
