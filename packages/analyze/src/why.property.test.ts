import type { SessionView, Step, StepStatus } from '@chassis/journal';
import type { Json } from '@chassis/types';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { failure, Story } from '../test/build.ts';
import { edges } from './edges.ts';
import { explain } from './explain.ts';
import { prompt } from './prompt.ts';
import { slice } from './slice.ts';
import { why } from './why.ts';

/** Steps of any shape, also such as only a damaged or foreign record holds. */
const step = fc.record(
  {
    kind: fc.constantFrom<Step['kind']>('model', 'tool', 'state'),
    name: fc.constantFrom('fetch', 'pay', 'm'),
    input: fc.jsonValue() as fc.Arbitrary<Json>,
    output: fc.oneof(
      fc.jsonValue(),
      fc.record({
        rows: fc.array(fc.record({ amount: fc.oneof(fc.integer(), fc.constant('1.249,90')) })),
        page: fc.integer(),
        has_more: fc.boolean(),
      }),
      fc.record({
        message: fc.record({
          content: fc.string(),
          tool_calls: fc.array(
            fc.record({
              id: fc.constantFrom('a', 'b'),
              name: fc.string(),
              arguments: fc.oneof(fc.json(), fc.string()),
            }),
          ),
        }),
      }),
    ) as fc.Arbitrary<Json>,
    status: fc.constantFrom<Step['status'] & StepStatus>(
      'ok',
      'error',
      'timeout',
      'denied',
      'unknown',
      'cancelled',
    ),
    call_id: fc.constantFrom('a', 'b'),
    causes: fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 3 }),
    parent: fc.constantFrom(null, 1, 2),
    message: fc.oneof(fc.string(), fc.constant('"1.249,90" is invalid')),
  },
  { requiredKeys: ['kind', 'name', 'input', 'causes', 'parent'] },
);

function told(
  steps: readonly (Partial<Step> & Pick<Step, 'kind' | 'name' | 'input'> & { message?: string })[],
  failed: boolean,
): SessionView {
  const story = new Story('Any task.');
  for (const { message, ...rest } of steps) {
    const number = story.steps.length + 1;
    const earlier = (rest.causes ?? []).filter((cause) => cause < number);
    const parent =
      rest.parent !== null && rest.parent !== undefined && rest.parent < number ? rest.parent : null;
    story.step({
      ...rest,
      causes: earlier,
      parent,
      ...(message === undefined ? {} : { error: failure('ToolError', -32602, message) }),
    });
  }
  return failed ? story.fail() : story.end('ok');
}

const anyRun = fc.array(step, { minLength: 1, maxLength: 7 });

test('whatever the record holds, why answers, and only with what is there', () => {
  fc.assert(
    fc.property(anyRun, (steps) => {
      const view = told(steps, true);
      const found = why(view);
      expect(found.status).not.toBe('none');
      expect(found.slice).toContain(found.symptom?.step);
      for (const { step: number, score } of [...found.others, ...(found.cause ? [found.cause] : [])]) {
        expect(found.slice).toContain(number);
        expect(score).toBeGreaterThan(0);
        expect(score).toBeLessThanOrEqual(1);
      }
      for (const [index, link] of found.chain.entries()) {
        expect(link.from.step).toBe(index === 0 ? found.symptom?.step : found.chain[index - 1]?.to.step);
        expect(link.to.step).toBeLessThanOrEqual(link.from.step);
      }
      expect(explain(found).every((line) => !/\p{Cc}/u.test(line))).toBe(true);
      expect(prompt(found, view)).toContain(`:${found.symptom?.step} `);
    }),
    { numRuns: 300 },
  );
});

test('a slice holds a step and everything that the record says it depends on', () => {
  fc.assert(
    fc.property(anyRun, (steps) => {
      const view = told(steps, true);
      const all = edges(view);
      for (const { number } of view.steps) {
        const found = slice(view, number);
        expect(found).toContain(number);
        for (const edge of all) {
          if (edge.label === 'recorded' && found.includes(edge.step)) expect(found).toContain(edge.on);
        }
      }
    }),
    { numRuns: 100 },
  );
});

test('a run that did not fail has no cause, whatever it holds', () => {
  fc.assert(
    fc.property(anyRun, (steps) => {
      expect(why(told(steps, false)).status).toBe('none');
    }),
    { numRuns: 50 },
  );
});
