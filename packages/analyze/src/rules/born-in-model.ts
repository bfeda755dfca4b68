/** A value that the failure depends on was written by the model, and nothing that it had seen holds it. */

import { nearestOf } from '../nearest.ts';
import { nameOf } from '../pointer.ts';
import { spotAt } from '../spots.ts';
import { isUnknownThing } from './looks.ts';
import type { Rule } from './rule.ts';

export const bornInModel: Rule = {
  name: 'born-in-model',
  *find({ view, traces, symptom }) {
    for (const { complaint, lineage } of traces) {
      if (lineage.origin !== 'model' || lineage.pieces.length > 0) continue;
      const direct = complaint.kind === 'direct';
      const unknown = isUnknownThing(symptom.text);
      const { birth } = lineage;
      const spot = spotAt(view, birth);
      const near = spot && nearestOf(view, spot);
      const what = nameOf(complaint.place.pointer);
      const hint = near ? `; nearest in sight: ${near.text}` : '';
      yield {
        step: birth.step,
        pointer: birth.pointer,
        value: birth.text,
        text: `the model wrote ${JSON.stringify(birth.text)}${what === '' ? '' : ` as ${what}`}, which nothing in its sight holds${hint}`,
        score: direct ? 0.72 : unknown || near ? 0.6 : 0.4,
        kind: 'act',
      };
    }
  },
};
