/**
 * A row of calls with one left out: the arguments count on by the same stride, but for one gap; or each range begins where the
 * one before it ended, but for one.
 */
import type { Step } from '@chassis/journal';
import { brief } from './looks.ts';
import type { Rule, Suspect } from './rule.ts';

const least = 3;
const most = 500;

export const skippedCall: Rule = {
  name: 'skipped-call',
  *find({ tools, steps }) {
    const order = new Map(
      steps.filter(({ kind }) => kind === 'tool').map(({ number }, index) => [number, index]),
    );
    for (const { name, fresh } of tools) {
      const calls = fresh.filter(({ status }) => status === 'ok').slice(0, most);
      yield* gapIn(name, calls, order);
      yield* rangeGap(name, calls);
    }
  },
};

function* gapIn(
  tool: string,
  calls: readonly Step[],
  order: ReadonlyMap<number, number>,
): Generator<Suspect> {
  for (const key of keysOf(calls)) {
    const seen = calls.flatMap((step) => {
      const said = argument(step, key);
      const place = placeOf(said);
      return place && said !== undefined ? [{ step, said, ...place }] : [];
    });
    if (
      seen.length < least ||
      seen.length < calls.length ||
      new Set(seen.map(({ series }) => series)).size > 1
    )
      continue;
    const strides = seen.slice(1).map(({ at }, index) => at - (seen[index]?.at ?? at));
    const stride = Math.min(...strides);
    const gaps = strides.flatMap((one, index) => (one === stride ? [] : [index + 1]));
    const [gap] = gaps;
    const after = gap === undefined ? undefined : seen[gap];
    const before = gap === undefined ? undefined : seen[gap - 1];
    if (stride <= 0 || gaps.length !== 1 || !after || !before) continue;
    const wide = (after.at - before.at) / stride;
    if (!Number.isInteger(wide) || wide > 3) continue;
    // Listings are read in one go; calls here and there may well have gaps.
    const row = order.get(after.step.number) === (order.get(before.step.number) ?? 0) + 1;
    const text = `${tool} was asked for ${key} ${brief(before.said)} and then ${brief(after.said)}; between them the others have no gap`;
    yield {
      step: after.step.number,
      pointer: `/input/${key}`,
      value: after.said,
      text,
      score: row ? 0.57 : 0.42,
      kind: 'missing',
    };
  }
}

/** `from` and `to`: where a range begins beyond the end of the one before it. */
function* rangeGap(tool: string, calls: readonly Step[]): Generator<Suspect> {
  const keys = keysOf(calls);
  for (const from of keys)
    for (const to of keys) {
      if (from === to) continue;
      const ranges = calls.flatMap((step) => {
        const [a, b] = [placeOf(argument(step, from)), placeOf(argument(step, to))];
        return a && b && a.series === b.series && a.at < b.at ? [{ step, from: a.at, to: b.at }] : [];
      });
      if (ranges.length < 2 || ranges.length < calls.length) continue;
      for (const [index, { step, from: begin }] of ranges.entries()) {
        const before = ranges[index - 1];
        if (!before || begin <= before.to + 1) continue;
        if (ranges.some((other) => other.from <= before.to + 1 && other.to > before.to)) continue;
        const text = `${tool} was asked up to ${to} ${brief(argument(before.step, to))} and then from ${from} ${brief(argument(step, from))}: what is between was left out`;
        yield {
          step: step.number,
          pointer: `/input/${from}`,
          value: begin,
          text,
          score: 0.68,
          kind: 'missing',
        };
      }
    }
}

function keysOf(calls: readonly Step[]): string[] {
  const [first] = calls;
  const input: unknown = first?.input;
  return typeof input === 'object' && input !== null && !Array.isArray(input)
    ? Object.keys(input).slice(0, 8)
    : [];
}

function argument({ input }: Step, key: string): string | number | undefined {
  const value: unknown =
    typeof input === 'object' && input !== null ? (input as { [key: string]: unknown })[key] : undefined;
  return typeof value === 'string' || typeof value === 'number' ? value : undefined;
}

/** A place in a series: numbers, months, days, letters, names that end in a number. */
function placeOf(value: string | number | undefined): { series: string; at: number } | undefined {
  if (typeof value === 'number') return Number.isInteger(value) ? { series: 'number', at: value } : undefined;
  if (value === undefined || value.length > 40) return undefined;
  const [, year, month, day] = /^(\d{4})-(\d\d)(?:-(\d\d))?$/.exec(value) ?? [];
  if (day !== undefined) return { series: 'day', at: Math.round(Date.parse(value) / 86_400_000) };
  if (year !== undefined) return { series: 'month', at: Number(year) * 12 + Number(month) };
  if (/^[A-Za-z]$/.test(value)) return { series: 'letter', at: value.toLowerCase().charCodeAt(0) };
  const [, name, number, rest] = /^(\D*)(\d{1,9})(\D*)$/.exec(value) ?? [];
  return number === undefined ? undefined : { series: `${name}#${rest}`, at: Number(number) };
}
