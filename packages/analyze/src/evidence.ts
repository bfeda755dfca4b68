/** What the rules judge by: the slice of a symptom, and the values behind it followed back to where they were born. */
import type { SessionView } from '@chassis/journal';
import { lineage } from './lineage.ts';
import type { Evidence } from './rules/rule.ts';
import { slice } from './slice.ts';
import { complaintsOf, type Symptom } from './symptom.ts';

export function gather(view: SessionView, symptom: Symptom, against?: SessionView): Evidence {
  const traces = complaintsOf(view, symptom).flatMap((complaint) => {
    const found = lineage(view, complaint.place);
    return found ? [{ complaint, lineage: found }] : [];
  });
  const steps = slice(view, symptom.step).flatMap((number) => view.step(number) ?? []);
  // While somebody holds them, values that are kept as text are not parsed again for every rule.
  const held = steps.map(({ output }) => output);
  return { view, symptom, steps, traces, held, ...(against ? { against } : {}) };
}
