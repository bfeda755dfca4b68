/** Nearly a hundred short failures: the call at fault is named first, but for those of which it is known that it is not. */
import type { Json } from '@chassis/types';
import { expect, test } from 'vitest';
import { why } from '../src/why.ts';
import { Story } from './build.ts';
import type { Field } from './field.ts';
import { changes } from './field-changes.ts';
import { farApart } from './field-far-apart.ts';
import { office } from './field-office.ts';
import { operations } from './field-operations.ts';
import { tools } from './field-tools.ts';

/** Where nothing in the record tells the call at fault from the others well enough. */
const notFirst = new Set([
  'bad regex replaced too much',
  'loop of edits',
  'pandas drops NaN rows',
  'thermostat fahrenheit',
  'permission filtered rows',
  'index off by one',
  'async job not awaited',
  'wrong thread',
  'trunc: columns cut at 32k cell',
  'locale: dates',
  'wrong result: geocoder',
  'loop: test fix test',
]);

/** The place of the call at fault among the suspects, from 1; 0 when it is none of them. */
function rankOf({ task, calls }: Field): number {
  const story = new Story(task, 'You are an operations agent.');
  const truth = new Set<number>();
  for (const [tool, input, output, fault] of calls) {
    const step = story.call(tool, input, output as Json);
    if (fault !== undefined) truth.add(step);
    // What a model asked for stands in its own step as well.
    if (fault === 'call') truth.add(step - 1);
  }
  const { cause, others } = why(story.fail());
  const named = new Set([...(cause ? [cause] : []), ...others].map(({ step }) => step));
  return [...named].findIndex((step) => truth.has(step)) + 1;
}

const all = [...operations, ...changes, ...tools, ...office, ...farApart];

test.each(all.filter(({ name }) => !notFirst.has(name)))('$name', (field) => {
  expect(rankOf(field)).toBe(1);
});

test('of those that are not named first nearly all are among the first three', () => {
  const ranks = all.filter(({ name }) => notFirst.has(name)).map(rankOf);
  expect(ranks).toHaveLength(notFirst.size);
  expect(ranks.filter((rank) => rank >= 1 && rank <= 3).length).toBeGreaterThanOrEqual(notFirst.size - 1);
});
