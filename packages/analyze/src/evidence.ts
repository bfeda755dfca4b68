/** What the rules judge by: the slice of a symptom, and the values behind it followed back to where they were born. */
import type { SessionView, Step } from '@chassis/journal';
import { lineage, sourcesOf } from './lineage.ts';
import { placeIn } from './opened.ts';
import { follow } from './pointer.ts';
import { rules } from './rules/index.ts';
import type { Evidence, Rule, Seen, Suspect, Trace } from './rules/rule.ts';
import { slice } from './slice.ts';
import { survey } from './survey.ts';
import { complaintsOf, type Symptom } from './symptom.ts';

/** The evidence, and what each rule saw in the results, by the rule's name. */
export interface Gathered {
  readonly evidence: Evidence;
  readonly seen: ReadonlyMap<string, Seen>;
  /** What was not looked at: nothing, older steps, or older steps among them one that a traced value came from. */
  readonly left: 'nothing' | 'older' | 'traced';
}

/** @param most of a longer slice the newest so many steps are looked at */
export function gather(
  view: SessionView,
  symptom: Symptom,
  against?: SessionView,
  most = Number.POSITIVE_INFINITY,
): Gathered {
  const traces = complaintsOf(view, symptom).flatMap((complaint) => {
    const found = lineage(view, complaint.place);
    return found ? [{ complaint, lineage: found }] : [];
  });
  const steps = slice(view, symptom.step, most).flatMap((number) => view.step(number) ?? []);
  const seeing = rules.flatMap((rule) => (rule.see ? [{ rule, seen: new Map<number, unknown>() }] : []));
  const surveyed = survey(steps, (step, output, recorded) => {
    for (const { rule, seen } of seeing) {
      const taken = rule.see?.(step, output, recorded);
      if (taken !== undefined) seen.set(step.number, taken);
    }
  });
  const evidence = { view, symptom, steps, traces, survey: surveyed, tools: surveyed.tools };
  return {
    evidence: against ? { ...evidence, against } : evidence,
    seen: new Map(seeing.map(({ rule, seen }) => [rule.name, seen])),
    left: steps.length < most ? 'nothing' : traces.every(isWithin(steps)) ? 'older' : 'traced',
  };
}

function isWithin([first]: readonly Step[]): (trace: Trace) => boolean {
  const from = first?.number ?? 0;
  return ({ lineage: found }) => sourcesOf(found).every(({ step }) => step === 0 || step >= from);
}

/** What a rule has to say. */
export function said(rule: Rule, { evidence, seen }: Gathered): Suspect[] {
  return [...rule.find(evidence, seen.get(rule.name) ?? new Map())].map((suspect) => {
    const { step, pointer } = suspect;
    const output = pointer?.startsWith('/output/') ? evidence.view.step(step)?.output : undefined;
    if (pointer === undefined || output === undefined || follow({ output }, pointer) !== undefined)
      return suspect;
    return { ...suspect, ...placeIn({ output }, pointer) };
  });
}
