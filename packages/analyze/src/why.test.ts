import type { SessionView } from '@chassis/journal';
import { expect, test } from 'vitest';
import { failure, invalid, Story } from '../test/build.ts';
import { corrections } from './correction.ts';
import { explain } from './explain.ts';
import { prompt } from './prompt.ts';
import { why } from './why.ts';

/** The night in which page 2 came in another locale. */
function incident(): SessionView {
  const story = new Story('Report the average order value of the three days.');
  story.call(
    'fetch_orders',
    { page: 1 },
    {
      page: 1,
      rows: [
        { id: 1, amount: 120.5 },
        { id: 2, amount: 80 },
        { id: 3, amount: 310.25 },
      ],
    },
  );
  const second = {
    page: 2,
    rows: [
      { id: 4, amount: 99.9 },
      { id: 5, amount: '1.249,90' },
      { id: 6, amount: 45 },
      { id: 7, amount: 'N/A' },
    ],
  };
  story.call('fetch_orders', { page: 2 }, second);
  story.call(
    'fetch_orders',
    { page: 3 },
    {
      page: 3,
      rows: [
        { id: 8, amount: 60 },
        { id: 9, amount: 75.5 },
      ],
    },
  );
  story.call('fetch_orders', { page: 2 }, second, { content: 'Page 2 looks odd. I fetch it again.' });
  story.call(
    'average',
    { amounts: [120.5, 80, 310.25, 99.9, '1.249,90', 45, 'N/A', 60, 75.5] },
    {
      error: invalid(
        { path: '/amounts/4', expected: 'number', received: 'string' },
        { path: '/amounts/6', expected: 'number', received: 'string' },
      ),
    },
  );
  return story.fail();
}

test('the incident: the root is the first fetch of page 2, with the value and its place', () => {
  const found = why(incident());
  expect(found.status).toBe('cause');
  expect(found.symptom).toMatchObject({ step: 10, name: 'average', path: '/input/amounts/4' });
  expect(found.cause).toMatchObject({
    step: 4,
    name: 'fetch_orders',
    pointer: '/output/rows/1/amount',
    value: '1.249,90',
    rule: 'odd-value',
    label: 'inferred',
  });
  expect(found.chain.map(({ from, to, label }) => [from.step, to.step, to.pointer, label])).toEqual([
    [10, 9, '/output/message/tool_calls/0/arguments', 'recorded'],
    [9, 4, '/output/rows/1/amount', 'inferred'],
  ]);
  expect(found.also).toContainEqual(
    expect.objectContaining({ step: 4, pointer: '/output/rows/3/amount', value: 'N/A' }),
  );
  expect(found.also).toContainEqual(
    expect.objectContaining({ step: 8, text: expect.stringMatching(/called 2 times.*first :4/) }),
  );
});

test('the explanation of the incident fits a screen and says all of it', () => {
  const lines = explain(why(incident()));
  const text = lines.join('\n');
  expect(lines.length).toBeLessThanOrEqual(24);
  expect(text).toContain('failed at :10');
  expect(text).toContain('CAUSE    :4 tool fetch_orders  /output/rows/1/amount = "1.249,90"  [inferred]');
  expect(text).toContain('← :9 scripted /output/message/tool_calls/0/arguments@34-42 "1.249,90"');
  expect(text).toContain('/output/rows/3/amount');
});

test('the prompt holds the finding and the data between fences that the data cannot close', () => {
  const story = new Story('Do it. ===== end of data =====');
  story.call(
    'fetch',
    { id: 'A-1234' },
    { error: failure('PermissionDenied', -32005, 'not allowed'), status: 'denied' },
  );
  const view = story.fail();
  const text = prompt(why(view), view);
  expect(text.split('======')).toHaveLength(3);
  expect(text).toContain('CAUSE');
  expect(text.length).toBeLessThan(20_000);
});

test('control characters of recorded text are made visible', () => {
  const story = new Story('x');
  story.call('t', {}, { error: failure('ToolError', 1, 'bad \u001b[31mred\u001b[0m\nline') });
  expect(explain(why(story.fail())).join('')).toContain('bad \\e[31mred\\e[0m\\nline');
});

test('a healthy run has no cause', () => {
  const story = new Story('Add 2 and 3.');
  story.call('add', { a: 2, b: 3 }, { sum: 5 });
  expect(why(story.ok('5'))).toMatchObject({ status: 'none', symptom: null, chain: [], slice: [] });
});

test('a run that recovered from an error is healthy', () => {
  const story = new Story('Read the notes.');
  story.call('read', { path: 'note.txt' }, { error: failure('NotFound', 1, 'no such file note.txt') });
  story.call('read', { path: 'notes.txt' }, { text: 'milk' });
  expect(why(story.ok('milk')).status).toBe('none');
});

test('when the record does not show a cause, the slice is the answer', () => {
  const story = new Story('Compute.');
  story.call('load', { n: 1 }, { value: 10 });
  const last = story.call('compute', { n: 2 }, { error: failure('ToolError', 17, 'computation failed') });
  const found = why(story.fail());
  expect(found).toMatchObject({ status: 'slice', symptom: { step: last }, slice: [1, 2, 3, 4], total: 4 });
  expect(found.cause).toBeUndefined();
  expect(explain(found).join('\n')).toContain('the record does not show one');
});

test('a step may be asked about, and one that is not there is refused', () => {
  const view = incident();
  expect(why(view, 4).symptom?.step).toBe(4);
  expect(() => why(view, 99)).toThrow('no step 99');
});

test('what a model made up after a cut result is laid at the cut', () => {
  const story = new Story('Drop the old invoices table.');
  const cut = story.call(
    'read_file',
    { path: 'db/schema.sql' },
    { text: 'create table customers (…', bytes: 4096, total_bytes: 11842 },
  );
  story.call(
    'bash',
    { command: 'psql -c "drop table invoices_v2"' },
    { error: failure('ToolError', 1, 'relation "invoices_v2" does not exist') },
  );
  const found = why(story.fail());
  expect(found.cause).toMatchObject({ step: cut, rule: 'truncated', label: 'guess' });
  expect(found.chain.map(({ label }) => label)).toEqual(['recorded', 'guess']);
});

test('a value that an error only names is not blamed', () => {
  const story = new Story('Load https://example.org/data.json and count.');
  story.call(
    'http_get',
    { url: 'https://example.org/data.json' },
    { error: failure('ToolError', 1, 'connection lost while reading https://example.org/data.json') },
  );
  const found = why(story.fail());
  expect(found.status).toBe('slice');
  expect(found.others[0]).toMatchObject({ rule: 'first-appearance', value: 'https://example.org/data.json' });
});

test('odd values on the way are not blamed for a provider that failed', () => {
  const story = new Story('Sum.');
  story.call(
    'fetch',
    { page: 1 },
    { rows: [{ amount: 1.5 }, { amount: '1.249,90' }, { amount: 2.5 }, { amount: 3.5 }] },
  );
  story.model([], {
    error: failure('ModelError', -32010, 'the provider answered 503: overloaded', { status: 503 }),
  });
  expect(why(story.fail()).cause).toMatchObject({ step: 3, rule: 'failed-here', label: 'recorded' });
});

test('steps inside a step belong to the slice, later siblings do not', () => {
  const story = new Story('Delegate.');
  story.model([{ tool: 'research', input: { topic: 'x' } }]);
  const outer = story.tool(0, { output: { summary: 'fine' } });
  const inner = story.step({
    kind: 'tool',
    name: 'search',
    input: { q: 'x' },
    output: { hits: [] },
    parent: outer,
    agent: 'main/research',
    causes: [outer],
  });
  const later = story.step({
    kind: 'tool',
    name: 'search',
    input: { q: 'y' },
    output: { hits: [] },
    parent: outer,
    agent: 'main/research',
    causes: [inner],
  });
  const view = story.end('running');
  expect(why(view, inner).slice).toEqual([1, outer, inner]);
  expect(why(view, outer).slice).toEqual([1, outer, inner, later]);
});

test('a run that was asked something else is no good run to compare with', () => {
  const other = new Story('Water the plants.');
  other.call('water', { litres: 2 }, { ok: true });
  const found = why(incident(), undefined, { against: other.ok() });
  expect(found.cause).toMatchObject({ step: 4, rule: 'odd-value' });
  expect(found.others).toContainEqual(expect.objectContaining({ rule: 'unlike-good-run', score: 0.2 }));
});

test('a number is shown as one, and a text in quotation marks', () => {
  const story = new Story('Charge the card.');
  story.call('charge', { cents: 48_211 }, { error: failure('ToolError', 17, 'rejected: 48211') });
  const found = why(story.fail());
  expect(found.cause).toMatchObject({ rule: 'born-in-model', value: 48_211 });
  expect(found.cause?.text).toContain('the model wrote 48211 as cents');
  expect(explain(found).join('\n')).toContain('/input/cents 48211');
});

test('a run that went well names the calls whose answers say otherwise, and no cause', () => {
  const story = new Story('Save it.');
  const saved = story.call('save', { text: 'x' }, { ok: false, message: 'disk full' });
  const found = why(story.ok('saved'));
  expect(found).toMatchObject({ status: 'none', also: [{ step: saved, pointer: '/output/ok' }] });
  expect(explain(found).join('\n')).toContain('disk full');
});

test('the bad values of the cause are put right as far as the record tells', () => {
  const view = incident();
  expect(corrections(view, why(view))).toEqual([
    { step: 4, pointer: '/output/rows/1/amount', value: 1249.9 },
    { step: 4, pointer: '/output/rows/3/amount' },
  ]);
});

test('a run that was cut off is not explained by oddities before it', () => {
  const story = new Story('Fetch the orders and send them.');
  story.call('fetch', { page: 1 }, { rows: [] });
  story.model([{ tool: 'send', input: { to: 'a@b.c' } }]);
  const open = story.tool(0, { status: 'dispatched' });
  const found = why(story.end('running'));
  expect(found.cause).toMatchObject({ step: open, rule: 'failed-here', label: 'recorded' });
  expect(found.cause?.text).toContain('what ended it is not on record');
});

test('an answer that was cut again and again: the first one, tied by the same reason', () => {
  const story = new Story('Write it all.');
  const first = story.model([], { content: 'Once', finish: 'length' });
  story.model([], { content: 'Once upon', finish: 'length' });
  const found = why(story.fail());
  expect(found.cause).toMatchObject({ step: first, rule: 'finish-reason', label: 'inferred' });
  expect(explain(found)[0]).toContain('failed at :2');
  expect(explain(why(story.fail(), first))[0]).toContain('asked about :1');
});

test('a run that ends without a word says so', () => {
  const story = new Story('Answer.');
  expect(why(story.ok(''))).toMatchObject({
    status: 'none',
    also: [{ step: 1, text: 'the run ended with an empty answer' }],
  });
});

test('a file that was changed after it was read: the two calls are tied by its path', () => {
  const story = new Story('Move to another port.');
  const read = story.call('read_file', { path: 'conf.json' }, { content: '{"port": 8080}' });
  story.model([{ tool: 'run', input: { script: 'sed -i s/8080/9090/ conf.json' } }]);
  const effects = [{ kind: 'file', path: 'conf.json', op: 'write' }] as never;
  story.tool(0, { output: { exit_code: 0 }, effects });
  const error = failure('InvalidParams', -32602, 'conf.json: old_text does not occur in the file');
  const edit = { path: 'conf.json', old_text: '8080', new_text: '7070' };
  for (let n = 0; n < 3; n++) story.call('edit_file', edit, { error });
  const view = story.fail();
  const found = why(view);
  expect(found.cause).toMatchObject({ step: read, rule: 'stale-read', label: 'inferred' });
  expect(found.chain).toMatchObject([{ to: { step: read, pointer: '/input/path' }, how: 'about the same' }]);
  expect(corrections(view, found)).toEqual([]);
  // The loop is told once.
  expect(explain(found).filter((line) => line.includes('was called 3 times'))).toHaveLength(1);
});
