/**
 * What is worth reading when nothing speaks for itself: the steps that have most to do with the call that failed.
 *
 * Never a cause by itself. It ranks what is left by facts: a value that came from there, a member of the same name, a value
 * of the same form, the same thing asked about, and a tool that is seldom used in this run.
 */
import { peek, type Step } from '@chassis/journal';
import { leavesOf } from '../json.ts';
import { sourcesOf } from '../lineage.ts';
import { sameName } from '../names.ts';
import { opened } from '../opened.ts';
import { inputKey } from '../outcome.ts';
import { nameOf } from '../pointer.ts';
import { isDistinctive } from '../search.ts';
import type { Evidence, Rule, Suspect } from './rule.ts';

const mostNamed = 6;
const mostRead = 160;

interface Wanted {
  readonly names: readonly string[];
  readonly forms: ReadonlySet<string>;
  readonly texts: ReadonlySet<string>;
}

export const related: Rule = {
  name: 'related',
  *find(evidence) {
    const { view, steps, symptom } = evidence;
    const failed = view.step(symptom.step);
    if (!failed) return;
    const own = inputKey(failed);
    const { from, reasonsOf } = relationsOf(evidence, failed);
    const found: (Suspect & { weight: number })[] = [];
    const near = steps.filter(
      (step) =>
        step.kind === 'tool' &&
        step.number !== symptom.step &&
        !(step.name === failed.name && inputKey(step) === own),
    );
    // A long run is looked at from both its ends; what gave a value is always looked at.
    const looked =
      near.length <= mostRead
        ? near
        : near.filter(
            ({ number }, index) =>
              index < mostRead / 2 || index >= near.length - mostRead / 2 || from.has(number),
          );
    for (const step of looked) {
      const reasons = [...reasonsOf(step)];
      if (reasons.length === 0) continue;
      reasons.sort((a, b) => b[0] - a[0]);
      const weight = reasons.reduce((sum, [part]) => sum + part, 0);
      const text = reasons
        .slice(0, 2)
        .map(([, reason]) => reason)
        .join('; ');
      found.push({
        step: step.number,
        pointer: step.error ? '/error/message' : '/output',
        text,
        score: Math.min(0.46, 0.14 + weight),
        weight,
        kind: 'value',
      });
    }
    found.sort((a, b) => b.weight - a.weight || a.step - b.step);
    for (const { weight: _, ...suspect } of found.slice(0, mostNamed)) yield suspect;
  },
};

/** What each step has to do with the failed call, as reasons with their weights; each step is read once. */
export function relationsOf({ traces, tools }: Evidence, failed: Step): Relations {
  const wanted = wantedBy(failed, traces);
  const uses = new Map(tools.map(({ name, fresh }) => [name, fresh.length]));
  const from = new Set(traces.flatMap(({ lineage }) => sourcesOf(lineage).map(({ step }) => step)));
  const via = new Set(traces.flatMap(({ lineage }) => lineage.links.map(({ to }) => to.step)));
  const known = new Map<number, Reason[]>();
  const reasonsOf = (step: Step): Reason[] => {
    const before = known.get(step.number);
    if (before) return before;
    const reasons: Reason[] = [];
    if (from.has(step.number)) reasons.push([0.2, 'a value of the failed call is from here']);
    else if (via.has(step.number)) reasons.push([0.12, 'a value of the failed call came by here']);
    reasons.push(...likeness(step, wanted));
    if (step.error) reasons.push([0.12, 'it failed']);
    const seldom = uses.get(step.name) ?? 0;
    if (seldom <= 3) reasons.push([seldom === 1 ? 0.08 : 0.06, 'a tool that is seldom used here']);
    known.set(step.number, reasons);
    return reasons;
  };
  return { from, reasonsOf };
}

type Reason = [number, string];

interface Relations {
  /** Steps that gave a value of the failed call. */
  readonly from: ReadonlySet<number>;
  readonly reasonsOf: (step: Step) => readonly Reason[];
}

function wantedBy(failed: Step, traces: Evidence['traces']): Wanted {
  const leaves = failed.kind === 'tool' ? leavesOf(failed.input) : [];
  const places = traces.map(({ complaint }) => complaint.place);
  const names = new Set(places.map(({ pointer }) => nameOf(pointer)));
  for (const { pointer } of leaves) names.add(nameOf(pointer));
  // What nothing holds has a form all the same, and its like may stand where it should have come from.
  const born = traces.flatMap(({ lineage }) => (lineage.origin === 'model' ? [lineage.birth.text] : []));
  const texts = leaves.flatMap(({ text }) => (isDistinctive(text) || text.length >= 4 ? [text] : []));
  return {
    names: [...names].filter((name) => name.length > 1 && name !== 'arguments'),
    forms: new Set((born.length > 0 ? born : texts).flatMap((text) => formOf(text) ?? [])),
    texts: new Set(texts),
  };
}

function likeness(step: Step, { names, forms, texts }: Wanted): [number, string][] {
  const reasons: [number, string][] = [];
  const output = peek(step, 'output');
  const results = leavesOf(opened(output as Parameters<typeof opened>[0])).slice(0, 2000);
  const name = names.find((one) => results.some(({ pointer }) => sameName(nameOf(pointer), one)));
  if (name !== undefined) reasons.push([0.14, `its result has a member ${name}, as the failed call`]);
  else {
    const asked = names.find((one) => leavesOf(step.input).some(({ pointer }) => nameOf(pointer) === one));
    if (asked !== undefined) reasons.push([0.05, `it was given ${asked}, as the failed call`]);
  }
  const like = results.some(({ text }) => tokens(text).some((token) => forms.has(formOf(token) ?? '-')));
  if (like) reasons.push([0.1, 'its result holds values of the same form']);
  const shared = leavesOf(step.input).find(({ text }) => texts.has(text));
  if (shared) reasons.push([0.1, `it was asked about ${JSON.stringify(shared.text)} as well`]);
  return reasons;
}

function tokens(text: string): string[] {
  return text.length > 4000 ? [] : text.split(/[\s"'<>()[\]{}|;]+/).slice(0, 200);
}

/** The form of a code: which kinds of characters, and how many digits in a row. Undefined for what has none. */
function formOf(text: string): string | undefined {
  if (text.length < 4 || text.length > 40 || !/\d/.test(text) || /^-?\d{1,3}(?:\.\d+)?$/.test(text))
    return undefined;
  return text.replaceAll(/\p{L}+/gu, 'a').replaceAll(/\d/g, '0');
}
