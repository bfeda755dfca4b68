/**
 * Seeded failures: small runs with one injected cause, told in several tasks and at several distances to the symptom.
 *
 * Each shape says where the truth lies; `why` never sees it. Every shape has a healthy twin, the same run without the
 * injected cause.
 */
import type { SessionView } from '@chassis/journal';
import type { Json } from '@chassis/types';
import { failure, invalid, Story } from './build.ts';

export interface Seeded {
  readonly view: SessionView;
  /** The step that is to be named. */
  readonly truth: number;
}

export interface Shape {
  readonly cause: string;
  readonly name: string;
  /** `distance`: unrelated steps between the cause and the symptom; `seed` varies names and values. */
  readonly fail: (distance: number, seed: number) => Seeded;
  readonly healthy: (distance: number, seed: number) => SessionView;
  /** The healthy run, ended by a failure that nothing in it explains. */
  readonly unexplained: (distance: number, seed: number) => SessionView;
}

const words = ['amber', 'birch', 'cedar', 'delta', 'ember', 'fjord', 'grove', 'harbor'] as const;
export const word = (seed: number): string => words[seed % words.length] ?? 'amber';
const price = (seed: number, index: number): number => 20 + ((seed * 37 + index * 53) % 80) + 0.25;

/** Innocent work in between. */
export function pad(story: Story, distance: number, seed: number): void {
  for (let index = 0; index < distance; index++) {
    story.call(
      'lookup',
      { term: `${word(seed + index)}-${index}` },
      { term: `${word(seed + index)}-${index}`, text: `about ${word(seed + index)}` },
    );
  }
}

export const shape = (
  cause: string,
  name: string,
  tell: (story: Story, broken: boolean, distance: number, seed: number) => number,
  task = 'Do the work and report.',
): Shape => ({
  cause,
  name,
  fail(distance, seed) {
    const story = new Story(task);
    const truth = tell(story, true, distance, seed);
    return { view: story.fail(), truth };
  },
  healthy(distance, seed) {
    const story = new Story(task);
    tell(story, false, distance, seed);
    return story.ok('Done.');
  },
  unexplained(distance, seed) {
    const story = new Story(task);
    tell(story, false, distance, seed);
    story.call('finish', { mode: 'final' }, { error: failure('ToolError', 17, 'finish ended with code 17') });
    return story.fail();
  },
});

const rows = (seed: number, page: number): { id: number; amount: number }[] =>
  [0, 1, 2].map((index) => ({ id: page * 10 + index, amount: price(seed, page * 3 + index) }));

export const shapes: readonly Shape[] = [
  shape('truncation', 'a file was read in part, the rest made up', (story, broken, distance, seed) => {
    const table = `${word(seed)}_accounts`;
    const truth = story.call(
      'read_file',
      { path: 'schema.sql' },
      broken
        ? { text: 'create table people (id int);', bytes: 4096, total_bytes: 11842, truncated: true }
        : { text: `create table people (id int); create table ${table} (id int);` },
    );
    pad(story, distance, seed);
    story.call(
      'query',
      { sql: `select * from ${table}_new` },
      broken ? { error: failure('ToolError', 1, `relation "${table}_new" does not exist`) } : { rows: [1] },
    );
    return truth;
  }),
  shape('truncation', 'a listing ends in an ellipsis', (story, broken, distance, seed) => {
    const truth = story.call(
      'list_files',
      { folder: '/src' },
      { text: broken ? 'a.ts\nb.ts\nc.ts\n... 212 more' : 'a.ts\nb.ts\nc.ts' },
    );
    pad(story, distance, seed);
    story.call(
      'open',
      { path: `/src/${word(seed)}.service.ts` },
      broken
        ? { error: failure('NotFound', 1, `no such file /src/${word(seed)}.service.ts`) }
        : { text: 'x' },
    );
    return truth;
  }),
  shape('truncation', "the model's answer was cut by its output limit", (story, broken, distance, seed) => {
    story.model([{ tool: 'write_file', input: { path: 'out.json' } }], broken ? { finish: 'length' } : {});
    const truth = story.steps.length;
    story.tool(0, { output: { written: 20 } });
    pad(story, distance, seed);
    story.call(
      'validate',
      { file: 'out.json' },
      broken ? { error: failure('ToolError', 1, 'unexpected end of JSON input') } : { valid: true },
    );
    return truth;
  }),

  shape('wrong locale', 'decimal commas on one page', (story, broken, distance, seed) => {
    story.call('fetch_orders', { page: 1 }, { rows: rows(seed, 1) });
    const second: { id: number; amount: Json }[] = rows(seed, 2);
    if (broken) second[1] = { id: 21, amount: `1.${200 + seed},50` };
    const truth = story.call('fetch_orders', { page: 2 }, { rows: second });
    story.call('fetch_orders', { page: 3 }, { rows: rows(seed, 3) });
    pad(story, distance, seed);
    const amounts = [...rows(seed, 1), ...second, ...rows(seed, 3)].map(({ amount }) => amount);
    story.call(
      'average',
      { amounts },
      broken
        ? { error: invalid({ path: '/amounts/4', expected: 'number', received: 'string' }) }
        : { average: 50 },
    );
    return truth;
  }),
  shape('wrong locale', 'a date with day and month the other way round', (story, broken, distance, seed) => {
    const day = String(10 + (seed % 9));
    story.call('get_booking', { ref: 'R1-000' }, { ref: 'R1-000', date: '2026-03-01' });
    story.call('get_booking', { ref: 'R2-000' }, { ref: 'R2-000', date: '2026-03-02' });
    story.call('get_booking', { ref: 'R4-000' }, { ref: 'R4-000', date: '2026-03-09' });
    const truth = story.call(
      'get_booking',
      { ref: 'R3-000' },
      { ref: 'R3-000', date: broken ? `${day}/04/2026` : `2026-04-${day}` },
    );
    pad(story, distance, seed);
    story.call(
      'reserve',
      { date: broken ? `${day}/04/2026` : `2026-04-${day}` },
      broken ? { error: invalid({ path: '/date', expected: 'date', received: 'string' }) } : { ok: true },
    );
    return truth;
  }),

  shape('stale read', 'a file was changed after it was read', (story, broken, distance, seed) => {
    const path = `src/${word(seed)}.ts`;
    const truth = story.call('read_file', { path }, { text: 'const limit = 10;\nexport default limit;' });
    if (broken) {
      story.model([{ tool: 'format', input: { path } }]);
      story.tool(0, {
        output: { changed: 1 },
        effects: [{ kind: 'file', op: 'modify', path, before: 'a', after: 'b' }],
      });
    }
    pad(story, distance, seed);
    story.call(
      'edit_file',
      { path, old: 'const limit = 10;', new: 'const limit = 20;' },
      broken ? { error: failure('ToolError', 1, 'old text not found in the file') } : { replaced: 1 },
    );
    return truth;
  }),
  shape('stale read', 'a record came from a cache', (story, broken, distance, seed) => {
    const truth = story.call(
      'get_customer',
      { id: `C-${1000 + seed}` },
      { id: `C-${1000 + seed}`, version: 3, ...(broken ? { from_cache: true } : {}) },
    );
    pad(story, distance, seed);
    story.call(
      'update_customer',
      { id: `C-${1000 + seed}`, version: 3 },
      broken
        ? { error: failure('Conflict', -32013, 'version mismatch: the record is at version 5') }
        : { version: 4 },
    );
    return truth;
  }),

  shape('wrong tool result', 'the answer is about another id', (story, broken, distance, seed) => {
    const asked = `U-${2000 + seed}`;
    const truth = story.call(
      'get_user',
      { id: asked },
      {
        id: broken ? `U-${3000 + seed}` : asked,
        email: `${broken ? 'other' : 'right'}.${word(seed)}@example.org`,
      },
    );
    pad(story, distance, seed);
    story.call(
      'send_invite',
      { email: `${broken ? 'other' : 'right'}.${word(seed)}@example.org` },
      broken
        ? { error: failure('ToolError', 1, `other.${word(seed)}@example.org is not a member of the team`) }
        : { sent: true },
    );
    return truth;
  }),
  shape('wrong tool result', 'a result that breaks its own schema', (story, broken, distance, seed) => {
    pad(story, distance, seed);
    story.model([{ tool: 'price', input: { sku: `SKU-${4000 + seed}` } }]);
    return story.tool(
      0,
      broken
        ? {
            output: { price: -1 },
            error: failure('InvalidOutput', -32009, 'the result of price at /price: must be >= 0', {
              issues: [{ path: '/price', message: 'must be >= 0', expected: '>= 0', received: '-1' }],
            }),
          }
        : { output: { price: 10 } },
    );
  }),
  shape('wrong tool result', 'an empty result where others are full', (story, broken, distance, seed) => {
    story.call('search', { q: 'invoices' }, { hits: [{ id: 'D-100-1' }] });
    const truth = story.call(
      'search',
      { q: `contracts ${word(seed)}` },
      { hits: broken ? [] : [{ id: `D-200-${seed}` }] },
    );
    pad(story, distance, seed);
    story.call(
      'open_document',
      { id: broken ? `D-900-${seed}` : `D-200-${seed}` },
      broken ? { error: failure('NotFound', 1, 'document not found') } : { text: 'x' },
    );
    return truth;
  }),

  shape('fabricated value', 'an order id that nobody mentioned', (story, broken, distance, seed) => {
    story.call('list_orders', {}, { orders: [{ id: `A-${1000 + seed}`, state: 'open' }] });
    pad(story, distance, seed);
    story.call(
      'cancel_order',
      { id: broken ? `B-${7000 + seed}-Q` : `A-${1000 + seed}` },
      broken ? { error: failure('NotFound', 1, `no order B-${7000 + seed}-Q`) } : { cancelled: true },
    );
    return story.steps.length - 1;
  }),
  shape('fabricated value', 'a digit changed in a copied number', (story, broken, distance, seed) => {
    story.call('get_account', {}, { account: `DE4450010517540732${10 + seed}` });
    pad(story, distance, seed);
    story.call(
      'transfer',
      { account: broken ? `DE4450010517540782${10 + seed}` : `DE4450010517540732${10 + seed}`, amount: 12 },
      broken ? { error: failure('ToolError', 1, 'unknown account') } : { receipt: 'r' },
    );
    return story.steps.length - 1;
  }),

  shape(
    'loop',
    'the same question again and again until the budget ends',
    (story, broken, distance, seed) => {
      const truth = story.call(
        'check_status',
        { job: `J-${seed}00` },
        { state: broken ? 'pending' : 'done' },
      );
      const times = broken ? 4 + distance : 0;
      for (let index = 0; index < times; index++)
        story.call('check_status', { job: `J-${seed}00` }, { state: 'pending' });
      if (broken)
        story.step({
          kind: 'model',
          name: 'scripted',
          input: {},
          status: 'denied',
          causes: [story.steps.length],
          error: failure('BudgetExceeded', -32008, 'the budget of 20 steps is used up'),
        });
      return truth;
    },
  ),
  shape('loop', 'the same failing call until the run gives up', (story, broken, distance, seed) => {
    story.call('lookup', { term: word(seed) }, { text: 'ok' });
    const truth = story.steps.length + 2;
    const times = broken ? 3 + Math.min(distance, 5) : 1;
    for (let index = 0; index < times; index++)
      story.call(
        'compile',
        { target: 'all' },
        broken ? { error: failure('ToolError', 2, 'compilation failed') } : { ok: true },
      );
    return truth;
  }),

  shape('swallowed error', 'ok: false in a successful result', (story, broken, distance, seed) => {
    const truth = story.call(
      'create_folder',
      { name: `reports-${word(seed)}` },
      broken ? { ok: false, reason: 'quota' } : { ok: true },
    );
    pad(story, distance, seed);
    story.call(
      'write_file',
      { path: `reports-${word(seed)}/a.txt`, text: 'x' },
      broken ? { error: failure('ToolError', 1, `no such folder: reports-${word(seed)}`) } : { written: 1 },
    );
    return truth;
  }),
  shape('swallowed error', 'an error text as the result', (story, broken, distance, seed) => {
    const truth = story.call(
      'fetch_page',
      { url: `https://example.org/${word(seed)}` },
      { output: broken ? 'Error: upstream timed out after 30 s' : 'Opening hours: 9 to 17' },
    );
    pad(story, distance, seed);
    story.call(
      'extract_hours',
      { text: broken ? 'hours unknown' : '9 to 17' },
      broken ? { error: failure('ToolError', 1, 'no hours in the text') } : { from: 9, to: 17 },
    );
    return truth;
  }),

  shape('retry with changed payload', 'a timeout, then another amount', (story, broken, distance, seed) => {
    story.call('get_invoice', { id: `INV-${5000 + seed}` }, { id: `INV-${5000 + seed}`, amount: 120.5 });
    story.call(
      'pay_invoice',
      { invoice: `INV-${5000 + seed}`, amount: 120.5 },
      broken
        ? { status: 'timeout', error: failure('ToolTimeout', -32001, 'no answer in 10 s') }
        : { receipt: 'a' },
    );
    if (!broken) return 1;
    const truth = story.call('pay_invoice', { invoice: `INV-${5000 + seed}`, amount: 125 }, { receipt: 'b' });
    pad(story, distance, seed);
    story.call(
      'reconcile',
      { invoice: `INV-${5000 + seed}` },
      { error: failure('ToolError', 1, 'paid amounts do not match the invoice') },
    );
    return truth;
  }),
  shape('retry with changed payload', 'a busy service, then fewer rows', (story, broken, distance, seed) => {
    const all = [`k-${seed}-1`, `k-${seed}-2`, `k-${seed}-3`];
    story.call(
      'import_rows',
      { table: `t_${word(seed)}`, rows: all },
      broken ? { error: failure('Unavailable', -32004, 'service busy, try again') } : { imported: 3 },
    );
    if (!broken) return 1;
    const truth = story.call(
      'import_rows',
      { table: `t_${word(seed)}`, rows: all.slice(0, 2) },
      { imported: 2 },
    );
    pad(story, distance, seed);
    story.call(
      'check_import',
      { table: `t_${word(seed)}`, expected: 3 },
      { error: failure('ToolError', 1, 'expected 3 rows, found 2') },
    );
    return truth;
  }),

  shape('late duplicate', 'a timed-out payment took effect twice', (story, broken, distance, seed) => {
    const effects = [{ kind: 'http', method: 'POST', url: 'https://pay.example.org', status: 200 }] as const;
    story.model([{ tool: 'charge', input: { card: `card-${seed}77`, amount: 30 } }]);
    story.tool(
      0,
      broken
        ? { status: 'timeout', error: failure('ToolTimeout', -32001, 'no answer in 10 s'), effects }
        : { output: { charge: 'c1' }, effects },
    );
    if (!broken) return 1;
    story.model([{ tool: 'charge', input: { card: `card-${seed}77`, amount: 30 } }]);
    const truth = story.tool(0, { output: { charge: 'c2' }, effects });
    pad(story, distance, seed);
    story.call(
      'verify_ledger',
      { card: `card-${seed}77` },
      { error: failure('ToolError', 1, 'two charges for one order') },
    );
    return truth;
  }),
  shape('late duplicate', 'the answer of an earlier question came again', (story, broken, distance, seed) => {
    const first = { temperature: 12 + seed, wind: 'north', humidity: 40 };
    story.call('weather', { place: 'Oslo' }, first);
    const truth = story.call(
      'weather',
      { place: 'Rome' },
      broken ? first : { temperature: 25, wind: 'south', humidity: 60 },
    );
    pad(story, distance, seed);
    story.call(
      'plan',
      { place: 'Rome', temperature: broken ? 12 + seed : 25 },
      broken ? { error: failure('ToolError', 1, 'implausible temperature') } : { plan: 'x' },
    );
    return truth;
  }),

  shape(
    'missing permission',
    'the policy refused a call, the agent went on',
    (story, broken, distance, seed) => {
      const path = `secrets/${word(seed)}.env`;
      const truth = story.call(
        'read_secret',
        { path },
        broken
          ? {
              status: 'denied',
              error: failure('PermissionDenied', -32005, `reading ${path} is not permitted`),
            }
          : { value: 'tok-123456' },
      );
      pad(story, distance, seed);
      story.call(
        'deploy',
        { token: broken ? 'tok-guess-0000' : 'tok-123456' },
        broken ? { error: failure('ToolError', 1, 'invalid token') } : { ok: true },
      );
      return truth;
    },
  ),
  shape('missing permission', 'a 403 inside a successful result', (story, broken, distance, seed) => {
    const truth = story.call(
      'http_get',
      { url: `https://api.example.org/${word(seed)}` },
      broken ? { status: 403, body: 'Forbidden' } : { status: 200, body: 'plan: gold' },
    );
    pad(story, distance, seed);
    story.call(
      'set_plan',
      { plan: broken ? 'unknown' : 'gold' },
      broken ? { error: failure('ToolError', 1, 'plan does not exist') } : { ok: true },
    );
    return truth;
  }),

  shape('wrong unit', 'grams where the others are kilograms', (story, broken, distance, seed) => {
    story.call('weigh', { parcel: 'P-0001' }, { parcel: 'P-0001', weight: 2.5, unit: 'kg' });
    story.call('weigh', { parcel: 'P-0002' }, { parcel: 'P-0002', weight: 1.75, unit: 'kg' });
    const truth = story.call(
      'weigh',
      { parcel: 'P-0003' },
      broken
        ? { parcel: 'P-0003', weight: 3100 + seed, unit: 'g' }
        : { parcel: 'P-0003', weight: 3.1, unit: 'kg' },
    );
    pad(story, distance, seed);
    story.call(
      'book_freight',
      { weights: [2.5, 1.75, broken ? 3100 + seed : 3.1] },
      broken
        ? { error: failure('ToolError', 1, `weight ${3100 + seed} is over the limit of 1000`) }
        : { booked: true },
    );
    return truth;
  }),
  shape('wrong unit', 'cents passed on as euros', (story, broken, distance, seed) => {
    story.call('get_total', {}, { total_cents: 124990 + seed });
    pad(story, distance, seed);
    story.call(
      'refund',
      { total_eur: broken ? 124990 + seed : (124990 + seed) / 100 },
      broken
        ? { error: failure('ToolError', 1, `refund of ${124990 + seed} exceeds the payment`) }
        : { ok: true },
    );
    return story.steps.length - 1;
  }),

  shape('dropped page', 'page 2 was never asked for', (story, broken, distance, seed) => {
    story.call('list_items', { page: 1 }, { items: rows(seed, 1) });
    if (!broken) story.call('list_items', { page: 2 }, { items: rows(seed, 2) });
    const truth = story.call('list_items', { page: 3 }, { items: rows(seed, 3) });
    pad(story, distance, seed);
    story.call(
      'check_total',
      { ids: [10, 11, 12, 30, 31, 32] },
      broken ? { error: failure('ToolError', 1, 'the sum does not match the ledger') } : { ok: true },
    );
    return truth;
  }),
  shape('dropped page', 'more was announced and not fetched', (story, broken, distance, seed) => {
    story.call(
      'list_users',
      { limit: 3 },
      { users: ['u-one-1', 'u-two-2', 'u-six-6'], next_cursor: 'c-0002' },
    );
    const truth = story.call(
      'list_users',
      { limit: 3, cursor: 'c-0002' },
      { users: ['u-ten-10', 'u-elf-11', 'u-zwo-12'], next_cursor: broken ? 'c-0003' : null },
    );
    pad(story, distance, seed);
    story.call(
      'notify',
      { user: broken ? `u-ann-${seed}99` : 'u-ten-10' },
      broken ? { error: failure('NotFound', 1, 'user not found') } : { ok: true },
    );
    return truth;
  }),
];
