/**
 * The best source of a value among the data that was in sight.
 *
 * A long or rare text may be found anywhere. A short or frequent one proves nothing alone: it counts only under a
 * matching name or beside the same neighbours. Of equally good sources the earliest is the answer: copies come later.
 */
import type { SessionView } from '@chassis/journal';
import type { Holder } from './holders.ts';
import { type Form, findExact, otherForms, shortest } from './match.ts';
import { sameName, sameStem } from './names.ts';
import { numberReadings, significantDigits } from './numbers.ts';
import type { Place } from './place.ts';
import { neighboursOf, type Spot, spotsOf } from './spots.ts';

export interface Hit {
  readonly holder: Holder;
  readonly place: Place;
  readonly form: Form;
  readonly spot: Spot;
  /** 0: the bytes alone; 1: also the name or the neighbours agree; 2: both. */
  readonly context: number;
  /** The only place in sight that has a short value: probably its source, no more. */
  readonly guess?: boolean;
}

/** More places than this and a text is too frequent to be traced by itself. */
const frequent = 8;

/** What a search came to. */
export interface Found {
  /** The best source; absent when there is none, or when nothing tells which of several it is. */
  readonly hit?: Hit;
  /** The value stands in sight, but is too short or too frequent to say which place it is from. */
  readonly ambiguous: boolean;
}

/** The best source, or that nothing in sight carries the value, or that it cannot be told. */
export function search(view: SessionView, needle: Spot, holders: readonly Holder[]): Found {
  if (needle.text === '' || needle.type === 'boolean' || needle.type === 'null') return { ambiguous: true };
  const exact = best(view, needle, holders, exactIn);
  return exact.hit || exact.ambiguous ? exact : best(view, needle, holders, otherFormIn);
}

/** Whether a text is long enough to be looked for by itself. */
export function isDistinctive(text: string): boolean {
  return numberReadings(text).size > 0 ? significantDigits(text) >= 4 : text.length >= shortest;
}

/** Looks for a value, prepared once, in one spot after the other. */
type Look = (needle: Spot, distinctive: boolean) => (spot: Spot) => { form: Form; place: Place } | undefined;

function best(view: SessionView, needle: Spot, holders: readonly Holder[], look: Look): Found {
  const distinctive = isDistinctive(needle.text);
  const lookAt = look(needle, distinctive);
  const neighbours = neighboursOf(view, needle);
  const hits: Hit[] = [];
  for (const holder of holders) {
    const spots = spotsOf(view, holder.step, holder.root);
    let beside: number | undefined;
    for (const spot of spots) {
      const found = lookAt(spot);
      if (!found || isSelf(needle, found.place) || !wasSeen(holder, spot)) continue;
      beside ??= commonTexts(neighbours, spots);
      const context = (sameStem(needle.name, spot.name) ? 1 : 0) + (beside >= 2 ? 1 : 0);
      hits.push({ ...found, holder, spot, context });
    }
  }
  const alone = distinctive && hits.length <= frequent;
  const eligible = alone ? hits : hits.filter(({ context }) => context > 0);
  const most = Math.max(...eligible.map(({ context }) => context));
  const hit = eligible.find(({ context }) => context === most);
  if (hit) return { hit, ambiguous: false };
  const [only] = hits;
  if (only && hits.length === 1 && isTelling(needle.text))
    return { hit: { ...only, guess: true }, ambiguous: false };
  return { ambiguous: hits.length > 0 };
}

/** Too short to be looked for alone, but not so short that a single other place says nothing. */
function isTelling(text: string): boolean {
  return numberReadings(text).size > 0 ? significantDigits(text) >= 2 : text.length >= 3;
}

const exactIn: Look = (needle, distinctive) => (spot) => {
  if (spot.text === needle.text) return { form: 'exact', place: placeOf(spot) };
  if (!distinctive || spot.text.length <= needle.text.length || spot.range) return undefined;
  const found = findExact(needle.text, spot.text);
  return found && { form: 'exact', place: { ...placeOf(spot), range: found.range } };
};

const otherFormIn: Look = (needle, distinctive) => {
  const find = otherForms(needle.text);
  return (spot) => {
    if (!distinctive && !sameName(needle.name, spot.name)) return undefined;
    const found = find(spot.text);
    if (!found) return undefined;
    const whole = found.range[0] === 0 && found.range[1] === spot.text.length;
    if (whole) return { form: found.form, place: placeOf(spot) };
    return spot.range || spot.type !== 'string'
      ? undefined
      : { form: found.form, place: { ...placeOf(spot), range: found.range } };
  };
};

function placeOf(spot: Spot): Place {
  const place = { step: spot.step, pointer: spot.pointer };
  return spot.range ? { ...place, range: spot.range } : place;
}

function isSelf(needle: Spot, place: Place): boolean {
  return needle.step === place.step && needle.pointer === place.pointer;
}

/** A shortened result shows only part of its data: what the text left out was not in sight. */
function wasSeen(holder: Holder, spot: Spot): boolean {
  if (holder.seen === undefined) return true;
  return holder.seen.includes(spot.text) || holder.seen.includes(JSON.stringify(spot.text).slice(1, -1));
}

function commonTexts(neighbours: ReadonlySet<string>, spots: readonly Spot[]): number {
  if (neighbours.size === 0) return 0;
  const common = new Set<string>();
  for (const { text } of spots) if (neighbours.has(text)) common.add(text);
  return common.size;
}
