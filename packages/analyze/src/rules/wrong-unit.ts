/** A number in another unit than its siblings: the unit beside it or in its name differs, its size is a power of ten off, or it was passed on unconverted. */
import { type Column, pointerIn } from '../columns.ts';
import { isNumber, leafText } from '../json.ts';
import { sameStem, unitOf } from '../names.ts';
import { nearestOf } from '../nearest.ts';
import type { Place } from '../place.ts';
import { parentOf } from '../pointer.ts';
import { spotAt } from '../spots.ts';
import { type Evidence, type Rule, type Suspect, toolsOf } from './rule.ts';

const unitName = /(?:^|_)(?:unit|units|uom|currency|scale|measure)$/i;

export const wrongUnit: Rule = {
  name: 'wrong-unit',
  *find(evidence) {
    for (const { name, columns } of toolsOf(evidence.steps)) {
      yield* otherUnit(name, columns);
      const numbers = columns.filter(({ values }) => values.some(isNumber));
      yield* otherName(name, numbers);
      yield* otherSize(name, numbers);
    }
    yield* passedOn(evidence);
  },
};

/** `unit: "g"` where the others say `kg`. */
function* otherUnit(tool: string, columns: readonly Column[]): Generator<Suspect> {
  for (const column of columns) {
    if (!unitName.test(column.name)) continue;
    const texts = column.values.filter((value) => typeof value === 'string');
    const counts = Map.groupBy(texts, (text) => text);
    if (counts.size < 2) continue;
    const usual = [...counts].sort((a, b) => b[1].length - a[1].length)[0]?.[0];
    const odd = column.values.findIndex((value) => typeof value === 'string' && value !== usual);
    yield suspect(
      column,
      odd,
      `${column.name} is ${JSON.stringify(column.values[odd])}, elsewhere in results of ${tool} ${JSON.stringify(usual)}`,
      0.78,
    );
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
    if (!twin || column.values.length >= twin.values.length) continue;
    const theirs = new Set(twin.steps);
    const here = column.values.findIndex(isNumber);
    if (column.steps.some((step) => theirs.has(step))) continue;
    yield suspect(
      column,
      here,
      `the number is called ${column.name} here, ${twin.name} elsewhere in results of ${tool}`,
      0.76,
    );
  }
}

/** All numbers of one result a power of ten away from those of the others. */
function* otherSize(tool: string, columns: readonly Column[]): Generator<Suspect> {
  for (const column of columns) {
    if (/(?:^|_)(?:id|page|index|count|total|time|number)$/i.test(column.name)) continue;
    const middles = middlesOf(column);
    if (middles.length < 3) continue;
    const sorted = middles.map(({ middle }) => middle).sort((a, b) => a - b);
    const half = Math.floor((sorted.length - 2) / 2);
    for (const { index, middle } of middles) {
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
      yield suspect(
        column,
        index,
        `numbers here are about ${times} than in the other results of ${tool}`,
        0.66,
      );
    }
  }
}

function isFar(middle: number, usual = 0): boolean {
  return middle >= 40 * usual || middle * 40 <= usual;
}

/** For each result the median of its numbers, and where the first of them stands. */
function middlesOf({ values, steps }: Column): { index: number; middle: number }[] {
  const found: { index: number; middle: number }[] = [];
  for (let from = 0; from < values.length; ) {
    let to = from + 1;
    while (to < values.length && steps[to] === steps[from]) to++;
    const numbers: number[] = [];
    let index = -1;
    for (let at = from; at < to; at++) {
      if (!isNumber(values[at])) continue;
      if (index < 0) index = at;
      numbers.push(Math.abs(Number(leafText(values[at]))));
    }
    if (index >= 0) found.push({ index, middle: median(numbers) });
    from = to;
  }
  return found;
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

function suspect(column: Column, index: number, text: string, score: number): Suspect {
  const value = column.values[index] ?? null;
  return {
    step: column.steps[index]?.number ?? 0,
    pointer: pointerIn(column, index),
    value,
    text,
    score,
    kind: 'value',
  };
}

function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
}
