/** Of a long run the newest steps are looked at first, and all of them when those do not hold the cause. */
import { expect, test } from 'vitest';
import { invalid, Story } from '../test/build.ts';
import { explain } from './explain.ts';
import { why } from './why.ts';

const rows = (page: number, bad: boolean) => ({
  page,
  rows: [1, 2, 3, 4].map((n) => ({
    id: page * 10 + n,
    amount: bad && n === 2 ? '1.249,90' : page + n * 1.5,
  })),
});

/** Reads `pages` pages, one of which has an amount in another locale, and fails when it adds them up. */
function sum(pages: number, bad: number) {
  const story = new Story('Add up the amounts of all pages.');
  let cause = 0;
  for (let page = 1; page <= pages; page++) {
    const step = story.call('orders', { page }, rows(page, page === bad));
    if (page === bad) cause = step;
  }
  const error = invalid({ path: '/amounts/1', expected: 'number', received: 'string' });
  story.call('total', { amounts: [2.5, '1.249,90', 8.5] }, { error });
  return { view: story.fail(), cause };
}

test('a cause among the newest steps of a long run: the older ones are not looked at, and that is said', () => {
  const { view, cause } = sum(600, 590);
  const found = why(view);
  expect(found).toMatchObject({ status: 'cause', older: true, cause: { step: cause, rule: 'odd-value' } });
  expect(found.slice).toHaveLength(1_000);
  expect(found.slice.at(-1)).toBe(view.steps.length);
  expect(explain(found).at(-1)).toContain('and older ones: not looked at');
});

test('a value that comes from far back is found there', () => {
  const { view, cause } = sum(600, 3);
  const found = why(view);
  expect(found).toMatchObject({ status: 'cause', older: false, cause: { step: cause, rule: 'odd-value' } });
  expect(found.slice).toHaveLength(view.steps.length);
});

test('what went wrong long ago and left no value behind is found when nothing newer explains the failure', () => {
  const story = new Story('Deploy all services.');
  const swallowed = story.call('migrate', { database: 'orders' }, { ok: false, message: 'lock timeout' });
  for (let n = 0; n < 600; n++) story.call('deploy', { service: `s${n}` }, { deployed: n });
  story.call(
    'check',
    { database: 'orders' },
    { error: invalid({ path: '/database', expected: 'migrated', received: 'unknown' }) },
  );
  const found = why(story.fail());
  expect(found.older).toBe(false);
  expect([found.cause?.step, ...found.others.map(({ step }) => step)]).toContain(swallowed);
});

test('a run of ordinary length is looked at as a whole', () => {
  expect(why(sum(40, 3).view)).toMatchObject({ older: false });
});
