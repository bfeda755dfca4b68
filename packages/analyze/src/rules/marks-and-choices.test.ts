/** Rules about what results remark beside their data, and about which of several things was taken. */
import { expect, test } from 'vitest';
import { rulesOf, told } from '../../test/told.ts';

test('warned: something was left out, and the result says so', () => {
  const built = (output: { readonly [key: string]: string | number | string[] }) =>
    told(
      'Build the image and run it.',
      [
        ['docker_build', { tag: 'api:5' }, { image: 'sha256:aa11', ...output }],
        ['docker_push', { tag: 'api:5' }, { digest: 'sha256:aa11' }],
      ],
      ['docker_run', { image: 'api:5' }, "Cannot find module '/app/main.js'"],
    );
  const warned = built({ warnings: ['COPY dist/ : no files matched'] });
  expect(warned.cause).toMatchObject({
    step: warned.steps[0],
    pointer: '/output/warnings/0',
    rule: 'warned',
  });
  expect(rulesOf(built({ note: 'filter "cart": 340 tests were not run' }))).toContain('warned');
  for (const nothing of [{ warnings: [] }, { skipped: 0 }, { note: 'built in 4 s' }])
    expect(rulesOf(built(nothing))).not.toContain('warned');
});

test('other-place: what was changed is not where the person meant', () => {
  const scaled = (context: string) =>
    told(
      'Scale the worker in production to 6.',
      [
        ['contexts', {}, { contexts: ['staging', 'production'] }],
        ['scale', { deployment: 'worker', replicas: 6 }, { context, replicas: 6 }],
      ],
      ['check', { deployment: 'worker' }, 'worker has 2 replicas'],
    );
  const wrong = scaled('staging');
  expect(wrong.cause).toMatchObject({
    step: wrong.steps[1],
    pointer: '/output/context',
    rule: 'other-place',
  });
  expect(rulesOf(scaled('production'))).not.toContain('other-place');
});

test('wrong-choice: of two files the one that the person did not speak of', () => {
  const edited = (path: string) =>
    told(
      'Fix the timeout in the worker config.',
      [
        ['find', { name: 'config.yaml' }, { paths: ['legacy/config.yaml', 'worker/config.yaml'] }],
        ['edit', { path, find: 'timeout: 5', replace: 'timeout: 30' }, { replaced: 1 }],
      ],
      ['probe', { timeout: 30 }, 'timeout is 5'],
    );
  const wrong = edited('legacy/config.yaml');
  expect(wrong.cause).toMatchObject({ step: wrong.steps[1], pointer: '/input/path', rule: 'wrong-choice' });
  expect(rulesOf(edited('worker/config.yaml'))).not.toContain('wrong-choice');
});

test('named-mark: the failure is about a state that a result had marked', () => {
  const updated = (mark: { readonly [key: string]: boolean }) =>
    told(
      'Update the address.',
      [['db_connect', { role: 'app' }, { session: 's1', ...mark }]],
      ['db_query', { session: 's1', q: 'update t' }, 'cannot execute UPDATE in a read-only transaction'],
    );
  const { cause, steps } = updated({ read_only: true });
  expect(cause).toMatchObject({ step: steps[0], pointer: '/output/read_only', rule: 'named-mark' });
  expect(rulesOf(updated({ read_only: false }))).not.toContain('named-mark');
  expect(rulesOf(updated({ pooled: true }))).not.toContain('named-mark');
});

test('removed-before: what is missing was taken away by the run itself', () => {
  const dropped = (statement: string) =>
    told(
      'Fill the column.',
      [['sql', { q: statement }, { done: true }]],
      ['sql', { q: 'update t set total_net = 1' }, 'column "total_net" does not exist'],
    );
  const { cause, steps } = dropped('alter table t drop column total_net');
  expect(cause).toMatchObject({ step: steps[0], rule: 'removed-before' });
  expect(rulesOf(dropped('alter table t drop column old_net'))).not.toContain('removed-before');
  expect(rulesOf(dropped('select total_net from t'))).not.toContain('removed-before');
});

test('wrong-order: numbers sorted as texts', () => {
  const sorted = (order: readonly string[]) =>
    told(
      'Compress the largest file.',
      [['sort', { by: 'size', order: 'desc' }, { sorted: [...order] }]],
      ['check_disk', { path: '/var/log' }, 'only 700 bytes were freed'],
    );
  const { cause, steps } = sorted(['980', '77', '1204']);
  expect(cause).toMatchObject({ step: steps[0], pointer: '/output/sorted/2', rule: 'wrong-order' });
  expect(rulesOf(sorted(['1204', '980', '77']))).not.toContain('wrong-order');
});

test('unit-beside: the amount stayed, the currency did not', () => {
  const paid = (currency: string, amount: number) =>
    told(
      'Pay the invoice from the EUR account.',
      [
        ['get_invoice', { id: 'I-9' }, { amount: 1200, currency: 'USD' }],
        ['pay', { amount, currency, ref: 'I-9' }, { status: 'sent' }],
      ],
      ['reconcile', { invoice: 'I-9' }, 'I-9 is overpaid'],
    );
  const wrong = paid('EUR', 1200);
  expect(wrong.cause).toMatchObject({ step: wrong.steps[1], pointer: '/input/amount', rule: 'unit-beside' });
  for (const right of [paid('USD', 1200), paid('EUR', 1104)])
    expect(rulesOf(right)).not.toContain('unit-beside');
});

test('a list beside the names of its columns is a page as well', () => {
  const { cause, steps } = told(
    'Export all open orders.',
    [
      ['sql', { q: 'select id from orders' }, { columns: ['id'], rows: [[1], [2], [3]], more: true }],
      ['export', { ids: [1, 2, 3] }, { exported: 3 }],
    ],
    ['reconcile', { target: 'wh' }, '227 open orders are missing in wh'],
  );
  expect(cause).toMatchObject({ step: steps[0], pointer: '/output/more', rule: 'dropped-page' });
});
