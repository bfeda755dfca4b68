/** The twelve kinds of faults with other work between them and what they led to. */

import { type Field, fails } from './field.ts';
import type { Called } from './told.ts';

let made = 0;

/** Calls that have nothing to do with the task. */
function other(count: number): Called[] {
  return Array.from({ length: count }, (_, index) => {
    made++;
    const city = ['Kiel', 'Bonn', 'Ulm'][made % 3] ?? '';
    const calls: readonly Called[] = [
      [
        'list_channels',
        { team: `t${made}` },
        { channels: ['general', 'ops'].map((name, n) => ({ id: `CH${made}${n}`, name })) },
      ],
      ['get_weather', { city }, { city, celsius: 7 + (made % 9), wind: 'NW' }],
      ['lint', { path: `src/f${made}.ts` }, { problems: 0 }],
      [
        'search_docs',
        { q: `topic ${made}` },
        { hits: made % 2 ? [] : [{ title: 'Guide', url: 'https://docs.example/g' }] },
      ],
    ];
    return calls[index % 4] as Called;
  });
}

export const farApart: readonly Field[] = [
  {
    name: 'trunc: columns cut at 32k cell',
    task: 'Copy the description of product P-88 to the shop.',
    calls: [
      ...other(3),
      [
        'sheet_read',
        { range: 'D88' },
        {
          value:
            'Sturdy oak table, hand made in the Black Forest, with a drawer on each side and a leaf that exten',
          cell_limit: 96,
        },
        'result',
      ],
      ...other(4),
      [
        'shop_update',
        {
          sku: 'P-88',
          description:
            'Sturdy oak table, hand made in the Black Forest, with a drawer on each side and a leaf that exten',
        },
        { ok: true },
      ],
      ['seo_check', { sku: 'P-88' }, fails('P-88: description ends in the middle of a word')],
    ],
  },
  {
    name: 'trunc: stdout capped',
    task: 'Count the TODO marks in the repo and file them.',
    calls: [
      ...other(2),
      [
        'bash',
        { cmd: 'grep -rn TODO src | head -c 4000' },
        {
          exit_code: 0,
          stdout: 'src/a.ts:3:// TODO one\nsrc/b.ts:9:// TODO two\n[output limited to 4000 bytes]',
        },
        'result',
      ],
      ...other(5),
      ['create_ticket', { title: 'TODO marks', count: 2 }, { id: 'TK-1' }],
      ['verify_ticket', { id: 'TK-1' }, fails('TK-1 lists 2 TODO marks, the repo has 61')],
    ],
  },
  {
    name: 'locale: dates',
    task: 'Renew the contracts that end in March.',
    calls: [
      ...other(3),
      [
        'crm_contracts',
        { ending: '2026-03' },
        {
          contracts: [
            { id: 'K1', ends: '03/04/2026' },
            { id: 'K2', ends: '2026-03-18' },
            { id: 'K3', ends: '2026-03-29' },
          ],
        },
        'result',
      ],
      ...other(3),
      [
        'renew',
        { contract: 'K1', from: '2026-03-04' },
        fails('K1 ends on 2026-04-03, renewal from 2026-03-04 overlaps'),
      ],
    ],
  },
  {
    name: 'locale: thousands',
    task: 'Set the budget of campaign B to the approved sum.',
    calls: [
      ...other(4),
      [
        'approval',
        { campaign: 'B' },
        { campaign: 'B', approved: '12.500', currency: 'EUR', by: 'cfo' },
        'result',
      ],
      ...other(2),
      ['set_budget', { campaign: 'B', amount: 12.5 }, { ok: true }, 'call'],
      ...other(2),
      ['check_budget', { campaign: 'B' }, fails('campaign B: budget 12.50 is below the minimum of 100.00')],
    ],
  },
  {
    name: 'stale: inventory read before sale',
    task: 'Reserve 4 of item Q for order 9.',
    calls: [
      ['inventory', { item: 'Q' }, { item: 'Q', free: 5 }, 'result'],
      ...other(4),
      ['sell', { item: 'Q', qty: 3 }, { ok: true, sale: 's1' }],
      ...other(2),
      ['reserve', { item: 'Q', qty: 4, order: 9 }, fails('only 2 of Q are free')],
    ],
  },
  {
    name: 'stale: file edited by formatter',
    task: 'Change the retry count in client.ts.',
    calls: [
      ['read_file', { path: 'client.ts' }, { content: 'const retries=3' }, 'result'],
      ...other(2),
      ['bash', { cmd: 'npx prettier --write client.ts' }, { exit_code: 0, stdout: 'client.ts 40ms' }],
      ...other(3),
      [
        'replace',
        { path: 'client.ts', old: 'const retries=3', new: 'const retries=5' },
        fails('client.ts: text to replace was not found'),
      ],
    ],
  },
  {
    name: 'wrong result: geocoder',
    task: 'Plan the tour to Frankfurt (Oder).',
    calls: [
      ['geocode', { q: 'Frankfurt (Oder)' }, { name: 'Frankfurt am Main', lat: 50.11, lon: 8.68 }, 'result'],
      ...other(5),
      ['route', { from: 'Berlin', lat: 50.11, lon: 8.68 }, { km: 552 }],
      ['check_tour', { max_km: 120 }, fails('tour is 552 km long, 120 planned')],
    ],
  },
  {
    name: 'wrong result: sum',
    task: 'Report the hours of the team.',
    calls: [
      [
        'timesheet',
        { team: 'A' },
        {
          rows: [
            { who: 'ana', h: 30 },
            { who: 'ben', h: 25 },
            { who: 'cy', h: 20 },
          ],
          total: 57,
        },
        'result',
      ],
      ...other(3),
      ['report_hours', { team: 'A', hours: 57 }, fails('team A: 57 hours reported, 75 booked')],
    ],
  },
  {
    name: 'fabricated: ticket key',
    task: 'Link the commit to the ticket about the login loop.',
    calls: [
      ['search_tickets', { q: 'login loop' }, { tickets: [{ key: 'APP-1182', title: 'Login loop on iOS' }] }],
      ...other(6),
      ['link', { commit: 'ab12cd', ticket: 'APP-1128' }, fails('APP-1128 is a closed epic'), 'call'],
    ],
  },
  {
    name: 'fabricated: phone',
    task: 'Call the supplier back.',
    calls: [
      ['contacts', { q: 'Brandt' }, { contacts: [{ name: 'Brandt KG', mail: 'info@brandt.example' }] }],
      ...other(3),
      ['sms_send', { to: '+49 40 5551234', text: 'Please call' }, { id: 'sm1' }, 'call'],
      ...other(3),
      ['sms_status', { id: 'sm1' }, fails('sm1: +49 40 5551234 is not assigned')],
    ],
  },
  {
    name: 'loop: same query',
    task: 'Find the owner of host db7.',
    calls: [
      ...other(2),
      ['cmdb', { host: 'db7' }, { owner: null }, 'result'],
      ['cmdb', { host: 'db7' }, { owner: null }],
      ['cmdb', { host: 'db7' }, { owner: null }],
      ['cmdb', { host: 'db7' }, { owner: null }],
      ['assign_ticket', { host: 'db7' }, fails('limits.steps is reached', 'BudgetExceeded', -32008)],
    ],
  },
  {
    name: 'loop: test fix test',
    task: 'Make test t1 pass.',
    calls: [
      ['test', { name: 't1' }, { passed: false, message: 'expected 2, got 1' }],
      ['edit', { file: 'a.ts', line: 3, text: 'return 2' }, { ok: true }],
      ['test', { name: 't1' }, { passed: false, message: 'expected 2, got 1' }, 'result'],
      ['edit', { file: 'a.ts', line: 3, text: 'return 2' }, { ok: true }, 'result'],
      ['test', { name: 't1' }, { passed: false, message: 'expected 2, got 1' }],
      ['edit', { file: 'a.ts', line: 3, text: 'return 2' }, { ok: true }],
      ['test', { name: 't1' }, fails('limits.steps is reached', 'BudgetExceeded', -32008)],
    ],
  },
  {
    name: 'swallowed: partial deploy',
    task: 'Deploy api to all nodes.',
    calls: [
      [
        'deploy_nodes',
        { app: 'api', version: '3.2' },
        { done: true, nodes: { n1: 'ok', n2: 'ok', n3: 'error: disk full' } },
        'result',
      ],
      ...other(4),
      ['switch_traffic', { app: 'api', version: '3.2' }, fails('n3 runs api 3.1')],
    ],
  },
  {
    name: 'swallowed: mail bounced',
    task: 'Send the invite and start the webinar.',
    calls: [
      [
        'send_invites',
        { list: 'beta' },
        { accepted: 40, response: '250 queued; 3 recipients deferred: 452 4.2.2 mailbox full' },
        'result',
      ],
      ...other(3),
      ['start_webinar', { list: 'beta' }, fails('3 of 43 invited have no invitation')],
    ],
  },
  {
    name: 'retry: other account',
    task: 'Transfer 250 to supplier X.',
    calls: [
      ['payee', { name: 'X' }, { name: 'X', iban: 'DE021' }],
      ['transfer', { iban: 'DE021', amount: 250, ref: 'R1' }, fails('bank API 502', 'Unavailable', -32004)],
      ...other(3),
      ['transfer', { iban: 'DE012', amount: 250, ref: 'R1' }, { id: 'TX1' }, 'call'],
      ...other(2),
      ['confirm', { id: 'TX1' }, fails('TX1 went to DE012, the payee X has DE021')],
    ],
  },
  {
    name: 'retry: flag dropped',
    task: 'Import the users as a dry run first.',
    calls: [
      ['import_users', { file: 'u.csv', dry_run: true }, fails('timeout', 'ToolTimeout', -32001)],
      ...other(2),
      ['import_users', { file: 'u.csv' }, { imported: 312 }, 'call'],
      ...other(3),
      ['audit_users', {}, fails('312 users were created without approval')],
    ],
  },
  {
    name: 'dup: message sent twice after late ack',
    task: 'Tell the customer that the parcel left.',
    calls: [
      ['send_sms', { to: 'c9', text: 'Your parcel left' }, fails('no answer in time', 'ToolTimeout', -32001)],
      ...other(2),
      ['send_sms', { to: 'c9', text: 'Your parcel left' }, { id: 'm2' }, 'result'],
      ['inbox', { of: 'c9' }, { messages: ['Your parcel left', 'Your parcel left'] }],
      ...other(2),
      ['rate', { of: 'c9' }, fails('customer c9 was messaged twice')],
    ],
  },
  {
    name: 'dup: old event arrives',
    task: 'Keep the stock in sync.',
    calls: [
      ['events', { after: 10 }, { events: [{ seq: 11, sku: 'Z', qty: 8 }] }],
      ['set_stock', { sku: 'Z', qty: 8 }, { ok: true }],
      ...other(2),
      ['events', { after: 11 }, { events: [{ seq: 9, sku: 'Z', qty: 3 }] }, 'result'],
      ['set_stock', { sku: 'Z', qty: 3 }, { ok: true }],
      ...other(2),
      ['audit_stock', { sku: 'Z' }, fails('Z: 3 in stock, the newest event says 8')],
    ],
  },
  {
    name: 'perm: partial repo listing',
    task: 'Archive all repos of the team.',
    calls: [
      ['list_repos', { team: 'core' }, { repos: ['a', 'b'], hidden: 2, reason: 'no access' }, 'result'],
      ...other(4),
      ['archive', { repo: 'a' }, { ok: true }],
      ['archive', { repo: 'b' }, { ok: true }],
      ['close_team', { team: 'core' }, fails('core still has 2 repos')],
    ],
  },
  {
    name: 'perm: token scope',
    task: 'Publish the package.',
    calls: [
      ['whoami', {}, { user: 'bot', scopes: ['read:packages'] }, 'result'],
      ...other(4),
      ['build', { pkg: 'x' }, { tarball: 'x.tgz' }],
      ['publish', { tarball: 'x.tgz' }, fails('403: write:packages is needed')],
    ],
  },
  {
    name: 'unit: seconds ms',
    task: 'Let the job time out after 90 seconds.',
    calls: [
      ['get_job', { name: 'sync' }, { name: 'sync', timeout_ms: 60000 }],
      ...other(3),
      ['set_job', { name: 'sync', timeout_ms: 90 }, { ok: true }, 'call'],
      ...other(2),
      ['run_job', { name: 'sync' }, fails('sync was cancelled after 90 ms')],
    ],
  },
  {
    name: 'unit: cents',
    task: 'Refund 20 euros to order 3.',
    calls: [
      ['order', { id: 3 }, { id: 3, total_cents: 5400 }],
      ...other(3),
      ['refund', { order: 3, amount_cents: 20 }, { refund: 'r1' }, 'call'],
      ...other(2),
      ['check_refund', { order: 3 }, fails('refund r1 is 0.20 EUR, 20.00 EUR was agreed')],
    ],
  },
  {
    name: 'page: offset skipped',
    task: 'Tag all 250 assets.',
    calls: [
      ['assets', { offset: 0, limit: 100 }, { assets: [{ id: 1 }], total: 250 }],
      ['assets', { offset: 200, limit: 100 }, { assets: [{ id: 201 }], total: 250 }, 'result'],
      ...other(3),
      ['tag_assets', { ids: [1, 201] }, { ok: true }],
      ['verify_tags', {}, fails('assets 101 to 200 have no tag')],
    ],
  },
  {
    name: 'page: link header',
    task: 'List the stars of the repo.',
    calls: [
      [
        'http',
        { url: 'https://api.example/stars' },
        {
          status: 200,
          headers: { link: '<https://api.example/stars?page=2>; rel="next"' },
          body: [{ user: 'a' }, { user: 'b' }],
        },
        'result',
      ],
      ...other(4),
      ['report_stars', { count: 2 }, fails('2 stars reported, the repo has 59')],
    ],
  },
];
