import type { SessionView } from '@chassis/journal';
import type { Json } from '@chassis/types';
import { expect, test } from 'vitest';
import { failure, invalid, Story } from '../../test/build.ts';
import { type Gathered, gather, said } from '../evidence.ts';
import { symptomOf } from '../symptom.ts';
import { why } from '../why.ts';
import { rules } from './index.ts';
import type { Suspect } from './rule.ts';

/** Per rule: a story in which it speaks about the step that `bad` gives, and one so near to it that it must not speak. */
interface Example {
  readonly bad: (story: Story) => number;
  readonly place?: string;
  readonly good: (story: Story) => unknown;
}

const stopped = failure('ToolError', 17, 'ended with code 17');
const end = (story: Story): SessionView => {
  story.call('finish', { mode: 'x' }, { error: stopped });
  return story.fail();
};
const heard = (rule: string, gathered: Gathered): Suspect[] =>
  rules.filter(({ name }) => name === rule).flatMap((one) => said(one, gathered));
const found = (rule: string, view: SessionView): Suspect[] => {
  const symptom = symptomOf(view);
  if (!symptom) throw new Error('the example does not fail');
  return heard(rule, gather(view, symptom));
};
const page = (amounts: Json[]): Json => ({ rows: amounts.map((amount) => ({ amount })) });

const examples: Readonly<Record<string, Example>> = {
  'wrong-sum': {
    bad: (story) => story.call('basket', {}, { lines: [{ price: 20.5 }, { price: 30 }], total: 61.5 }),
    place: '/output/total',
    good: (story) => story.call('basket', {}, { lines: [{ price: 20.5 }, { price: 30 }], total: 50.5 }),
  },
  'schema-broken': {
    bad: (story) =>
      story.call(
        'price',
        { sku: 'a' },
        {
          output: { price: -1 },
          error: failure('InvalidOutput', -32009, 'broken', {
            issues: [{ path: '/price', message: 'must be >= 0' }],
          }),
        },
      ),
    place: '/output/price',
    good: (story) => story.call('price', { sku: 'a' }, { error: failure('ToolError', 1, 'no price') }),
  },
  denied: {
    bad: (story) =>
      story.call(
        'read',
        { path: 'x' },
        { status: 'denied', error: failure('PermissionDenied', -32005, 'no') },
      ),
    place: '/error/message',
    good: (story) =>
      story.call('read', { path: 'x' }, { text: 'How to fix "permission denied" errors: run chmod.' }),
  },
  'odd-value': {
    bad: (story) => story.call('fetch', { page: 1 }, page([10.5, 11, '1.249,90', 12])),
    place: '/output/rows/2/amount',
    good: (story) => story.call('fetch', { page: 1 }, page(['red', 'green', '1.249,90', 'blue'])),
  },
  'wrong-unit': {
    bad: (story) => {
      story.call('weigh', { id: 1 }, { weight: 2, unit: 'kg' });
      story.call('weigh', { id: 2 }, { weight: 3, unit: 'kg' });
      return story.call('weigh', { id: 3 }, { weight: 2500, unit: 'g' });
    },
    place: '/output/unit',
    good: (story) => {
      for (const id of [1, 2, 3]) story.call('weigh', { id }, { weight: id, unit: 'kg' });
    },
  },
  truncated: {
    bad: (story) => story.call('read', { path: 'a' }, { text: 'abc', truncated: true }),
    place: '/output/truncated',
    good: (story) =>
      story.call(
        'read',
        { path: 'a' },
        { text: 'She paused … and went on.', truncated: false, bytes: 10, total_bytes: 10 },
      ),
  },
  'dropped-page': {
    bad: (story) => {
      story.call('list', { page: 1 }, { rows: [1] });
      return story.call('list', { page: 3 }, { rows: [3] });
    },
    place: '/input/page',
    good: (story) => {
      for (const number of [3, 1, 2])
        story.call(
          'list',
          { page: number },
          { rows: [number], has_more: number < 3, next: number < 3 ? number + 1 : null },
        );
    },
  },
  'swallowed-error': {
    bad: (story) => story.call('make', { name: 'a' }, { output: { ok: false, reason: 'quota' } }),
    place: '/output/ok',
    good: (story) =>
      story.call(
        'make',
        { name: 'a' },
        { output: { ok: true, error: null, errors: [], status: 'done', exit_code: 0 } },
      ),
  },
  'wrong-echo': {
    bad: (story) => story.call('get_user', { id: 'u-1' }, { id: 'u-2', name: 'Ann' }),
    place: '/output/id',
    good: (story) => story.call('get_user', { id: 'U-1', city: 'Paris' }, { id: 'u-1', city: 'Paris, FR' }),
  },
  'stale-read': {
    bad: (story) => {
      const read = story.call('read', { path: 'src/a.ts' }, { text: 'old' });
      story.model([{ tool: 'format', input: { path: 'src/a.ts' } }]);
      story.tool(0, {
        output: {},
        effects: [{ kind: 'file', op: 'modify', path: 'src/a.ts', before: 'a', after: 'b' }],
      });
      story.call('compare', { path: 'src/a.ts', with: 'old' }, { equal: false });
      return read;
    },
    place: '/output',
    good: (story) => {
      story.call('read', { path: 'src/a.ts' }, { text: 'old' });
      story.model([{ tool: 'format', input: { path: 'src/a.ts' } }]);
      story.tool(0, {
        output: {},
        effects: [{ kind: 'file', op: 'modify', path: 'src/a.ts', before: 'a', after: 'b' }],
      });
      story.call('read', { path: 'src/a.ts' }, { text: 'new' });
      story.call('compare', { path: 'src/a.ts', with: 'new' }, { equal: true });
    },
  },
  'late-duplicate': {
    bad: (story) => {
      story.call(
        'charge',
        { card: 'c', amount: 5 },
        { status: 'timeout', error: failure('ToolTimeout', -32001, 'late') },
      );
      return story.call('charge', { card: 'c', amount: 5 }, { charge: 2 });
    },
    place: '/output',
    good: (story) => {
      story.call('charge', { card: 'c', amount: 5 }, { error: failure('ToolError', 1, 'card refused') });
      story.call('charge', { card: 'c', amount: 5 }, { charge: 2 });
      story.call('charge', { card: 'd', amount: 5 }, { charge: 3 });
    },
  },
  'changed-retry': {
    bad: (story) => {
      story.call(
        'pay',
        { invoice: 'i-1', amount: 5 },
        { status: 'timeout', error: failure('ToolTimeout', -32001, 'late') },
      );
      return story.call('pay', { invoice: 'i-1', amount: 6 }, { ok: true });
    },
    place: '/input/amount',
    good: (story) => {
      story.call(
        'pay',
        { invoice: 'i-1', amount: 'five' },
        { error: invalid({ path: '/amount', expected: 'number', received: 'string' }) },
      );
      story.call('pay', { invoice: 'i-1', amount: 5 }, { ok: true });
    },
  },
  'finish-reason': {
    bad: (story) => story.model([{ tool: 'finish', input: {} }], { finish: 'length' }),
    place: '/output/finish_reason',
    good: (story) => story.call('note', { text: 'length' }, { ok: true }),
  },
  'unknown-outcome': {
    bad: (story) =>
      story.call(
        'send',
        { to: 'a' },
        { status: 'unknown', error: failure('OutcomeUnknown', -32014, 'cut off') },
      ),
    place: '/error/message',
    good: (story) => story.call('send', { to: 'a' }, { error: failure('ToolError', 1, 'refused') }),
  },
  'repeated-call': {
    bad: (story) => {
      story.call('poll', { job: 1 }, { state: 'wait' });
      return story.call('poll', { job: 1 }, { state: 'wait' });
    },
    good: (story) => {
      story.call('poll', { job: 1 }, { state: 'wait' });
      story.call('poll', { job: 1 }, { state: 'done' });
      story.call('poll', { job: 2 }, { state: 'done' });
    },
  },
  'no-progress': {
    bad: (story) => {
      const first = story.call('search', { q: 'a' }, { hits: [] });
      for (const q of ['b', 'c', 'd']) story.call('search', { q }, { hits: [] });
      return first;
    },
    good: (story) => {
      for (const q of ['a', 'b', 'c']) story.call('save', { q }, { ok: true });
      story.call('save', { q: 'd' }, { ok: true, id: 4 });
    },
  },
  'empty-result': {
    bad: (story) => {
      story.call('search', { q: 'a' }, { hits: [1] });
      return story.call('search', { q: 'b' }, { hits: [] });
    },
    place: '/output',
    good: (story) => {
      story.call('search', { q: 'a' }, { hits: [1] });
      story.call(
        'search',
        { q: 'b' },
        { hits: [], summary: 'none of the two archives', searched: 2, took: 'a while' },
      );
    },
  },
  'earlier-failure': {
    bad: (story) => story.call('load', { id: 1 }, { error: failure('ToolError', 1, 'disk') }),
    place: '/error/message',
    good: (story) => {
      story.call('load', { id: 1 }, { error: failure('ToolError', 1, 'disk') });
      story.call('load', { id: 1 }, { text: 'x' });
    },
  },
};

for (const [rule, { bad, place, good }] of Object.entries(examples)) {
  test(`${rule} speaks about the step, and only where it should`, () => {
    const story = new Story('x');
    const step = bad(story);
    const view = end(story);
    expect(found(rule, view).map((suspect) => [suspect.step, suspect.pointer])).toContainEqual([step, place]);
    const twin = new Story('x');
    good(twin);
    expect(found(rule, end(twin))).toEqual([]);
  });
}

/** Rules that look at the failure itself. */
function failing(
  input: Json,
  error = failure('NotFound', 1, `no order ${JSON.stringify(input)}`),
  task = 'x',
): SessionView {
  const story = new Story(task);
  story.call('list', {}, { orders: [{ id: 'A-1001-5' }] });
  story.call('cancel', { id: input }, { error });
  return story.fail();
}

test('born-in-model speaks about a value that nothing in sight holds', () => {
  expect(found('born-in-model', failing('B-7733-9'))).toMatchObject([
    { step: 3, value: 'B-7733-9', range: [7, 15] },
  ]);
  expect(found('born-in-model', failing('A-1001-5'))).toEqual([]);
});

test('born-in-model names the nearest value that was in sight', () => {
  expect(found('born-in-model', failing('A-1001-6'))[0]?.text).toContain('nearest in sight: A-1001-5');
});

test('born-in-model does not speak about a value that is only too short to be traced', () => {
  const story = new Story('x');
  story.call('count', {}, { errors: 12, retries: 12 });
  story.call('set', { limit: 12 }, { error: failure('ToolError', 1, "'12' is too much, and so is 12") });
  expect(found('born-in-model', story.fail())).toEqual([]);
});

test('first-appearance speaks about the result that brought a value in, not about one that the model wrote', () => {
  expect(found('first-appearance', failing('A-1001-5'))).toMatchObject([
    { step: 2, pointer: '/output/orders/0/id' },
  ]);
  expect(found('first-appearance', failing('B-7733-9'))).toEqual([]);
});

test('failed-here speaks when the failure says that its cause lies outside, with the root cause', () => {
  const down = failure('Unavailable', -32004, 'cancel is not available', {
    cause: { message: 'the process ended with code 1' },
  });
  expect(found('failed-here', failing('A', down))).toMatchObject([
    { step: 4, kind: 'end', text: 'what was called was not available: the process ended with code 1' },
  ]);
  expect(found('failed-here', failing('A'))).toEqual([]);
});

test('wrong-unit: passed on under another unit, scaled by the model, named otherwise', () => {
  const passed = (input: Json, output: Json): Suspect[] => {
    const story = new Story('x');
    story.call('total', {}, output);
    story.call('refund', input, {
      error: failure('ToolError', 1, `refund ${JSON.stringify(Object.values(input ?? {})[0])} refused`),
    });
    return found('wrong-unit', story.fail());
  };
  expect(passed({ total_eur: 124990 }, { total_cents: 124990 })).toMatchObject([{ step: 3, kind: 'act' }]);
  expect(passed({ amount: 124990 }, { amount: 1249.9 })).toMatchObject([{ step: 3, kind: 'act' }]);
  expect(passed({ amount: 1249.9 }, { amount: 1249.9 })).toEqual([]);
  expect(passed({ bytes: 52001 }, { free_kb: 52001 })).toMatchObject([{ step: 3, kind: 'act' }]);
  expect(passed({ total: 1061 }, { sum: 1061 })).toEqual([]);
});

test('dropped-page: a next step that is no page of rows is none', () => {
  const told = (output: Json): Suspect[] => {
    const story = new Story('x');
    story.call('list', { limit: 2 }, output);
    return found('dropped-page', end(story));
  };
  expect(told({ items: [1, 2], next: 'c-0002' })).toMatchObject([{ step: 2, pointer: '/output/next' }]);
  expect(told({ next: 'done' })).toEqual([]);
});

test('swallowed-error: a failed part of a change is one, a failed job in a list is not', () => {
  const told = (tool: string): Suspect[] => {
    const story = new Story('x');
    story.call(
      tool,
      { all: true },
      {
        results: [
          { id: 1, status: 'done' },
          { id: 2, status: 'failed' },
        ],
      },
    );
    return found('swallowed-error', end(story));
  };
  expect(told('create_users')).toMatchObject([{ step: 2, pointer: '/output/results/1/status' }]);
  expect(told('list_jobs')).toEqual([]);
});

test('lost-instruction speaks where the words of the person leave the request, not when a summary repeats them', () => {
  const told = (summary: string): Suspect[] => {
    const story = new Story('Never delete a branch.');
    story.call('list', {}, { branches: ['a', 'b'] });
    story.compact(summary);
    return found('lost-instruction', end(story));
  };
  expect(told('There are two branches.')).toMatchObject([{ step: 3, pointer: '/input/messages' }]);
  expect(told('Asked: Never delete a branch. There are two.')).toEqual([]);
});

test('unlike-good-run names the first difference from a run that went well on the way to the failure', () => {
  const told = (rate: number): Story => {
    const story = new Story('Convert the sum.');
    story.call('get_rate', { pair: 'EURUSD' }, { rate });
    story.call('look_up', { term: 'fee' }, { text: 'none' });
    return story;
  };
  const good = told(1.09).ok();
  const bad = end(told(1.9));
  const suspects = (against: SessionView): Suspect[] =>
    heard('unlike-good-run', gather(bad, symptomOf(bad)!, against));
  expect(suspects(good)).toMatchObject([{ step: 2, pointer: '/output/rate', value: 1.9 }]);
  expect(suspects(bad)).toEqual([]);
  expect(found('unlike-good-run', bad)).toEqual([]);
  expect(why(bad, undefined, { against: good }).cause).toMatchObject({ step: 2, rule: 'unlike-good-run' });
});

const crash = failure(
  'InternalError',
  -32603,
  "AttributeError: 'str' object has no attribute 'name' (main.py:8)",
  {
    place: 'main.py:8',
  },
);

test('own-code blames the tool that broke, not the value that its exception happens to quote', () => {
  const story = new Story('Greet them.');
  story.call('greet', { who: 'name' }, { error: crash });
  expect(why(story.fail()).cause).toMatchObject({
    step: 2,
    rule: 'own-code',
    label: 'recorded',
    text: "the own code of greet failed: AttributeError: 'str' object has no attribute 'name', at main.py:8",
  });
});

test('own-code gives way to the odd value that the tool broke over, and to a name that the model made up', () => {
  const odd = new Story('Sum it.');
  odd.call('fetch', { page: 1 }, page([10.5, 11, '1.249,90', 12]));
  odd.call(
    'sum',
    { amounts: [10.5, 11, '1.249,90', 12] },
    { error: failure('InternalError', -32603, 'TypeError: x') },
  );
  expect(why(odd.fail()).cause).toMatchObject({ step: 2, rule: 'odd-value' });
  const made = new Story('Look it up.');
  const message = 'ValueError: no such customer "C-99172" (main.py:3)';
  made.call('look_up', { customer: 'C-99172' }, { error: failure('InternalError', -32603, message) });
  expect(why(made.fail()).cause).toMatchObject({ step: 1, rule: 'born-in-model' });
});

test('misread-number names the call in which a thousands separator became a decimal point', () => {
  const told = (written: string): SessionView => {
    const story = new Story('Order what is missing.');
    story.call('stock', { sku: 'AX-4471' }, { pieces: written });
    const pieces = Number(written);
    story.call(
      'order',
      { pieces },
      { error: failure('ToolError', 17, `pieces must be whole, not ${pieces}`) },
    );
    return story.fail();
  };
  expect(found('misread-number', told('4.512'))).toMatchObject([{ step: 3, value: '4.512' }]);
  expect(found('misread-number', told('4.51'))).toEqual([]);
});

test('unusable-failure blames the tool whose missing result stopped the next model step, when that speaks of it', () => {
  const told = (message: string): ReturnType<typeof why> => {
    const story = new Story('Count them.');
    story.call('count', { text: 'a b' }, { error: crash });
    story.model([], { error: failure('ModelError', -32010, message) });
    return why(story.fail());
  };
  const found = told('/p/s.yaml:4: {{ results.count[-1].words }} gave nothing: errors.count has 1');
  expect(found).toMatchObject({
    symptom: { step: 3 },
    cause: { step: 2, rule: 'unusable-failure', label: 'inferred' },
  });
  expect(found.chain).toMatchObject([{ from: { step: 3 }, to: { step: 2, pointer: '/error/message' } }]);
  expect(told('the provider closed the connection').cause).toMatchObject({ step: 3, rule: 'failed-here' });
});

test('every rule has its examples', () => {
  const elsewhere = [
    'born-in-model',
    'first-appearance',
    'failed-here',
    'lost-instruction',
    'own-code',
    'unlike-good-run',
    'unusable-failure',
    'lost-result',
    'misread-number',
    'unfit-call',
    // In person-and-page.test.ts.
    ...['wrong-content', 'swapped-ends', 'told-unit', 'misread-list'],
    // In marks-and-choices.test.ts.
    ...[
      'warned',
      'other-place',
      'wrong-choice',
      'named-mark',
      'removed-before',
      'wrong-order',
      'unit-beside',
    ],
    // In what-was-read.test.ts.
    ...['unfinished', 'undecoded', 'other-version', 'left-out'],
    // In on-the-way.test.ts.
    'misread-argument',
    // In older-and-lacking.test.ts.
    ...['out-of-order', 'lacking'],
    // In general-forms.test.ts.
    'abridged-write',
    'row-twice',
    // In relevance.test.ts.
    'made-up-before',
    // In learnt-rules.test.ts.
    ...[
      'other-answer',
      'unlike-others',
      'unlike-end',
      'said-extent',
      'contradiction',
      'misread-date',
      'related',
      'skipped-call',
      'fewer-rows',
      'swapped',
    ],
  ];
  expect(new Set([...Object.keys(examples), ...elsewhere])).toEqual(new Set(rules.map(({ name }) => name)));
});
