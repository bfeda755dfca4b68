import type { Attempt } from '@chassis/journal';
import { expect, test } from 'vitest';
import { failure, Story } from '../test/build.ts';
import { cost } from './cost.ts';

const attempt = (number: number, more: Partial<Attempt>): Attempt => ({
  number,
  idempotency_key: `k${number}`,
  text: '',
  reasoning: '',
  ...more,
});
const cut = failure('ModelError', -32010, 'the stream was cut');

test('tokens and money are summed by model and by step', () => {
  const story = new Story('x');
  story.model([], { usage: { input: 20_000, cached: 16_000, output: 1000, reasoning: 0, cost_usd: 0.0058 } });
  story.model([], { usage: { input: 100, cached: 0, output: 10, reasoning: 4, cost_usd: 0.1 } });
  story.model([], {
    usage: { input: 100, cached: 0, output: 10, reasoning: 0, cost_usd: 0.2 },
    name: 'other',
  });
  const found = cost(story.end('ok'));
  expect(found.total).toMatchObject({
    requests: 3,
    input: 20_200,
    cached: 16_000,
    output: 1020,
    reasoning: 4,
    cost_usd: 0.3058,
  });
  expect(found.total.lower_bound).toBe(false);
  expect(found.models.map(({ model, cost_usd }) => [model, cost_usd])).toEqual([
    ['scripted', 0.1058],
    ['other', 0.2],
  ]);
  expect(found.steps.map(({ step, input }) => [step, input])).toEqual([
    [1, 20_000],
    [2, 100],
    [3, 100],
  ]);
});

test('a cut attempt and its retry both count', () => {
  const story = new Story('x');
  const usage = { input: 50, cached: 0, output: 30, reasoning: 0 };
  story.model([], {
    usage,
    attempts: [
      attempt(1, { model: 'm-test', error: cut, usage: { ...usage, output: 12, lower_bound: true } }),
      attempt(2, { model: 'm-test' }),
    ],
  });
  expect(cost(story.end('ok')).total).toMatchObject({
    requests: 2,
    input: 100,
    output: 42,
    lower_bound: true,
  });
});

test('an attempt without usage is a request of unknown size, not of none', () => {
  const story = new Story('x');
  story.model([], {
    usage: { input: 50, cached: 0, output: 30, reasoning: 0, cost_usd: 0.01 },
    attempts: [attempt(1, { error: failure('RateLimited', -32007, '429'), usage: null }), attempt(2, {})],
  });
  expect(cost(story.end('ok')).total).toMatchObject({
    requests: 2,
    unknown_usage: 1,
    cost_usd: 0.01,
    lower_bound: true,
  });
});

test('an unknown price stays unknown', () => {
  const story = new Story('x');
  story.model([], { usage: { input: 50, cached: 0, output: 30, reasoning: 0 } });
  expect(cost(story.end('ok')).total).toMatchObject({ cost_usd: null, unknown_price: 1, lower_bound: true });
});

test('a run without model calls costs nothing that is not known', () => {
  expect(cost(new Story('x').end('ok'))).toMatchObject({
    total: { requests: 0, input: 0, cost_usd: 0, lower_bound: false },
    models: [],
    steps: [],
  });
});

test('a model step that was never sent is no request', () => {
  const story = new Story('x');
  story.step({
    kind: 'model',
    name: 'm',
    input: {},
    status: 'error',
    error: failure('BudgetExceeded', -32008, 'stop'),
  });
  expect(cost(story.end('failed')).total.requests).toBe(0);
});
