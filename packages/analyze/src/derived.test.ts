import type { SessionView } from '@chassis/journal';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { invalid, Story } from '../test/build.ts';
import { isDerived } from './derived.ts';
import { lineage, sourcesOf } from './lineage.ts';
import { why } from './why.ts';

const rows = (values: readonly (number | string)[]) => ({ rows: values.map((amount) => ({ amount })) });

/** The model is shown amounts and passes a number on. */
function told(
  pages: readonly (readonly (number | string)[])[],
  input: { [name: string]: number },
): SessionView {
  const story = new Story('Report the figures.');
  for (const [page, values] of pages.entries()) story.call('orders', { page }, rows(values));
  story.call('report', input, { error: invalid({ path: '/total', expected: 'less', received: 'more' }) });
  return story.fail();
}

const derivedAt = (view: SessionView, name: string) =>
  lineage(view, { step: view.steps.length, pointer: `/input/${name}` })?.derived;

test('a sum, an average, a count and an extreme are traced to the values they are worked out from', () => {
  const view = told([[11.5, 20.25, 3.1]], { total: 34.85, average: 11.62, count: 3, max_amount: 20.25 });
  expect(derivedAt(view, 'total')).toMatchObject({ operation: 'sum', label: 'inferred' });
  expect(derivedAt(view, 'total')?.of.map(({ step, pointer }) => [step, pointer])).toEqual([
    [2, '/output/rows/0/amount'],
    [2, '/output/rows/1/amount'],
    [2, '/output/rows/2/amount'],
  ]);
  expect(derivedAt(view, 'average')?.operation).toBe('average');
  expect(derivedAt(view, 'count')?.operation).toBe('count');
});

test('a sum over several results holds the values of all of them', () => {
  const view = told(
    [
      [11.5, 20.25],
      [3.1, 7.77],
    ],
    { total: 42.62 },
  );
  expect(derivedAt(view, 'total')?.of.map(({ step }) => step)).toEqual([2, 2, 4, 4]);
});

test('what a tool worked out from its own arguments is traced, too', () => {
  const story = new Story('Add up.');
  story.call('orders', {}, rows([101.5, 20.25, 8]));
  story.call('add', { numbers: [101.5, 20.25, 8] }, { sum: 129.75 });
  const view = story.ok();
  expect(lineage(view, { step: 4, pointer: '/output/sum' })?.derived).toMatchObject({ operation: 'sum' });
});

test('a number that the values do not give, or that a short one gives by chance, is not called derived', () => {
  const view = told([[11.5, 20.25, 3.1]], { total: 34.86, weight: 3, share: 35 });
  for (const name of ['total', 'weight', 'share']) expect(derivedAt(view, name), name).toBeUndefined();
});

test('a wrong number that came out of a sum is traced to the odd value in it', () => {
  const story = new Story('Add up the shops.');
  for (const [shop, takings] of [210.5, 190.25, 20_110, 205.75].entries())
    story.call('takings', { shop }, { takings });
  story.call(
    'post',
    { total: 20_716.5 },
    { error: invalid({ path: '/total', expected: 'less', received: 'more' }) },
  );
  const found = why(story.fail());
  expect(found.cause).toMatchObject({ step: 6, label: 'inferred' });
  expect(found.chain.at(-1)).toMatchObject({
    to: { step: 6, pointer: '/output/takings' },
    label: 'inferred',
  });
});

test('whatever is called derived is what its values give, whatever the values are', () => {
  const amount = fc.oneof(
    fc.integer({ min: -5000, max: 5000 }).map((cents) => cents / 100),
    fc.constantFrom('1.50', '12', 'N/A', '1.249,90'),
    fc.integer(),
  );
  const page = fc.array(amount, { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(
      fc.array(page, { minLength: 1, maxLength: 3 }),
      fc.boolean(),
      fc.integer(),
      (pages, adds, other) => {
        const numbers = pages.flat().filter((value) => typeof value === 'number');
        const sum = numbers.reduce((total, value) => total + Math.round(value * 100), 0) / 100;
        const view = told(pages, { total: adds ? sum : other });
        const found = lineage(view, { step: view.steps.length, pointer: '/input/total' });
        if (!found?.derived) return;
        expect(found.derived.label).toBe('inferred');
        expect(isDerived(found.birth.text, found.derived)).toBe(true);
        for (const { step } of sourcesOf(found)) expect(step).toBeLessThan(view.steps.length);
      },
    ),
  );
});
