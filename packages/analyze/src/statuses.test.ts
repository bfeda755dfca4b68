import { expect, test } from 'vitest';
import { failure, Story } from '../test/build.ts';
import { statuses, statusText } from './statuses.ts';
import { why } from './why.ts';

test('a failed tool does not fail a good run, and an error inside a success is seen', () => {
  const story = new Story('Find the port.');
  const failed = story.call(
    'read',
    { path: 'a' },
    { error: failure('InternalError', -32603, 'no such file') },
  );
  const swallowed = story.call('read', { path: 'b' }, { ok: false, text: '' });
  const view = story.ok();
  expect(statuses(view, view.step(failed)!)).toEqual({
    transport: 'ok',
    meaning: 'failed',
    says: 'no such file',
    step: 'error',
    run: 'ok',
  });
  expect(statuses(view, view.step(swallowed)!)).toMatchObject({ meaning: 'failed', step: 'ok', run: 'ok' });
  expect(statusText(statuses(view, view.step(swallowed)!))).toBe(
    'transport ok · answer says failed: ok is false · step ok · run ok',
  );
});

test('what did not come back has no meaning, and what came at the second attempt was retried', () => {
  const story = new Story('Ask.');
  const late = story.call(
    'ask',
    { q: 1 },
    { error: failure('ToolTimeout', -32001, 'no answer'), status: 'timeout' },
  );
  const again = story.call(
    'ask',
    { q: 2 },
    {
      output: { a: 1 },
      attempts: [
        {
          number: 1,
          idempotency_key: 'k',
          text: '',
          reasoning: '',
          error: failure('Unavailable', -32004, 'down'),
        },
        { number: 2, idempotency_key: 'k', text: '', reasoning: '' },
      ],
    },
  );
  const view = story.ok();
  expect(statuses(view, view.step(late)!)).toMatchObject({ transport: 'failed', meaning: 'none' });
  expect(statuses(view, view.step(again)!)).toMatchObject({ transport: 'retried', meaning: 'ok' });
});

test('a failure inside a call is looked for where it began', () => {
  const story = new Story('Have it researched.');
  story.model([{ tool: 'delegate', input: { task: 'find the price of AX-4471' } }]);
  const outer = story.tool(0, {
    error: failure('InternalError', -32603, 'helper: price: unknown sku "AX-4471"'),
  });
  const inner = story.step({
    kind: 'tool',
    name: 'price',
    input: { sku: 'AX-4471' },
    parent: outer,
    causes: [outer],
    status: 'error',
    error: failure('InternalError', -32603, 'price: unknown sku "AX-4471"'),
  });
  const found = why(story.fail(outer));
  expect(found.symptom).toMatchObject({ step: inner, inside: outer });
  expect(found.symptom?.statuses).toMatchObject({ step: 'error', run: 'failed' });
});

test('a value can be asked about that no failure speaks of', () => {
  const story = new Story('Report the rate.');
  const read = story.call('rate', { pair: 'EURUSD' }, { rate: 1.0931, stale: true });
  const report = story.call('report', { rate: 1.0931 }, { sent: 1 });
  const found = why(story.ok(), report, { about: { step: report, pointer: '/input/rate' } });
  expect(found.cause).toMatchObject({ step: read, rule: 'stale-read' });
  expect(found.chain.at(-1)?.to).toMatchObject({ step: read });
});
