/** What has to do with a failure: whom its words blame, whom they only name, and what was done before about the same thing. */
import { expect, test } from 'vitest';
import { failure, Story } from '../test/build.ts';
import { why } from './why.ts';

const fault = (message: string) => ({ error: failure('InvalidParams', -32602, message) });

test('an id that earlier calls took is what the failure speaks of, and not at fault', () => {
  const story = new Story('Send the letter to all of list_17b.');
  const page = story.call('list_members', { list: 'list_17b', limit: 5 }, { rows: [1, 2, 3, 4, 5] });
  story.call('send', { list: 'list_17b' }, fault('list_17b has 9 members, 5 were given'));
  const { cause } = why(story.fail());
  expect(cause?.rule).not.toBe('first-appearance');
  expect(cause?.step ?? page).toBe(page);
});

test('an id that the run itself has made leads to its making', () => {
  const story = new Story('Order the goods.');
  const made = story.call('create_order', { goods: 'tea', count: 400 }, { order: 'ord_91f' });
  story.call('read_mail', { box: 'in' }, { mails: 2 });
  story.call('confirm', { order: 'ord_91f' }, fault('ord_91f is larger than the stock'));
  expect(why(story.fail()).cause).toMatchObject({ step: made, rule: 'first-appearance' });
});

test('that the failing call was tried again is no cause; a loop begins with its first round', () => {
  const again = new Story('Send it.');
  again.call('find', { q: 'a' }, { hits: 3 });
  for (let n = 0; n < 3; n++) again.call('send', { to: 'x' }, fault('no such box'));
  expect(why(again.fail()).cause?.rule).not.toBe('repeated-call');

  const loop = new Story('Click until all is there.');
  const first = loop.call('click', { at: 'more' }, { rows: 10 });
  for (let n = 0; n < 5; n++) loop.call('click', { at: 'more' }, { rows: 10 });
  loop.call(
    'click',
    { at: 'more' },
    { error: failure('BudgetExceeded', -32008, 'it goes round in circles') },
  );
  const found = why(loop.fail());
  expect(found.cause).toMatchObject({ step: first, rule: 'repeated-call' });
  expect(found.others).toContainEqual(expect.objectContaining({ step: first + 2, rule: 'repeated-call' }));
});

test('a failure over what has changed leads to what was read of it before', () => {
  const changed = (message: string) => {
    const story = new Story('Close the ticket.');
    const read = story.call('get_ticket', { ticket: 'T-880' }, { ticket: 'T-880', version: 41 });
    story.call('search', { q: 'x' }, { hits: [] });
    story.call(
      'close_ticket',
      { ticket: 'T-880', version: 41 },
      { error: failure('Conflict', -32013, message) },
    );
    return { read, found: why(story.fail()) };
  };
  const { read, found } = changed('the ticket has been changed in the meantime');
  expect(found.cause).toMatchObject({ step: read, rule: 'stale-read' });
  expect(changed('the ticket is taken').found.cause?.rule).not.toBe('stale-read');
});

test('a value made up in an earlier call about the same thing is found, where the failure speaks of such', () => {
  const told = (doi: string) => {
    const story = new Story('Put the paper 10.1000/known.17 into lib_5c.');
    const wrote = story.call('add_reference', { library: 'lib_5c', doi }, { added: true }) - 1;
    story.call(
      'export',
      { library: 'lib_5c' },
      fault('export of lib_5c failed: 1 DOI could not be resolved'),
    );
    return { wrote, found: why(story.fail()) };
  };
  const { wrote, found } = told('10.2000/madeup.99');
  expect(found.cause).toMatchObject({ step: wrote, rule: 'made-up-before', value: '10.2000/madeup.99' });
  expect(told('10.1000/known.17').found.cause?.rule).not.toBe('made-up-before');
});

test('an earlier failure about the same thing weighs more than one beside it', () => {
  const story = new Story('File the report under /clients/fjord-7.');
  const failed = story.call(
    'make_folder',
    { path: '/clients/fjord-7' },
    { error: failure('ToolError', 5, 'quota') },
  );
  story.call('translate', { text: 'x' }, { error: failure('ToolError', 5, 'no such language') });
  story.call('file', { path: '/clients/fjord-7' }, fault('/clients/fjord-7 does not exist'));
  expect(why(story.fail()).cause).toMatchObject({ step: failed, rule: 'earlier-failure' });
});

test('a name inside of an earlier statement is found when the failure holds it', () => {
  const story = new Story('Make a view of the customers.');
  story.call('describe', { table: 'customer' }, { columns: ['id', 'mail'] });
  const saved = story.call('save_view', { sql: 'SELECT id, referrer_code FROM customer' }, { saved: true });
  story.call('refresh', { view: 'v' }, fault('column "referrer_code" does not exist'));
  expect(why(story.fail()).cause).toMatchObject({ step: saved - 1, rule: 'born-in-model' });
});

test.each([
  ['a write that met no row', 'sql_update', { set: { plan: 'team' } }, { ok: true, affected: 0 }, true],
  ['a write that met one', 'sql_update', { set: { plan: 'team' } }, { ok: true, affected: 1 }, false],
  ['refused recipients', 'send_mail', { to: ['a@b.c'] }, { response: '250 OK', rejected: ['a@b.c'] }, true],
  [
    'an error in the text of a tool',
    'upload',
    { file: 'x' },
    { content: [{ type: 'text', text: 'Error: full' }] },
    true,
  ],
  ['a search without a hit', 'grep', { pattern: 'x' }, { stdout: '', stderr: '', exit_code: 1 }, false],
] as const)('success that is none: %s', (_what, tool, input, output, heard) => {
  const story = new Story('Do it.');
  const step = story.call(tool, input, output);
  story.call('finish', { mode: 'x' }, { error: failure('ToolError', 17, 'ended with code 17') });
  const { cause } = why(story.fail());
  expect(cause?.rule === 'swallowed-error' && cause.step === step).toBe(heard);
});

test('a retry with an item less, or without the end of its statement, is another request', () => {
  const retried = (before: object, after: object) => {
    const story = new Story('Tell them all.');
    story.call('notify', before as never, { error: failure('Unavailable', -32004, 'timeout') });
    const again = story.call('notify', after as never, { queued: true });
    story.call('close', { notice: 'w' }, fault('no delivery on file for flat3@haus.test'));
    return why(story.fail()).cause?.rule === 'changed-retry' ? again : undefined;
  };
  const [a, b, c] = ['flat1@haus.test', 'flat2@haus.test', 'flat3@haus.test'];
  expect(retried({ to: [a, b, c], on: 'Friday' }, { to: [a, c], on: 'Friday' })).toBe(4);
  expect(retried({ sql: 'UPDATE a SET b = 1 WHERE c = 2' }, { sql: 'UPDATE a SET b = 1' })).toBe(4);
  expect(retried({ to: [a, b, c] }, { to: [a, b, c] })).toBeUndefined();
});
