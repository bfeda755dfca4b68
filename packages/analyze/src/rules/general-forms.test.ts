/** Forms of faults that hold for any trade: each rule with an example of its own. */
import type { SessionView } from '@chassis/journal';
import { expect, test } from 'vitest';
import { failure, Story } from '../../test/build.ts';
import { why } from '../why.ts';

type Call = Parameters<Story['call']>;

/** A run of these calls, of which the last fails. */
function told(...calls: Call[]): SessionView {
  const story = new Story('Do the work.');
  for (const call of calls) story.call(...call);
  return story.fail();
}

const refuses = (message: string): Call[2] => ({ error: failure('ToolError', 17, message) });

test('a page that failed and was not asked for again is blamed, and not the one after it', () => {
  const view = told(
    ['stock', { page: 1 }, { rows: [{ sku: 'A-100' }] }],
    ['stock', { page: 2 }, refuses('socket hang up')],
    ['stock', { page: 3 }, { rows: [{ sku: 'C-300' }] }],
    ['order', { list: 'spring' }, refuses('the list is not complete')],
  );
  expect(why(view).cause).toMatchObject({ step: 4, rule: 'dropped-page' });
});

test('a call that is tried again to no avail is not its own cause', () => {
  const again: Call = ['push', { branch: 'main' }, refuses('the branch is protected')];
  const found = why(told(['status', {}, { clean: true }], again, again, again));
  expect(found.cause?.rule).not.toBe('repeated-call');
});

test('what repeats its question is not unlike the others', () => {
  const rate = (pair: string): Call => ['rate', { pair }, { pair, source: 'fixing' }];
  const view = told(rate('EURUSD'), ['hours', {}, { open: 9 }], rate('USDNOK'), rate('EURUSD'), [
    'pay',
    { to: 'x' },
    refuses('no'),
  ]);
  expect(why(view).others.filter(({ rule }) => rule === 'unlike-others')).toEqual([]);
});

test('a statement that lost its end when it was sent again is a changed retry', () => {
  const view = told(
    ['sql', { text: "delete from parcel where depot = 'north' and day < 12" }, refuses('deadlock detected')],
    ['sql', { text: "delete from parcel where depot = 'north'" }, { done: true }],
    ['load', { van: 3 }, refuses('there is nothing to load')],
  );
  expect(why(view).cause).toMatchObject({ step: 4, rule: 'changed-retry' });
});

test('a change that changed nothing, and a part that was turned away, are failures nobody heard of', () => {
  const none = told(
    ['set_price', { sku: 'K-77', price: 12 }, { ok: true, rows_affected: 0 }],
    ['print_label', { sku: 'K-77' }, refuses('K-77 has no price')],
  );
  expect(why(none).cause).toMatchObject({ step: 2, rule: 'swallowed-error' });
  const some = told(
    ['set_price', { sku: 'K-77', price: 12 }, { ok: true, rows_affected: 1 }],
    ['print_label', { sku: 'K-77' }, refuses('K-77 has no label')],
  );
  expect(why(some).others.filter(({ rule }) => rule === 'swallowed-error')).toEqual([]);
  const turned = told(
    ['send_invites', { to: ['a@x.test', 'b@x.test'] }, { accepted: ['a@x.test'], rejected: ['b@x.test'] }],
    ['start_meeting', { guests: ['a@x.test', 'b@x.test'] }, refuses('b@x.test was never invited')],
  );
  expect(why(turned).cause).toMatchObject({ step: 2, rule: 'swallowed-error' });
});

test('a refusal in a notice beside the data counts', () => {
  const view = told(
    ['query', { sql: 'select 1' }, { rows: [], notices: ['12 rows are not visible to role reader'] }],
    ['close_year', { year: 2024 }, refuses('open postings are left')],
  );
  expect(why(view).cause).toMatchObject({ step: 2, rule: 'denied' });
});

test('a number is blamed where it stands when the other results of its tool are written otherwise', () => {
  const sheet = (name: string, rent: string): Call => ['sheet', { name }, { name, rent }];
  const view = told(sheet('a', '1,250'), sheet('b', '1,380'), sheet('c', '1.470'), [
    'plan',
    { rent: 1.47 },
    refuses('rent: 1.47 is too low'),
  ]);
  expect(why(view).cause).toMatchObject({ step: 6, rule: 'misread-number' });
});

test('a text written back with a remark in place of its rest', () => {
  const read = 'server:\n  port: 80\n  host: a.test\nlimits:\n  memory: 2g\n';
  const write = (content: string) =>
    told(
      ['read_config', { path: 'app.yaml' }, { content: read }],
      ['write_config', { path: 'app.yaml', content }, { bytes: content.length }],
      ['restart', {}, refuses('no memory limit is set')],
    );
  const found = (content: string) => {
    const { cause, others } = why(write(content));
    return [...(cause ? [cause] : []), ...others].filter(({ rule }) => rule === 'abridged-write');
  };
  expect(found('server:\n  port: 81\n  host: a.test\n# … rest as before\n')).toMatchObject([{ step: 4 }]);
  expect(found('server:\n  port: 81\n  host: a.test\nlimits:\n  memory: 3g\n')).toEqual([]);
});

test('a row that stands on two pages', () => {
  const row = (id: string, net: number) => ({ id, net });
  const page = (offset: number, ...rows: object[]): Call => ['invoices', { offset }, { rows: rows as never }];
  const one = page(0, row('INV-2041', 12.5), row('INV-2042', 99.1), row('INV-2043', 41));
  const clean = page(3, row('INV-2044', 18), row('INV-2045', 77.2));
  const overlapping = page(3, row('INV-2043', 41), row('INV-2044', 18), row('INV-2045', 77.2));
  const end: Call = ['close_month', { month: 'May' }, refuses('the sum is off by 41')];
  expect(why(told(one, overlapping, end)).cause).toMatchObject({ step: 4, rule: 'row-twice' });
  const healthy = why(told(one, clean, end));
  expect([healthy.cause, ...healthy.others].filter((one) => one?.rule === 'row-twice')).toEqual([]);
});

test('a lone oddity that has nothing to do with the failure stays below what is told for sure', () => {
  const oddly = (name: string): number | undefined => {
    const { cause, others } = why(
      told(
        [name, { day: 'Monday' }, { text: 'The harbour was closed in the morning because of the …' }],
        ['close', { book: 'blue' }, refuses('ended with code 17')],
      ),
    );
    return [...(cause ? [cause] : []), ...others].find(({ rule }) => rule === 'truncated')?.score;
  };
  expect(oddly('news')).toBeLessThan(0.56);
  expect(oddly('close')).toBeGreaterThan(0.6);
});

test('a call that failed inside of one that reported success, unless it was made good', () => {
  const view = (again: boolean): SessionView => {
    const story = new Story('Do the work.');
    const outer = story.call('sync', { depots: ['wells', 'frome'] }, { done: true });
    const inside = (answer: object): void => {
      story.step({ kind: 'tool', name: 'sync_one', input: { depot: 'frome' }, parent: outer, ...answer });
    };
    inside({ status: 'failed', error: failure('Unavailable', -32001, 'gateway closed') });
    if (again) inside({ status: 'ok', output: { items: 4 } });
    story.call('count', { day: 'today' }, refuses('nothing is known of frome'));
    return story.fail();
  };
  const found = (again: boolean) => {
    const { cause, others } = why(view(again));
    return [...(cause ? [cause] : []), ...others].filter(({ rule }) => rule === 'swallowed-error');
  };
  expect(found(false)).toMatchObject([{ step: 3 }]);
  expect(found(true)).toEqual([]);
});

test('who changes a text that was read has not read something old', () => {
  const read = 'port = 80\nhost = a.test\nmode = slow\n';
  const found = (content: string) => {
    const { cause, others } = why(
      told(
        ['read_file', { path: 'app.ini' }, `# app.ini\n${read}`],
        ['write_file', { path: 'app.ini', content }, { bytes: 40 }],
        ['start', { path: 'app.ini' }, refuses('ended with code 17')],
      ),
    );
    return [...(cause ? [cause] : []), ...others].filter(({ rule }) => rule === 'stale-read');
  };
  expect(found('port = 81\nhost = a.test\nmode = slow\n')).toEqual([]);
  expect(found('one = other\nfile = here\n')).toMatchObject([{ step: 2 }]);
});

test('what gave the value is stale when the failure says that something has changed, not what came after', () => {
  const view = told(
    ['head_of', { line: 'upstream' }, 'c41f09e77b\n'],
    ['fetch_all', { from: 'trunk' }, 'updated c41f09e77b..9d03ab1275'],
    ['publish', { line: 'trunk', expects: 'c41f09e77b' }, refuses('trunk: stale base')],
  );
  expect(why(view).cause).toMatchObject({ step: 2, rule: 'stale-read' });
});
