import { expect, test } from 'vitest';
import { failure, invalid, Story } from '../test/build.ts';
import { lineage } from './lineage.ts';

test('a value in a tool call leads back through the model to the first result that had it', () => {
  const story = new Story('Report the average order value.');
  story.call(
    'fetch_orders',
    { page: 1 },
    {
      rows: [
        { id: 1, amount: 120.5 },
        { id: 2, amount: 80 },
      ],
    },
  );
  const second = {
    rows: [
      { id: 3, amount: 99 },
      { id: 4, amount: '1.249,90' },
      { id: 5, amount: 'N/A' },
    ],
  };
  const first = story.call('fetch_orders', { page: 2 }, second);
  story.call('fetch_orders', { page: 2 }, second);
  const amounts = [120.5, 80, 99, '1.249,90', 'N/A'];
  const average = story.call(
    'average',
    { amounts },
    { error: invalid({ path: '/amounts/3', expected: 'number', received: 'string' }) },
  );
  const view = story.fail();

  const found = lineage(view, { step: average, pointer: '/input/amounts/3' });
  expect(found?.birth).toMatchObject({ step: first, pointer: '/output/rows/1/amount', text: '1.249,90' });
  expect(found?.origin).toBe('tool');
  expect(found?.links.map(({ label, to }) => [label, to.step, to.pointer])).toEqual([
    ['recorded', average - 1, '/output/message/tool_calls/0/arguments'],
    ['inferred', first, '/output/rows/1/amount'],
  ]);
  const short = lineage(view, { step: average, pointer: '/input/amounts/4' });
  expect(short?.birth).toMatchObject({ step: first, pointer: '/output/rows/2/amount', text: 'N/A' });
});

test('a value in another number format is found and called that', () => {
  const story = new Story('What did order 4 cost?');
  const fetched = story.call('fetch', { id: 4 }, { amount: '1.249,90' });
  const paid = story.call('pay', { amount: 1249.9 }, { ok: true });
  const found = lineage(story.ok(), { step: paid, pointer: '/input/amount' });
  expect(found?.birth).toMatchObject({ step: fetched, pointer: '/output/amount' });
  expect(found?.links.at(-1)).toMatchObject({ form: 'number', label: 'inferred' });
});

test('what nothing in sight carries was born in the model', () => {
  const story = new Story('Cancel my order.');
  story.call('list_orders', {}, { orders: [{ id: 'A-1001' }] });
  const cancel = story.call(
    'cancel',
    { id: 'B-7733-Q' },
    { error: failure('NotFound', 1, 'no order B-7733-Q') },
  );
  const found = lineage(story.fail(), { step: cancel, pointer: '/input/id' });
  expect(found).toMatchObject({ origin: 'model', birth: { step: cancel - 1, text: 'B-7733-Q' } });
  expect(found?.links).toHaveLength(1);
});

test('a path put together from two results shows both', () => {
  const story = new Story('Read the file.');
  const folder = story.call('project', {}, { root: '/srv/data/reports' });
  const names = story.call('list', {}, { names: ['january.csv', 'totals-2026.csv'] });
  const reading = story.call('read', { path: '/srv/data/reports/totals-2026.csv' }, { text: 'a,b' });
  const found = lineage(story.ok(), { step: reading, pointer: '/input/path' });
  expect(found?.pieces.map(({ link }) => [link.from.text, link.to.step, link.to.pointer])).toEqual([
    ['/srv/data/reports', folder, '/output/root'],
    ['totals-2026.csv', names, '/output/names/1'],
  ]);
});

test('the part of a query that a range names is traced by itself', () => {
  const story = new Story('Count the invoices in table invoices_v2.');
  const sql = 'select count(*) from invoices_v2';
  const query = story.call(
    'bash',
    { command: `psql -c "${sql}"` },
    { error: failure('ToolError', 1, 'relation "invoices_v2" does not exist') },
  );
  const view = story.fail();
  const command = `psql -c "${sql}"`;
  const at = command.indexOf('invoices_v2');
  const found = lineage(view, { step: query, pointer: '/input/command', range: [at, at + 11] });
  expect(found?.birth).toMatchObject({ step: 1, pointer: '/input/messages/1/content', text: 'invoices_v2' });
  expect(found?.origin).toBe('user');
});

test('a short number is not found in unrelated places', () => {
  const story = new Story('Set the limit.');
  story.call('stats', {}, { errors: 5, retries: 5 });
  const set = story.call('set_limit', { limit: 5 }, { ok: true });
  expect(lineage(story.ok(), { step: set, pointer: '/input/limit' })).toMatchObject({ origin: 'unknown' });
});

test('a short value that stands in one place only is traced there as a guess', () => {
  const story = new Story('Heat the room.');
  const read = story.call('sensor', { room: 'hall' }, { temperature: 71.2 });
  const set = story.call('heat', { reading: 71.2 }, { ok: true });
  const found = lineage(story.ok(), { step: set, pointer: '/input/reading' });
  expect(found?.birth).toMatchObject({ step: read, pointer: '/output/temperature' });
  expect(found?.links.map(({ label }) => label)).toEqual(['recorded', 'guess']);
});

test('what a shortened result did not show was not in sight', () => {
  const story = new Story('Find the secret word.');
  story.model([{ tool: 'read', input: { path: 'a' } }]);
  story.tool(0, {
    output: { text: 'alpha bravo', tail: 'zulu-hidden' },
    message: '{"text":"alpha bravo" … (cut)',
  });
  const use = story.call('use', { word: 'zulu-hidden' }, { ok: true });
  expect(lineage(story.ok(), { step: use, pointer: '/input/word' })?.origin).toBe('model');
});

test('arrays, objects and empty places have no lineage', () => {
  const story = new Story('x');
  const step = story.call('t', { list: [1, 2] }, {});
  const view = story.ok();
  expect(lineage(view, { step, pointer: '/input/list' })).toBeUndefined();
  expect(lineage(view, { step, pointer: '/input/none' })).toBeUndefined();
  expect(lineage(view, { step: 99, pointer: '/input' })).toBeUndefined();
});
