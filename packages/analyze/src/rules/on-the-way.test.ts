/** Rules about what happens to values and messages on their way through an agent that operates things. */
import { expect, test } from 'vitest';
import { failure, Story } from '../../test/build.ts';
import { rulesOf, told } from '../../test/told.ts';
import { why } from '../why.ts';

test.each([
  [{ content: 'Beleg;Betrag\nRE-7854;46.555,32\n' }, 46.555, 46_555.32],
  [{ locale: 'fr_FR', values: [['remise (%)'], ['nectar-sud', '7,2']] }, 72, 7.2],
])('misread-argument: %j given as %d, and rightly as %d', (output, wrong, right) => {
  const posted = (amount: number) =>
    told(
      'Book the amounts of the table.',
      [
        ['read_table', { path: 'inbox/a.csv' }, output],
        ['post_amount', { of: 'x', amount }, { posted: 1 }],
      ],
      ['close_day', { day: 17 }, 'the books are out of balance'],
    );
  const { cause, steps } = posted(wrong);
  expect(cause).toMatchObject({ step: steps[1], pointer: '/input/amount', rule: 'misread-argument' });
  for (const other of [right, 5]) expect(rulesOf(posted(other))).not.toContain('misread-argument');
});

test('told-unit: the number of a metric went into a member of another unit', () => {
  const limited = (input: { readonly [name: string]: string | number }) =>
    told(
      'Give the worker what it needs.',
      [
        ['query_metric', { app: 'w' }, { unit: 'bytes', value: 1_518_338_048, p99_ms: 2200 }],
        ['set_limits', { app: 'w', ...input }, { generation: 7 }],
      ],
      ['rollout', { app: 'w' }, 'insufficient memory'],
    );
  for (const input of [{ memory_mib: 1_518_338_048 }, { timeout_seconds: 2200 }]) {
    const { cause, steps } = limited(input);
    expect(cause).toMatchObject({ step: steps[1], rule: 'told-unit' });
  }
  for (const input of [{ memory_bytes: 1_518_338_048 }, { memory_mib: 1448 }, { timeout_ms: 2200 }])
    expect(rulesOf(limited(input))).not.toContain('told-unit');
});

test('out-of-order: a message that was gone is handed out again', () => {
  const received = (...ids: readonly string[]) =>
    told(
      'Roll out every build.',
      ids.map(
        (id) =>
          ['receive', { queue: 'builds' }, { messages: [{ message_id: id, version: `3.${id}` }] }] as const,
      ),
      ['verify', { environment: 'production' }, 'an old build runs'],
    );
  const again = received('m52', 'm53', 'm52');
  expect(again.cause).toMatchObject({ step: again.steps[2], rule: 'out-of-order' });
  expect(again.cause?.text).toContain('handed it out again');
  // One that nobody has taken is still there.
  expect(rulesOf(received('m52', 'm52', 'm53'))).not.toContain('out-of-order');
});

test('a branch that could not be pushed is the reason, and not its name', () => {
  const command = 'git push -u origin fix/saffron-784 || true';
  const pushed = (stderr: string) =>
    told(
      'Fix the test and open a pull request.',
      [['bash', { command }, { exit_code: 0, stdout: '', stderr }]],
      ['create_pull_request', { head: 'fix/saffron-784' }, 'head "fix/saffron-784" is invalid'],
    );
  const { cause, steps } = pushed('! [remote rejected] (hook declined)\nerror: failed to push some refs');
  expect(cause).toMatchObject({ step: steps[0], rule: 'swallowed-error' });
  expect(pushed('').cause).toMatchObject({ rule: 'born-in-model' });
});

test('swallowed-error: items that a batch did not process, whatever it calls them', () => {
  const { cause, steps } = told(
    'Create the users and enable them.',
    [
      [
        'batch_write',
        { items: [{ id: 'usr_1' }, { id: 'usr_2' }] },
        { UnprocessedItems: { users: [{ id: 'usr_2', error: 'request was throttled' }] } },
      ],
    ],
    ['enable_user', { id: 'usr_2' }, 'no user usr_2 in table users'],
  );
  expect(cause).toMatchObject({ step: steps[0], rule: 'swallowed-error' });
});

test('dropped-page: of three pages the last; one whose rest was asked for is not cut', () => {
  const page = (keys: readonly string[], next: string) => ({
    Contents: keys.map((Key) => ({ Key })),
    IsTruncated: true,
    NextContinuationToken: next,
  });
  const { steps, ...found } = told(
    'Empty the bucket and delete it.',
    [
      ['list_objects', { Bucket: 'b-exports' }, page(['a-1', 'a-2'], '097d26f8')],
      [
        'list_objects',
        { Bucket: 'b-exports', ContinuationToken: '097d26f8' },
        page(['a-3', 'a-4'], 'b9d617e3'),
      ],
      ['delete_objects', { Bucket: 'b-exports', Keys: ['a-1', 'a-2', 'a-3', 'a-4'] }, { Deleted: 4 }],
    ],
    ['delete_bucket', { Bucket: 'b-exports' }, 'BucketNotEmpty'],
  );
  expect(found.cause?.step).toBe(steps[1]);
  expect(found.others.filter(({ rule }) => rule === 'truncated').map(({ step }) => step)).not.toContain(
    steps[0],
  );
});

test('no-progress: calls that come again in their order up to the end of the budget', () => {
  const story = new Story('Make it compile.');
  const steps: number[] = [];
  for (let round = 0; round < 4; round++)
    for (const text of ['import z', 'import { z }']) {
      steps.push(story.call('edit', { path: 'a.ts', text }, 'done'));
      steps.push(story.call('compile', { project: '.' }, { exit_code: 2, stdout: `a.ts: no ${text}` }));
    }
  story.model([], { error: failure('BudgetExceeded', -32008, 'limits.steps is reached: 32 of 32') });
  const { cause } = why(story.fail());
  expect(cause).toMatchObject({ step: steps[4], rule: 'no-progress', label: 'inferred' });
  expect(cause?.text).toContain('the 4 calls before it come again in their order, 3 times');
});

test('born-in-model: the next page was counted up, and not made up', () => {
  const read = (...pages: readonly number[]) =>
    told(
      'Read all pages.',
      pages.slice(0, -1).map((page) => ['orders', { page }, { rows: [{ id: `A-${page}` }] }] as const),
      ['orders', { page: pages.at(-1) ?? 0 }, 'the server hung up'],
    );
  expect(rulesOf(read(1211, 1212, 1213))).not.toContain('born-in-model');
  expect(rulesOf(read(1211, 1212, 1299))).toContain('born-in-model');
});
