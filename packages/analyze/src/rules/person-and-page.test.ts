/** Rules about what the person asked for, and about what came in another form than it should. */
import { expect, test } from 'vitest';
import { told } from '../../test/told.ts';

test('wrong-content: the page to sign in came instead of a list of prices', () => {
  const body = '<!doctype html><title>Sign in</title><form></form>';
  const from = (url: string, page: string) =>
    told(
      'Load the price list.',
      [
        ['http_get', { url }, { status: 200, body: page }],
        ['write_file', { path: 'prices.json', content: page }, { bytes: 52 }],
      ],
      ['load_prices', { path: 'prices.json' }, 'prices.json: unexpected token at position 0'],
    );
  const { cause, steps } = from('https://supplier.example/prices.json', body);
  expect(cause).toMatchObject({ step: steps[0], pointer: '/output/body', rule: 'wrong-content' });
  expect(cause?.text).toContain('the page "Sign in" in HTML');
  expect(from('https://supplier.example/prices.json', '[{"sku": 1}]').cause?.rule).not.toBe('wrong-content');
  // Who asks for a page gets one.
  const asked = from('https://supplier.example/about', '<!doctype html><title>About us</title>');
  expect(asked.others.map(({ rule }) => rule)).not.toContain('wrong-content');
});

test('swapped-ends: the call goes the other way than the person asked', () => {
  const copied = (task: string, source: string, target: string) =>
    told(
      task,
      [['copy_table', { source, target, table: 'users' }, { copied: 12 }]],
      ['assert_rows', { db: 'staging', table: 'users' }, 'staging.users has 12 rows'],
    );
  const wrong = copied('Copy the table users from prod to staging.', 'staging', 'prod');
  expect(wrong.cause).toMatchObject({ step: wrong.steps[0], pointer: '/input/source', rule: 'swapped-ends' });
  for (const task of ['Kopiere users von prod nach staging.', '把 users 从 prod 到 staging 复制'])
    expect(copied(task, 'staging', 'prod').cause?.rule).toBe('swapped-ends');
  expect(copied('Copy the table users from prod to staging.', 'prod', 'staging').cause?.rule).not.toBe(
    'swapped-ends',
  );
});

test('told-unit: the number of the person in another unit, or far from what was read', () => {
  const limit = (task: string, memory: number) =>
    told(
      task,
      [
        ['get_limits', { service: 'worker' }, { memory_bytes: 268_435_456 }],
        ['set_limits', { service: 'worker', memory_bytes: memory }, { applied: true }],
      ],
      ['wait_healthy', { service: 'worker' }, 'worker was killed on start'],
    );
  const wrong = limit('Give the worker 512 MiB.', 512);
  expect(wrong.cause).toMatchObject({
    step: wrong.steps[1],
    pointer: '/input/memory_bytes',
    rule: 'told-unit',
  });
  expect(wrong.cause?.text).toContain('the person said 512 MiB');
  const far = limit('Give the worker more memory.', 512);
  expect(far.cause).toMatchObject({ step: far.steps[1], rule: 'told-unit', label: 'guess' });
  expect(limit('Give the worker 512 MiB.', 536_870_912).cause?.rule).not.toBe('told-unit');
});

test('told-unit: percent where a fraction was read', () => {
  const { cause, steps } = told(
    'Set the canary weight to 5 percent.',
    [
      ['get_route', { name: 'web' }, { canary_weight: 0.01 }],
      ['set_route', { name: 'web', canary_weight: 5 }, { accepted: true }],
    ],
    ['validate_mesh', { route: 'web' }, 'route web: weights sum to 6.0'],
  );
  expect(cause).toMatchObject({ step: steps[1], pointer: '/input/canary_weight', rule: 'told-unit' });
});

test('misread-list: texts with a decimal comma read as if it were a separator', () => {
  const summed = (values: number[], total: number) =>
    told(
      'Post the total.',
      [
        [
          'read_csv',
          { path: 'a.csv' },
          {
            rows: [
              ['R1', '1.299,00'],
              ['R2', '89,50'],
              ['R3', '12,00'],
            ],
          },
        ],
        ['parse_numbers', { column: 'net' }, { values }],
        ['sum', { values }, { total }],
      ],
      ['post_total', { total, batch: 'B-77' }, `batch B-77 control total is 1400.50, got ${total}`],
    );
  const wrong = summed([1.299, 8950, 1200], 10_151.299);
  expect(wrong.cause).toMatchObject({
    step: wrong.steps[1],
    pointer: '/output/values/0',
    rule: 'misread-list',
  });
  const right = summed([1299, 89.5, 12], 1400.5);
  expect([right.cause, ...right.others].map((one) => one?.rule)).not.toContain('misread-list');
});

test('what a message says it got is at fault, and not what it speaks of', () => {
  const { symptom, chain } = told(
    'Post it.',
    [['sum', { of: 'B-77' }, { total: 10_151.299 }]],
    [
      'post_total',
      { total: 10_151.299, batch: 'B-77' },
      'batch B-77 control total is 1400.50, got 10151.299',
    ],
  );
  expect(symptom?.step).toBe(4);
  expect(chain[0]?.from.pointer).toBe('/input/total');
});

test('an address of which the failure repeats a part is followed', () => {
  const { cause, steps } = told(
    'Deploy web to production.',
    [['read_config', { name: 'web.yaml' }, { url: 'https://staging.shop.example' }]],
    [
      'deploy',
      { env: 'production', url: 'https://staging.shop.example' },
      'policy: production must not point at a staging host',
    ],
  );
  expect(cause).toMatchObject({ step: steps[0], pointer: '/output/url' });
});
