/** A number that the person gave in one unit was passed on as it is, where another is meant. */
import type { Step } from '@chassis/journal';
import { type Leaf, leavesOf, outputLeaves } from '../json.ts';
import { areOther } from '../measures.ts';
import { sameName, unitOf } from '../names.ts';
import { significantDigits } from '../numbers.ts';
import { opened } from '../opened.ts';
import { follow, lastKey, parentOf } from '../pointer.ts';
import type { Rule, Suspect } from './rule.ts';

/** A number and the word behind it. */
const measured = /(?<![\w.,-])(\d+(?:\.\d+)?)\s?(\p{L}{1,12}|%|°[CF])/gu;
/** Names of numbers that count, order or name something: they may be of any size. */
const sizeless =
  /(?:^|_)(?:id|page|index|offset|count|total|version|revision|serial|time|timestamp|port|year|number|no)$/i;
const far = 1000;
const mostLeaves = 60;
const mostBefore = 40;

interface Told {
  readonly number: number;
  readonly unit: string;
}

export const toldUnit: Rule<readonly Leaf[]> = {
  name: 'told-unit',
  see({ kind, status }, output) {
    if (kind !== 'tool' || status !== 'ok') return undefined;
    const numbers = outputLeaves(output).filter(({ value }) => typeof value === 'number');
    return numbers.length > 0 ? numbers.slice(0, mostLeaves) : undefined;
  },
  *find({ view, steps }, seen) {
    const told = view.turns.flatMap(({ input }) =>
      [...input.matchAll(measured)].map(([, number, unit = '']): Told => ({ number: Number(number), unit })),
    );
    for (const [index, step] of steps.entries()) {
      if (step.kind !== 'tool' || step.call_id === undefined) continue;
      const numbers = leavesOf(step.input, '/input').filter(({ value }) => typeof value === 'number');
      for (const leaf of numbers.slice(0, mostLeaves)) {
        const earlier = steps.slice(Math.max(0, index - mostBefore), index);
        const before = readBefore(leaf, earlier, seen);
        const found =
          unconverted(leaf, told) ??
          passedOn(leaf, earlier, seen) ??
          asShare(leaf, told, before) ??
          outOfScale(leaf, before);
        if (found)
          yield { step: step.number, pointer: leaf.pointer, value: leaf.value, kind: 'act', ...found };
      }
    }
  },
};

type Found = Pick<Suspect, 'text' | 'score'>;

/** `memory_bytes: 512` where the person spoke of 512 MiB. */
function unconverted({ pointer, value, text }: Leaf, told: readonly Told[]): Found | undefined {
  const name = lastKey(pointer);
  const unit = unitOf(name);
  const other = told.find((one) => one.number === value && unit !== undefined && areOther(unit, one.unit));
  return (
    other && {
      text: `the person said ${other.number} ${other.unit}, and ${name} is ${text}`,
      score: 0.78,
    }
  );
}

/** `memory_mib` given the very number that was read in bytes. */
function passedOn(
  { pointer, value, text }: Leaf,
  steps: readonly Step[],
  seen: ReadonlyMap<number, readonly Leaf[]>,
): Found | undefined {
  const name = lastKey(pointer);
  const unit = unitOf(name);
  if (unit === undefined || significantDigits(text) < 2) return undefined;
  let found: Found | undefined;
  for (const step of steps) {
    for (const leaf of seen.get(step.number) ?? []) {
      if (leaf.value !== value) continue;
      const other = unitOf(lastKey(leaf.pointer)) ?? unitBeside(step, leaf);
      if (other === unit) return undefined;
      if (other !== undefined && areOther(unit, other))
        found = {
          text: `${text} was read in ${other} at :${step.number}${leaf.pointer}, and is ${name} here`,
          score: 0.8,
        };
    }
  }
  return found;
}

/** `unit: "bytes"` beside a value. */
function unitBeside(step: Step, { pointer }: Leaf): string | undefined {
  const beside = follow({ output: opened(step.output) }, parentOf(pointer));
  if (typeof beside !== 'object' || beside === null) return undefined;
  const [, unit] = Object.entries(beside).find(([key]) => /^units?$|_unit$/i.test(key)) ?? [];
  return typeof unit === 'string' ? unit.toLowerCase() : undefined;
}

/** 5 where the person spoke of 5 percent, and the same was a fraction of one when it was read. */
function asShare(
  { pointer, value }: Leaf,
  told: readonly Told[],
  before: Leaf | undefined,
): Found | undefined {
  const share = told.find(
    ({ number, unit }) => number === value && /^(?:%|percent|pct|prozent)$/i.test(unit),
  );
  const was = Number(before?.value);
  if (!share || !(was > 0 && was <= 1) || share.number <= 1) return undefined;
  return {
    text: `${lastKey(pointer)} was ${was} before, a fraction of one; ${share.number} is percent`,
    score: 0.72,
  };
}

/** A thousand times more or less than the same was when it was read. */
function outOfScale({ pointer, value }: Leaf, before: Leaf | undefined): Found | undefined {
  const [now, was] = [Math.abs(Number(value)), Math.abs(Number(before?.value))];
  const name = lastKey(pointer);
  if (!(now > 0 && was > 0) || sizeless.test(name) || Math.max(now / was, was / now) < far) return undefined;
  return { text: `${name} was ${was} when it was read, and is ${now} here`, score: 0.5 };
}

/** The newest value of that name that was read. */
function readBefore(
  { pointer }: Leaf,
  steps: readonly Step[],
  seen: ReadonlyMap<number, readonly Leaf[]>,
): Leaf | undefined {
  const name = lastKey(pointer);
  for (const { number } of steps.toReversed()) {
    const same = seen.get(number)?.filter((leaf) => sameName(lastKey(leaf.pointer), name)) ?? [];
    if (same.length === 1) return same[0];
  }
  return undefined;
}
