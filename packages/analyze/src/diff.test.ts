import type { SessionView } from '@chassis/journal';
import type { Json } from '@chassis/types';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { failure, Story } from '../test/build.ts';
import { diff } from './diff.ts';

function run(amount: Json, calls = [1, 2]): SessionView {
  const story = new Story('Sum the pages.');
  for (const page of calls) story.call('fetch', { page }, { rows: [{ amount: page === 2 ? amount : 10 }] });
  return story.ok(`The sum is ${JSON.stringify(amount)}.`);
}

test('a run does not differ from itself', () => {
  const view = run(5);
  expect(diff(view, run(5))).toMatchObject({ same: 5, rows: [], first: null, end: null });
});

test('the first difference is named by step and pointer, and what came of it', () => {
  const found = diff(run(5), run('5,00'));
  expect(found.same).toBe(3);
  expect(found.first).toMatchObject({
    a: 4,
    b: 4,
    name: 'fetch',
    change: 'changed',
    difference: { path: '/output/rows/0/amount', expected: 5, actual: '5,00' },
  });
  expect(found.rows.at(-1)).toMatchObject({
    kind: 'model',
    difference: { path: '/input/messages/5/content' },
  });
  expect(found.end).toMatchObject({ path: '/answer' });
});

test('a step that only one run has stands alone, and the steps after it are paired again', () => {
  const found = diff(run(5, [1, 2]), run(5, [1, 3, 2]));
  const tools = found.rows.filter(({ kind }) => kind === 'tool');
  expect(tools).toMatchObject([
    { a: null, b: 4, change: 'only_b' },
    { a: 4, b: 6, change: 'same' },
  ]);
});

test('equal calls are told apart by their order', () => {
  const found = diff(run(5, [1, 1, 1]), run(5, [1, 1]));
  expect(found.rows.filter(({ change }) => change === 'only_a').map(({ a }) => a)).toContain(6);
});

const pages = fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 6 });

test('any run equals itself, and every step stands in exactly one row', () => {
  fc.assert(
    fc.property(pages, pages, fc.jsonValue(), fc.jsonValue(), (a, b, x, y) => {
      const [left, right] = [run(x as Json, a), run(y as Json, b)];
      expect(diff(left, left).first).toBeNull();
      const found = diff(left, right);
      const [numbersA, numbersB] = [
        found.rows.flatMap((row) => row.a ?? []),
        found.rows.flatMap((row) => row.b ?? []),
      ];
      const rest = (view: SessionView): number[] => view.steps.map(({ number }) => number).slice(found.same);
      expect(numbersA).toEqual(rest(left));
      expect(numbersB).toEqual(rest(right));
    }),
    { numRuns: 60 },
  );
});

/** The same view as a journal gives it, with what each request adds. */
function withDeltas(view: SessionView): SessionView {
  const models = view.steps.filter(({ kind }) => kind === 'model').map(({ number }) => number);
  return {
    ...view,
    step: (number) => view.step(number),
    delta: (number) => {
      const from = models[models.indexOf(number) - 1] ?? null;
      const { messages } = view.request(number);
      const before = from === null ? [] : view.request(from).messages;
      const differs = messages.findIndex((message, index) => !Object.is(message, before[index]));
      const keep = differs < 0 ? messages.length : differs;
      const add = messages.slice(keep);
      return {
        from,
        keep,
        added: add.length,
        chars: add.reduce((sum, { content }) => sum + content.length, 0),
        add,
      };
    },
  };
}

test('what is known of the request before changes no difference', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 6 }),
      fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 5, max: 7 }),
      (one, other, amount) => {
        const [a, b] = [run(5, one), run(amount, other)];
        expect(diff(withDeltas(a), withDeltas(b))).toEqual(diff(a, b));
      },
    ),
  );
});

test('any injected difference is found at its first step', () => {
  const change = fc.record({
    at: fc.nat({ max: 4 }),
    where: fc.constantFrom('input', 'output', 'error'),
    value: fc.integer(),
  });
  const tell = (given: { at: number; where: string; value: number } | undefined): SessionView => {
    const story = new Story('Go through the pages.');
    for (let page = 0; page < 5; page++) {
      const own = given?.at === page ? given : undefined;
      const input = own?.where === 'input' ? { page, extra: own.value } : { page };
      if (own?.where === 'error')
        story.call('fetch', input, { error: failure('ToolError', 17, `no ${own.value}`) });
      else
        story.call(
          'fetch',
          input,
          own?.where === 'output' ? { rows: [page, own.value, 'x'] } : { rows: [page] },
        );
    }
    return story.ok();
  };
  fc.assert(
    fc.property(change, (given) => {
      const { first } = diff(tell(undefined), tell(given));
      // What is asked differs in the model's answer first, what comes back in the tool's step.
      expect(first).toMatchObject({ b: given.where === 'input' ? 2 * given.at + 1 : 2 * given.at + 2 });
      expect(first?.difference?.path).toMatch(
        given.where === 'input' ? /^\/output\/message/ : /^\/(?:output|error|status)/,
      );
    }),
  );
});
