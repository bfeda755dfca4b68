/** One result says something else where all other results of the same tool say the same; or its date is far older than theirs. */
import { type Column, pointerOf, type Sighting } from '../columns.ts';
import { dateReadings } from '../dates.ts';
import { leafText } from '../json.ts';
import { brief } from './looks.ts';
import type { Rule, Suspect } from './rule.ts';

const leastOthers = 2;
const leastDates = 3;
const day = 86_400_000;

export const unlikeOthers: Rule = {
  name: 'unlike-others',
  *find({ tools }) {
    for (const { name, columns } of tools)
      for (const column of columns) {
        yield* otherwise(name, column);
        yield* older(name, column);
      }
  },
};

/** A member that is the same in all results but one: a status, a kind, a currency, the number of rows that were changed. */
function* otherwise(tool: string, column: Column): Generator<Suspect> {
  if (column.values.size !== 2) return;
  const [odd, usual] = [...column.values.values()].sort((a, b) => a.times - b.times);
  if (!odd || !usual || odd.times > 1 || usual.times < leastOthers) return;
  const text = `${brief(odd.value)} here; ${usual.times} other results of ${tool} have ${brief(usual.value)} as ${column.name}`;
  yield {
    ...at(column, odd),
    text,
    score: usual.times > leastOthers ? 0.58 : isWord(odd.value) ? 0.55 : 0.45,
    kind: 'missing',
  };
}

/** A flag, a count, one short word: what seldom comes twice by chance is more than that. */
function isWord(value: unknown): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && Math.abs(value) < 1000;
  return typeof value !== 'string' || (value.length <= 16 && !/[\s\d]/.test(value));
}

/** A date that is further from the others than they are from each other. */
function* older(tool: string, column: Column): Generator<Suspect> {
  const seen = [...column.values.values()].flatMap((told) => {
    const time = timeOf(told.value);
    return time === undefined ? [] : [{ told, time }];
  });
  if (seen.length < leastDates || seen.length !== column.values.size) return;
  seen.sort((a, b) => a.time - b.time);
  const [first, second] = seen;
  const last = seen.at(-1);
  if (!first || !second || !last || first.told.times > 1) return;
  const spread = Math.max(day, last.time - second.time);
  if (second.time - first.time < 5 * spread || second.time - first.time < 3 * day) return;
  const text = `${brief(first.told.value)} is far older than every other ${column.name} in results of ${tool}`;
  yield { ...at(column, first.told), text, score: 0.6, kind: 'value' };
}

function timeOf(value: unknown): number | undefined {
  if (typeof value !== 'string' || value.length > 40 || !/\d{4}/.test(value)) return undefined;
  const [reading] = /^\d{4}-\d\d-\d\d/.test(value) ? [value] : dateReadings(value);
  const time = Date.parse(reading ?? '');
  return Number.isNaN(time) ? undefined : time;
}

function at(column: Column, seen: Sighting): Pick<Suspect, 'step' | 'pointer' | 'value'> {
  const { step, value } = seen;
  return { step: step.number, pointer: pointerOf(column, seen), value: leafText(value) ?? value };
}
