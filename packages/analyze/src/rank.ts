/**
 * Which suspect is the cause: what the rules found, weighed by how it is tied to the failure.
 *
 * A wrong value that the failure complains about outweighs everything beside its path. What a model made up is explained
 * by what it was not shown. Of equals the earliest wins, and of equal calls the first: later ones only repeat it.
 */

import type { Step } from '@chassis/journal';
import { type Gathered, said } from './evidence.ts';
import { leafText, leavesOf } from './json.ts';
import { sourcesOf } from './lineage.ts';
import { findExact } from './match.ts';
import { opened } from './opened.ts';
import { callOf } from './origins.ts';
import { outputText } from './outcome.ts';
import type { Place } from './place.ts';
import { rules } from './rules/index.ts';
import type { Evidence, Suspect } from './rules/rule.ts';
import { isDistinctive } from './search.ts';
import { isMadeBy } from './symptom.ts';
import { type IsTied, tiesOf } from './ties.ts';

export interface Ranked extends Suspect {
  readonly rule: string;
}

/** Scores nearer than this are equal. */
const equal = 0.03;

/** What has nothing to do with the failure stays behind all that has, however odd it looks. */
const apart = 0.55;
const alone = 0.75;
/** So many values of a result in what another tool was given are no accident. */
const fewFed = 2;

/** Rules about the repetition itself: their place is the later call. */
const ofRepetition = new Set(['late-duplicate', 'unknown-outcome', 'changed-retry', 'out-of-order']);

/** All suspects of a failure, the likeliest cause first; one for each place. */
export function ranked(gathered: Gathered): Ranked[] {
  return order(onePerPlace(weighed(gathered)), gathered.evidence);
}

/** Everything that the rules found, each with its weight. */
export function weighed(gathered: Gathered): Ranked[] {
  const { evidence } = gathered;
  const first = new Map<number, number>();
  /** The model step that wrote a call for the first time, by the one that wrote it again. */
  const calls = new Map<number, number>();
  for (const { groups } of evidence.tools)
    for (const [same, ...again] of groups)
      for (const step of again) {
        if (!same) continue;
        first.set(step.number, same.number);
        const [wrote, before] = [callOf(evidence.view, step), callOf(evidence.view, same)];
        if (wrote && before && wrote.text === before.text && wrote.pointer === before.pointer)
          calls.set(wrote.model.number, before.model.number);
      }
  const found = rules.flatMap((rule) =>
    said(rule, gathered).map((suspect): Ranked => ({ ...suspect, rule: rule.name })),
  );
  const blamed = found.some(({ kind, score }) => kind === 'end' && score >= 0.7);
  const isTied = tiesOf(evidence);
  const suspects = found.map((suspect): Ranked => {
    const own = evidence.view.step(suspect.step);
    const repeats =
      own?.kind === 'tool' &&
      suspect.kind !== 'act' &&
      suspect.kind !== 'end' &&
      !ofRepetition.has(suspect.rule);
    const tool = repeats ? (first.get(own.number) ?? suspect.step) : suspect.step;
    const step = calls.get(tool) ?? tool;
    // The way to the failure leads over the last of equal calls; the first is where it began.
    const score = Math.max(
      ...[suspect.step, step].map((at) => weight({ ...suspect, step: at }, evidence, blamed)),
    );
    return { ...suspect, step, score: round(score) };
  });
  return setApart(suspects, evidence, isTied);
}

/** Rules that have weighed the tie to the failure themselves. */
const asIs = new Set([
  'first-appearance',
  'born-in-model',
  'unlike-good-run',
  'related',
  'abridged-write',
  'swapped-ends',
  'other-place',
  'wrong-choice',
  'unit-beside',
  'undecoded',
  'other-version',
  'misread-argument',
  'told-unit',
]);

function weight(suspect: Ranked, { view, traces, symptom }: Evidence, blamed: boolean): number {
  const { step, score, kind, rule } = suspect;
  if (kind === 'end' || asIs.has(rule)) return score;
  const direct = traces.filter(({ complaint }) => complaint.kind === 'direct');
  const born = traces.filter(({ lineage }) =>
    sourcesOf(lineage).some(
      (from) => (from.step === step || from.step === suspect.twin) && overlaps(suspect, from),
    ),
  );
  // A failure that lies outside of the run is not explained by values in it.
  if (blamed && step !== symptom.step) return score * 0.6;
  if (born.some(({ complaint }) => complaint.kind === 'direct')) return raise(score, 0.6);
  if (step === symptom.step) return score;
  const madeUp = direct.some(
    ({ lineage }) => lineage.origin === 'model' && !lineage.derived && lineage.birth.step > step,
  );
  if (kind === 'missing' && madeUp) return raise(score, 0.4);
  if (born.length > 0) return raise(score, 0.35);
  if (direct.some(({ lineage }) => lineage.links.some(({ to }) => to.step === step)))
    return raise(score, 0.2);
  const own = view.step(step);
  // What was done to the very thing that the failure speaks of.
  const acted =
    own?.kind === 'tool' &&
    kind === 'missing' &&
    rule !== 'empty-result' &&
    direct.some(({ lineage: { birth } }) => isGiven(own, birth.text));
  if (acted) return raise(score, 0.2);
  // The name of what the run has made says what is wrong, and not why.
  const given = direct.filter(
    ({ lineage: { origin, birth } }) => origin === 'tool' && !isMade(view.step(birth.step), birth.text),
  );
  if (given.length === 0)
    return kind === 'missing' && rule !== 'empty-result' && isUnfounded(traces, step)
      ? raise(score, 0.25)
      : score;
  // The same value may stand in several results; from which of them it was taken is not always told.
  const holds = own?.kind === 'tool' && given.some(({ lineage }) => holdsValue(own, lineage.birth.text));
  if (holds) return raise(score, 0.2);
  // What a tool worked out is as wrong as what it was given.
  const fed = given.some(({ lineage: { birth } }) => isFed(view.step(birth.step), suspect, own));
  return fed ? raise(score, 0.35) : score * 0.6;
}

function isMade(step: Step | undefined, text: string): boolean {
  return step?.kind === 'tool' && isMadeBy(step, text);
}

/** Whether an argument of the failed call was made up after a step. */
function isUnfounded(traces: Evidence['traces'], step: number): boolean {
  return traces.some(
    ({ lineage }) =>
      lineage.origin === 'model' &&
      !lineage.derived &&
      lineage.pieces.length === 0 &&
      lineage.birth.step > step &&
      isDistinctive(lineage.birth.text),
  );
}

/**
 * Suspects without a tie to the failure, behind those that have one. One oddity alone may be the cause for reasons that the
 * record does not tell; of several in the work of several tools none is.
 */
function setApart(suspects: readonly Ranked[], { view, traces }: Evidence, isTied: IsTied): Ranked[] {
  const led = new Set(traces.flatMap(({ lineage }) => sourcesOf(lineage).map(({ step }) => step)));
  // A tool that gave a value of the failed call has to do with it in what it did not give as well.
  const gave = new Set([...led].flatMap((number) => view.step(number)?.name ?? []));
  const given = (number: number): boolean => {
    const step = view.step(number);
    return step?.kind === 'tool' && gave.has(step.name);
  };
  const tied = suspects.map(
    ({ step, kind, rule }) =>
      given(step) ||
      kind === 'end' ||
      asIs.has(rule) ||
      led.has(step) ||
      ofRepetition.has(rule) ||
      isTied(step),
  );
  const strong = suspects.filter(({ score }) => score >= 0.5);
  // What a model made up has a reason in what it was not shown, and that need not speak of the same things.
  const some = suspects.some(
    ({ score, rule, kind }, index) => tied[index] && score >= 0.5 && !asIs.has(rule) && kind !== 'end',
  );
  const odd = new Set(
    strong.flatMap((suspect) => (tied[suspects.indexOf(suspect)] ? [] : [view.step(suspect.step)?.name])),
  );
  const unfounded = traces.some(
    ({ lineage: { origin, derived, pieces, birth } }) =>
      origin === 'model' && !derived && pieces.length === 0 && isDistinctive(birth.text),
  );
  const by = some || odd.size > 1 ? apart : unfounded ? 1 : alone;
  return suspects.map((suspect, index) =>
    tied[index] ? suspect : { ...suspect, score: round(suspect.score * by) },
  );
}

/** Whether a tool was given the suspected value, or several values of the suspected result. */
function isFed(step: Step | undefined, { value }: Suspect, from: Step | undefined): boolean {
  if (step?.kind !== 'tool' || from?.kind !== 'tool' || step.number <= from.number) return false;
  const given = leavesOf(step.input).map(({ text }) => text);
  const text = leafText(value) ?? '';
  if (isDistinctive(text) && given.includes(text)) return true;
  const results = new Set(leavesOf(opened(from.output)).map((leaf) => leaf.text));
  return given.filter((one) => results.has(one)).length >= fewFed;
}

function isGiven(step: Step, text: string): boolean {
  return text.length >= 3 && leavesOf(step.input).some((leaf) => leaf.text === text);
}

function holdsValue(step: Step, text: string): boolean {
  return isDistinctive(text) && findExact(text, outputText(step)) !== undefined;
}

function raise(score: number, by: number): number {
  return score + (1 - score) * by;
}

/** Whether a suspicion is about a place: the same, or a container of it. */
function overlaps(suspect: Suspect, { pointer, range }: Place): boolean {
  const at = suspect.pointer;
  if (at !== pointer) return at === undefined || pointer.startsWith(`${at}/`);
  // Of a text that holds much, one part is no other.
  const own = suspect.range;
  return !own || !range || (own[0] < range[1] && range[0] < own[1]);
}

function onePerPlace(suspects: readonly Ranked[]): Ranked[] {
  const places = new Map<string, Ranked>();
  for (const suspect of suspects) {
    const key = `${suspect.step} ${suspect.pointer ?? ''}@${suspect.range?.join('-') ?? ''} ${suspect.kind === 'act' ? suspect.rule : ''}`;
    const before = places.get(key);
    if (!before || before.score < suspect.score) places.set(key, suspect);
  }
  return [...places.values()];
}

function order(suspects: readonly Ranked[], { traces }: Evidence): Ranked[] {
  const complained = (suspect: Ranked): number => {
    const index = traces.findIndex(
      ({ lineage: { birth } }) =>
        birth.step === suspect.step &&
        birth.pointer === suspect.pointer &&
        (!birth.range || !suspect.range || birth.range.join() === suspect.range.join()),
    );
    return index < 0 ? traces.length : index;
  };
  const sorted = suspects.toSorted(
    (a, b) => b.score - a.score || a.step - b.step || complained(a) - complained(b),
  );
  const top = sorted[0];
  if (!top) return [];
  const equals = sorted
    .filter(({ score }) => top.score - score < equal)
    .sort((a, b) => a.step - b.step || complained(a) - complained(b));
  return [...equals, ...sorted.filter(({ score }) => top.score - score >= equal)];
}

function round(score: number): number {
  return Math.round(score * 100) / 100;
}
