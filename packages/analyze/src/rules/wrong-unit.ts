/** A number in another unit than its siblings: the unit beside it or in its name differs, its size is a power of ten off, or it was passed on unconverted. */
import { type Column, pointerOf, type Sighting, type Told, unitName } from '../columns.ts';
import { isNumber, leafText } from '../json.ts';
import { sameStem, unitOf } from '../names.ts';
import { nearestOf } from '../nearest.ts';
import type { Place } from '../place.ts';
import { parentOf } from '../pointer.ts';
import { spotAt } from '../spots.ts';
import type { Evidence, Rule, Suspect } from './rule.ts';

export const wrongUnit: Rule = {
  name: 'wrong-unit',
  *find(evidence) {
    for (const { name, columns } of evidence.tools) {
      yield* otherUnit(name, columns);
      const numbers = columns.filter(({ looks }) => looks.has('number') || looks.has('negative'));
      yield* otherName(name, numbers);
      yield* otherSize(name, numbers);
      yield* strays(numbers);
    }
    yield* passedOn(evidence);
  },
};

/** `unit: "g"` where the others say `kg`. */
function* otherUnit(tool: string, columns: readonly Column[]): Generator<Suspect> {
  for (const column of columns) {
    if (!unitName.test(column.name)) continue;
    const texts = column.told.filter(({ value }) => typeof value === 'string');
    const counts = Map.groupBy(texts, ({ value }) => value);
    if (counts.size < 2) continue;
    const often = (told: readonly Told[]): number => told.reduce((sum, { times }) => sum + times, 0);
    const usual = [...counts].sort((a, b) => often(b[1]) - often(a[1]))[0]?.[0];
    const odd = texts.find(({ value }) => value !== usual);
    if (!odd) continue;
    const text = `${column.name} is ${JSON.stringify(odd.value)}, elsewhere in results of ${tool} ${JSON.stringify(usual)}`;
    yield suspect(column, odd, text, 0.78);
  }
}

/** `amount_cents` where the others say `amount`. */
function* otherName(tool: string, columns: readonly Column[]): Generator<Suspect> {
  for (const column of columns) {
    const twin = columns.find(
      (other) =>
        other !== column &&
        parentOf(other.shape) === parentOf(column.shape) &&
        sameStem(other.name, column.name) &&
        unitOf(other.name) !== unitOf(column.name),
    );
    const here = column.looks.get('number')?.first[0];
    if (!twin || !here || column.count >= twin.count) continue;
    const theirs = new Set(twin.steps);
    if (column.steps.some((step) => theirs.has(step))) continue;
    const text = `the number is called ${column.name} here, ${twin.name} elsewhere in results of ${tool}`;
    yield suspect(column, here, text, 0.76);
  }
}

/** All numbers of one result a power of ten away from those of the others. */
function* otherSize(tool: string, columns: readonly Column[]): Generator<Suspect> {
  for (const column of columns) {
    if (/(?:^|_)(?:id|page|index|count|total|time|number)$/i.test(column.name)) continue;
    const { middles } = column;
    if (middles.length < 3) continue;
    // What only rises from result to result is a running number, or a total.
    if (middles.every(({ middle }, index) => index === 0 || middle > (middles[index - 1]?.middle ?? 0)))
      continue;
    const sorted = Float64Array.from(middles, ({ middle }) => middle).sort();
    const half = Math.floor((sorted.length - 2) / 2);
    for (const { at, middle } of middles) {
      if (!isFar(middle, sorted[half]) && !isFar(middle, sorted[half + 1])) continue;
      const own = sorted.indexOf(middle);
      const [low, high] = [
        sorted[own === 0 ? 1 : 0] ?? 0,
        sorted.at(own === sorted.length - 1 ? -2 : -1) ?? 0,
      ];
      // The median of the others: the place of the middle shifts when one before it is left out.
      const usual = sorted[half < own ? half : half + 1] ?? 0;
      const ratio = middle / usual;
      const steady = high / low < 10;
      if (!steady || !(ratio >= 40 || ratio <= 1 / 40) || usual === 0 || middle === 0) continue;
      const times =
        ratio > 1 ? `${Math.round(ratio)} times larger` : `${Math.round(1 / ratio)} times smaller`;
      yield suspect(column, at, `numbers here are about ${times} than in the other results of ${tool}`, 0.66);
    }
  }
}

/** One row a power of ten away from all others of its list. */
function* strays(columns: readonly Column[]): Generator<Suspect> {
  for (const column of columns) {
    if (/(?:^|_)(?:id|page|index|count|total|time|number)$/i.test(column.name)) continue;
    for (const stray of column.strays.slice(0, 3)) {
      const text = `${leafText(stray.value)} is at least 40 times smaller or larger than every other ${column.name} of this list`;
      yield suspect(column, stray, text, 0.62);
    }
  }
}

function isFar(middle: number, usual = 0): boolean {
  return middle >= 40 * usual || middle * 40 <= usual;
}

/** A value that goes from `weight_g` to `weight_kg` as it is, or that the model scaled without need. */
function* passedOn({ view, traces }: Evidence): Generator<Suspect> {
  for (const { lineage } of traces) {
    for (const { from, to } of lineage.links) {
      const [a, b] = [spotAt(view, from), spotAt(view, to)];
      const [unitA, unitB] = [unitOf(a?.name ?? ''), unitOf(b?.name ?? '')];
      if (
        !a ||
        !b ||
        !isNumber(Number(a.text)) ||
        unitA === unitB ||
        unitA === undefined ||
        unitB === undefined
      )
        continue;
      if (!sameStem(a.name, b.name) && view.step(from.step)?.kind !== 'model') continue;
      const text = `${to.text} is ${b.name} at :${to.step} and was passed on unconverted as ${a.name}`;
      yield { ...placeOf(from), value: from.text, text, score: 0.78, kind: 'act' };
    }
    const birth = lineage.origin === 'model' ? spotAt(view, lineage.birth) : undefined;
    const near = birth && nearestOf(view, birth);
    if (!birth || near?.relation !== 'scaled' || near.factor === undefined) continue;
    const times = near.factor >= 1 ? `${near.factor} times` : `1/${Math.round(1 / near.factor)} of`;
    const text = `${birth.text} is ${times} ${near.text}, which :${near.step}${near.pointer} holds`;
    yield { step: birth.step, pointer: birth.pointer, value: birth.text, text, score: 0.78, kind: 'act' };
  }
}

function placeOf({ step, pointer: at, range }: Place): Place {
  return range ? { step, pointer: at, range } : { step, pointer: at };
}

function suspect(column: Column, seen: Sighting, text: string, score: number): Suspect {
  const { step, value } = seen;
  return { step: step.number, pointer: pointerOf(column, seen), value, text, score, kind: 'value' };
}
