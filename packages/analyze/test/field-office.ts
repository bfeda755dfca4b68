/** Failures in data work and in the office: rows left out, wrong threads and rows, things not waited for. */
import { type Field, fails } from './field.ts';

export const office: readonly Field[] = [
  {
    name: 'pandas drops NaN rows',
    task: 'Compute the mean age of all 1,204 members.',
    calls: [
      ['load', { file: 'members.csv' }, { rows: 1204, columns: ['id', 'age'], nulls: { age: 311 } }],
      ['describe', { column: 'age' }, { count: 893, mean: 41.2, std: 12.1 }, 'result'],
      [
        'submit',
        { metric: 'mean_age', value: 41.2, n: 1204 },
        fails('n is 1204, the mean was taken over 893 rows'),
      ],
    ],
  },
  {
    name: 'ticket search by wrong customer',
    task: 'Answer the open ticket of Nordwind GmbH.',
    calls: [
      [
        'crm_search',
        { q: 'Nordwind' },
        {
          accounts: [
            { id: 'ACC-17', name: 'Nordwind AG' },
            { id: 'ACC-71', name: 'Nordwind GmbH' },
          ],
        },
      ],
      ['list_tickets', { account: 'ACC-17' }, { tickets: [{ id: 'T-5', subject: 'Invoice copy' }] }, 'call'],
      ['reply', { ticket: 'T-5', text: 'Please find attached…' }, { sent: true }],
      ['close_ticket', { ticket: 'T-5', account: 'ACC-71' }, fails('T-5 belongs to ACC-17, not to ACC-71')],
    ],
  },
  {
    name: 'thermostat fahrenheit',
    task: 'Set the office to 21 degrees.',
    calls: [
      ['get_thermostat', { room: 'office' }, { room: 'office', target: 68, unit: 'F' }],
      ['set_thermostat', { room: 'office', target: 21 }, { room: 'office', target: 21, unit: 'F' }, 'call'],
      ['wait_until', { room: 'office', at_least: 20 }, fails('office is at 9 and falling')],
    ],
  },
  {
    name: 'cut email body',
    task: 'Forward the full offer of Lehmann to the purchasing list.',
    calls: [
      [
        'mail_get',
        { id: 'm1' },
        {
          from: 'lehmann@x.example',
          body: 'Dear Sirs, our offer: item A 12 EUR, item B 9 EUR, ite',
          body_bytes: 54,
          total_bytes: 2210,
        },
        'result',
      ],
      [
        'mail_send',
        { to: 'purchasing@corp.example', body: 'Dear Sirs, our offer: item A 12 EUR, item B 9 EUR, ite' },
        { id: 'm2' },
      ],
      ['check_offer', { mail: 'm2', items: 14 }, fails('offer has 2 items, 14 expected')],
    ],
  },
  {
    name: 'stale calendar',
    task: 'Move the sync to a slot free for all.',
    calls: [
      [
        'free_slots',
        { who: ['ana', 'ben'], day: '2026-03-03' },
        { slots: ['10:00', '14:00'], as_of: '2026-03-01T08:00:00Z' },
        'result',
      ],
      [
        'list_events',
        { who: 'ben', day: '2026-03-03' },
        { events: [{ at: '10:00', title: 'Dentist', created: '2026-03-02T09:00:00Z' }] },
      ],
      ['move_event', { id: 'sync', to: '10:00' }, fails('ben is busy at 10:00')],
    ],
  },
  {
    name: 'wrong currency rate date',
    task: 'Convert the May invoices with the rate of their day.',
    calls: [
      [
        'get_rate',
        { pair: 'USDEUR', date: '2026-05-04' },
        { pair: 'USDEUR', rate: 0.91, date: '2026-01-31', note: 'nearest available' },
        'result',
      ],
      ['convert', { amount: 1000, rate: 0.91 }, { amount: 910 }],
      ['book', { invoice: 'I-1', amount: 910 }, fails('I-1: expected 884.00 at the rate of 2026-05-04')],
    ],
  },
  {
    name: 'retried with another customer',
    task: 'Create the shipment for order 55.',
    calls: [
      [
        'get_order',
        { id: 55 },
        { id: 55, customer: 'C-8', address: 'Hauptstr. 4, 20095 Hamburg', weight_kg: 3 },
      ],
      [
        'create_shipment',
        { order: 55, customer: 'C-8', address: 'Hauptstr. 4, 20095 Hamburg', weight_kg: 3 },
        fails('carrier API: 504 gateway timeout', 'Unavailable', -32004),
      ],
      [
        'create_shipment',
        { order: 55, customer: 'C-8', address: 'Hauptstr. 4, 20095 Hamburg', weight_kg: 30 },
        { shipment: 'SH-1', price: 41.5 },
        'call',
      ],
      ['pay_label', { shipment: 'SH-1', max: 15 }, fails('label of SH-1 costs 41.50, more than 15.00')],
    ],
  },
  {
    name: 'loop asks the same person',
    task: 'Get the approval of Kim and publish.',
    calls: [
      ['ask', { who: 'kim', text: 'Approve?' }, { reply: 'out of office until Monday' }, 'result'],
      ['ask', { who: 'kim', text: 'Approve?' }, { reply: 'out of office until Monday' }],
      ['ask', { who: 'kim', text: 'Approve?' }, { reply: 'out of office until Monday' }],
      ['publish', { doc: 'd1' }, fails('d1 has no approval')],
    ],
  },
  {
    name: 'permission filtered rows',
    task: 'Count all salaries above 100k.',
    calls: [
      [
        'sql',
        { q: 'select count(*) from salaries where amount > 100000' },
        { rows: [[0]], notice: 'row-level security applied: 412 rows hidden' },
        'result',
      ],
      ['write_report', { metric: 'above_100k', value: 0 }, { ok: true }],
      ['validate_report', {}, fails('above_100k is 0, payroll says 37')],
    ],
  },
  {
    name: 'index off by one',
    task: 'Delete the third row of the sheet.',
    calls: [
      ['read_sheet', { range: 'A1:A4' }, { values: [['name'], ['Ada'], ['Bob'], ['Cy']] }],
      ['delete_row', { sheet: 'S', index: 3 }, { deleted: ['Cy'] }, 'call'],
      ['assert_absent', { sheet: 'S', name: 'Bob' }, fails('Bob is still in the sheet')],
    ],
  },
  {
    name: 'bad join duplicates',
    task: 'Sum revenue per region.',
    calls: [
      [
        'sql',
        { q: 'select r.name, sum(o.total) from orders o join regions r on true group by 1' },
        {
          rows: [
            ['North', 9000],
            ['South', 9000],
            ['West', 9000],
          ],
        },
        'result',
      ],
      ['chart', { values: [9000, 9000, 9000] }, { url: 'c1' }],
      ['check_total', { sum: 27000 }, fails('revenue is 9000, the regions add up to 27000')],
    ],
  },
  {
    name: 'ocr misread',
    task: 'Pay the scanned bill.',
    calls: [
      ['ocr', { file: 'bill.png' }, { text: 'Total due: 1O8.50 EUR', confidence: 0.41 }, 'result'],
      ['pay', { amount: 18.5, currency: 'EUR', ref: 'bill' }, { id: 'P1' }],
      ['reconcile', { ref: 'bill' }, fails('bill is underpaid by 90.00 EUR')],
    ],
  },
  {
    name: 'webhook secret from wrong env',
    task: 'Verify the signature with the production key.',
    calls: [
      ['get_secret', { name: 'WEBHOOK_KEY', stage: 'test' }, { name: 'WEBHOOK_KEY', version: 3 }, 'call'],
      [
        'verify',
        { key_version: 3, payload: 'p1' },
        fails('signature mismatch: signed with production key version 9'),
      ],
    ],
  },
  {
    name: 'api default sort oldest first',
    task: 'Reply to the newest review.',
    calls: [
      [
        'list_reviews',
        { limit: 1 },
        { reviews: [{ id: 'rv1', created: '2021-02-01', text: 'ok' }], total: 88, sort: 'created:asc' },
        'result',
      ],
      ['reply_review', { id: 'rv1', text: 'Thanks!' }, fails('rv1 is closed for replies since 2022')],
    ],
  },
  {
    name: 'model invents file path',
    task: 'Open the log of the payment job and report the error.',
    calls: [
      ['list_jobs', {}, { jobs: [{ name: 'payment', log_dir: '/var/log/jobs/payment' }] }],
      ['ls', { path: '/var/log/jobs/payment' }, { files: ['2026-02-28.log', '2026-03-01.log'] }],
      [
        'cat',
        { path: '/var/log/jobs/payment/2026-03-02.log' },
        fails('No such file: /var/log/jobs/payment/2026-03-02.log'),
        'call',
      ],
    ],
  },
  {
    name: 'async job not awaited',
    task: 'Export the table and load it into the lake.',
    calls: [
      ['start_export', { table: 'events' }, { job: 'ex-1', state: 'running' }],
      [
        'get_export',
        { job: 'ex-1' },
        { job: 'ex-1', state: 'running', progress: 0.4, files: ['part-0'] },
        'result',
      ],
      ['load', { files: ['part-0'], table: 'events' }, { rows: 400000 }],
      [
        'compare',
        { source: 'events', target: 'lake.events' },
        fails('lake.events has 400000 rows, events has 1000000'),
      ],
    ],
  },
  {
    name: 'double charge',
    task: 'Charge the three open invoices.',
    calls: [
      ['open_invoices', {}, { invoices: ['I1', 'I2', 'I3'] }],
      ['charge', { invoice: 'I1' }, { ok: true, charge: 'ch1' }],
      ['charge', { invoice: 'I2' }, { ok: true, charge: 'ch2' }],
      ['charge', { invoice: 'I1' }, { ok: true, charge: 'ch3' }, 'result'],
      ['charge', { invoice: 'I3' }, { ok: true, charge: 'ch4' }],
      ['settle', {}, fails('I1 was charged twice')],
    ],
  },
  {
    name: 'base64 not decoded',
    task: 'Install the certificate.',
    calls: [
      ['vault_read', { path: 'tls/web' }, { data: { cert: 'LS0tLS1CRUdJTi==', encoding: 'base64' } }],
      ['write_file', { path: '/etc/tls/web.pem', content: 'LS0tLS1CRUdJTi==' }, { bytes: 16 }, 'call'],
      ['reload', { service: 'nginx' }, fails('PEM routines: no start line in /etc/tls/web.pem')],
    ],
  },
  {
    name: 'empty string name',
    task: 'Register the device by its serial.',
    calls: [
      ['read_label', { image: 'l.png' }, { serial: '', model: 'X2' }, 'result'],
      ['register', { serial: '', model: 'X2' }, fails('serial must not be empty')],
    ],
  },
  {
    name: 'config for other version',
    task: 'Upgrade the chart to 5 and set the new keys.',
    calls: [
      [
        'helm_show_values',
        { chart: 'redis', version: '4.8.0' },
        { version: '4.8.0', keys: ['cluster.enabled', 'password'] },
        'call',
      ],
      [
        'helm_upgrade',
        { chart: 'redis', version: '5.0.1', set: { 'cluster.enabled': true } },
        fails('values: unknown key cluster.enabled in redis 5.0.1'),
      ],
    ],
  },
  {
    name: 'hidden by default filter',
    task: 'List all users and deactivate leavers.',
    calls: [
      ['hr_leavers', {}, { leavers: ['eva', 'tom'] }],
      ['list_users', { status: 'active' }, { users: ['ana', 'eva'], filter: 'status=active', count: 2 }],
      ['deactivate', { user: 'eva' }, { ok: true }],
      ['deactivate', { user: 'thomas' }, fails('no user thomas'), 'call'],
    ],
  },
  {
    name: 'tool returns yesterday',
    task: 'Report the stock of today.',
    calls: [
      ['stock', { sku: 'A1', day: '2026-03-02' }, { sku: 'A1', day: '2026-03-01', qty: 40 }, 'result'],
      ['stock', { sku: 'A2', day: '2026-03-02' }, { sku: 'A2', day: '2026-03-02', qty: 7 }],
      ['report', { A1: 40, A2: 7 }, fails('A1: 40 reported, 12 counted')],
    ],
  },
  {
    name: 'silent partial update',
    task: 'Set the price of all 3 variants to 19.',
    calls: [
      ['update_variants', { ids: ['v1', 'v2', 'v3'], price: 19 }, { updated: ['v1', 'v3'] }, 'result'],
      ['publish', { product: 'p' }, { ok: true }],
      ['crawl_check', { product: 'p', price: 19 }, fails('v2 is shown with 24')],
    ],
  },
  {
    name: 'wrong thread',
    task: 'Answer in the thread of the incident.',
    calls: [
      [
        'search_messages',
        { q: 'incident' },
        {
          messages: [
            { ts: '170.1', channel: 'C1', text: 'incident drill' },
            { ts: '171.9', channel: 'C2', text: 'incident: checkout down' },
          ],
        },
      ],
      ['post', { channel: 'C1', thread_ts: '170.1', text: 'We are on it' }, { ok: true }, 'call'],
      ['resolve_incident', { channel: 'C2' }, fails('no answer in the thread of the incident')],
    ],
  },
];
