/** A number in another unit than its siblings: the unit beside it or in its name differs, its size is a power of ten off, or it was passed on unconverted. */
import type { Step } from '@chassis/journal';
import { isNumber, type Leaf, leavesOf } from '../json.ts';
import { nearestOf, sameStem, unitOf } from '../nearest.ts';
import type { Place } from '../place.ts';
import { nameOf, parentOf, pointer, shapeOf } from '../pointer.ts';
import { spotAt } from '../spots.ts';
import { groupsOf } from './repeated-call.ts';
import { byTool, type Evidence, type Rule, type Suspect } from './rule.ts';

const unitName = /(?:^|_)(?:unit|units|uom|currency|scale|measure)$/i;

export const wrongUnit: Rule = {
  name: 'wrong-unit',
  *find(evidence) {
    for (const [name, calls] of byTool(evidence.steps)) {
      const fresh = groupsOf(calls)
        .flatMap((same) => same[0] ?? [])
        .filter(({ status }) => status === 'ok');
      yield* otherUnit(name, fresh);
      yield* otherName(name, fresh);
      yield* otherSize(name, fresh);
    }
    yield* passedOn(evidence);
  },
};

/** `unit: "g"` where the others say `kg`. */
function* otherUnit(tool: string, calls: readonly Step[]): Generator<Suspect> {
  const shapes = grouped(
    calls,
    ({ pointer: at, value }) => typeof value === 'string' && unitName.test(nameOf(at)),
  );
  for (const leaves of shapes.values()) {
    const counts = Map.groupBy(leaves, ({ text }) => text);
    if (counts.size < 2) continue;
    const usual = [...counts].sort((a, b) => b[1].length - a[1].length)[0]?.[0];
    const odd = leaves.find(({ text }) => text !== usual);
    if (!odd) continue;
    yield suspect(
      odd,
      `${nameOf(odd.pointer)} is ${JSON.stringify(odd.text)}, elsewhere in results of ${tool} ${JSON.stringify(usual)}`,
      0.78,
    );
  }
}

/** `amount_cents` where the others say `amount`. */
function* otherName(tool: string, calls: readonly Step[]): Generator<Suspect> {
  const shapes = grouped(calls, ({ value }) => isNumber(value));
  const names = [...shapes.keys()];
  for (const shape of names) {
    const name = nameOf(shape);
    const twin = names.find(
      (other) =>
        other !== shape &&
        parentOf(other) === parentOf(shape) &&
        sameStem(nameOf(other), name) &&
        unitOf(nameOf(other)) !== unitOf(name),
    );
    const [here, there] = [shapes.get(shape) ?? [], twin === undefined ? [] : (shapes.get(twin) ?? [])];
    const apart = here.every(({ step }) => there.every((other) => other.step !== step));
    if (twin === undefined || !apart || here.length >= there.length || !here[0]) continue;
    yield suspect(
      here[0],
      `the number is called ${name} here, ${nameOf(twin)} elsewhere in results of ${tool}`,
      0.76,
    );
  }
}

/** All numbers of one result a power of ten away from those of the others. */
function* otherSize(tool: string, calls: readonly Step[]): Generator<Suspect> {
  const shapes = grouped(
    calls,
    ({ pointer: at, value }) =>
      isNumber(value) && !/(?:^|_)(?:id|page|index|count|total|time|number)$/i.test(nameOf(at)),
  );
  for (const leaves of shapes.values()) {
    const results = Map.groupBy(leaves, ({ step }) => step);
    if (results.size < 3) continue;
    const medians = [...results].map(([step, own]) => ({
      step,
      own,
      middle: median(own.map(({ text }) => Math.abs(Number(text)))),
    }));
    for (const { own, middle } of medians) {
      const others = medians.filter((other) => other.own !== own).map((other) => other.middle);
      const usual = median(others);
      const ratio = middle / usual;
      const steady = Math.max(...others) / Math.min(...others) < 10;
      if (!steady || !(ratio >= 40 || ratio <= 1 / 40) || usual === 0 || middle === 0 || !own[0]) continue;
      const times =
        ratio > 1 ? `${Math.round(ratio)} times larger` : `${Math.round(1 / ratio)} times smaller`;
      yield suspect(own[0], `numbers here are about ${times} than in the other results of ${tool}`, 0.66);
    }
  }
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

interface Found extends Leaf {
  readonly step: number;
}

function grouped(calls: readonly Step[], wanted: (leaf: Leaf) => boolean): Map<string, Found[]> {
  const leaves = calls.flatMap(({ number, output }) =>
    leavesOf(output, pointer('output'))
      .filter(wanted)
      .map((leaf): Found => ({ ...leaf, step: number })),
  );
  return Map.groupBy(leaves, ({ pointer: at }) => shapeOf(at));
}

function suspect({ step, pointer: at, value }: Found, text: string, score: number): Suspect {
  return { step, pointer: at, value, text, score, kind: 'value' };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
}
