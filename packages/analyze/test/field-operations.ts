/** Failures of agents that build, deploy and move money: one call that went wrong, what came after it, and how it showed. */
import { type Field, fails } from './field.ts';

export const operations: readonly Field[] = [
  {
    name: 'kubectl logs tail misses the first error',
    task: 'Find out why checkout pods crash and roll back the right revision.',
    calls: [
      [
        'kubectl_get',
        { kind: 'pods', ns: 'shop' },
        {
          items: [
            { name: 'checkout-7d9f-abc12', status: 'CrashLoopBackOff', restarts: 14 },
            { name: 'cart-55c-x1', status: 'Running', restarts: 0 },
          ],
        },
      ],
      [
        'kubectl_logs',
        { pod: 'checkout-7d9f-abc12', tail: 20 },
        {
          lines: ['retrying connection', 'retrying connection', 'giving up'],
          note: 'showing last 20 of 4312 lines',
        },
        'result',
      ],
      [
        'helm_history',
        { release: 'checkout' },
        {
          revisions: [
            { revision: 41, chart: 'checkout-2.3.0', status: 'superseded' },
            { revision: 42, chart: 'checkout-2.3.1', status: 'deployed' },
          ],
        },
      ],
      ['helm_rollback', { release: 'checkout', revision: 41 }, { ok: true, revision: 43 }],
      [
        'verify_rollout',
        { release: 'checkout' },
        fails('rollout still failing: secret "payments-db" not found (first logged at line 3)'),
      ],
    ],
  },
  {
    name: 'csv with semicolon decimals',
    task: 'Import the invoice lines and post the total.',
    calls: [
      [
        'read_csv',
        { path: 'invoices.csv' },
        {
          columns: ['id', 'net'],
          rows: [
            ['R1', '1.299,00'],
            ['R2', '89,50'],
            ['R3', '12,00'],
          ],
          delimiter: ';',
        },
      ],
      ['parse_numbers', { column: 'net', locale: 'en_US' }, { values: [1.299, 8950, 1200] }, 'result'],
      ['sum', { values: [1.299, 8950, 1200] }, { total: 10151.299 }],
      [
        'post_total',
        { total: 10151.299, batch: 'B-77' },
        fails('batch B-77 control total is 1400.50, got 10151.299'),
      ],
    ],
  },
  {
    name: 'state changed between plan and apply',
    task: 'Resize the database to db.r6g.xlarge.',
    calls: [
      [
        'terraform_plan',
        { dir: 'prod' },
        {
          serial: 118,
          changes: [
            { address: 'aws_db_instance.main', action: 'update', from: 'db.r6g.large', to: 'db.r6g.xlarge' },
          ],
          plan_file: 'plan-118.bin',
        },
        'result',
      ],
      ['slack_post', { channel: '#ops', text: 'Resizing the DB in ten minutes' }, { ok: true, ts: '1733' }],
      ['terraform_state_list', { dir: 'prod' }, { serial: 119, resources: 44 }],
      [
        'terraform_apply',
        { plan: 'plan-118.bin' },
        fails('Error: Saved plan is stale: the state serial is 119, the plan was made for 118'),
      ],
    ],
  },
  {
    name: 'lookup answers for another host',
    task: 'Whitelist the IP of api.partner.example in the firewall and test.',
    calls: [
      ['dns_lookup', { host: 'mail.partner.example' }, { host: 'mail.partner.example', a: ['203.0.113.9'] }],
      [
        'dns_lookup',
        { host: 'api.partner.example' },
        { host: 'app.partner.example', a: ['203.0.113.77'] },
        'result',
      ],
      ['firewall_allow', { ip: '203.0.113.77', port: 443 }, { rule: 'fw-8812', state: 'active' }],
      [
        'curl',
        { url: 'https://api.partner.example/health' },
        fails('connect timed out: 203.0.113.70:443 blocked by policy default-deny'),
      ],
    ],
  },
  {
    name: 'sha made up',
    task: 'Cherry-pick the fix for #4512 to release-2.4.',
    calls: [
      [
        'git_log',
        { grep: '4512' },
        {
          commits: [
            { sha: '9f3c2ab', subject: 'Fix race in poller (#4512)' },
            { sha: '77ab01d', subject: 'Tests for #4512' },
          ],
        },
      ],
      ['git_checkout', { branch: 'release-2.4' }, { branch: 'release-2.4', head: '1122aab' }],
      ['git_cherry_pick', { sha: '9f3c2ab4e1' }, fails("fatal: bad revision '9f3c2ab4e1'"), 'call'],
    ],
  },
  {
    name: 'polling a build that is stuck',
    task: 'Wait for build 881 and deploy it.',
    calls: [
      ['ci_status', { build: 881 }, { build: 881, state: 'queued', position: 4 }, 'result'],
      ['ci_status', { build: 881 }, { build: 881, state: 'queued', position: 4 }],
      ['ci_status', { build: 881 }, { build: 881, state: 'queued', position: 4 }],
      ['ci_status', { build: 881 }, { build: 881, state: 'queued', position: 4 }],
      ['ci_status', { build: 881 }, fails('limits.steps is reached: 10 of 10', 'BudgetExceeded', -32008)],
    ],
  },
  {
    name: 'migration logs an error yet exits 0',
    task: 'Migrate and start the service.',
    calls: [
      ['run', { cmd: 'npm ci' }, { exit_code: 0, stdout: 'added 812 packages' }],
      [
        'run',
        { cmd: 'npm run migrate' },
        {
          exit_code: 0,
          stdout:
            'Running 004_add_index… ERROR: relation "orders" does not exist\nskipped 004_add_index\ndone in 1.2s',
        },
        'result',
      ],
      ['run', { cmd: 'npm run lint' }, { exit_code: 0, stdout: 'no problems' }],
      ['start_service', { name: 'orders' }, fails('healthcheck failed: index idx_orders_created is missing')],
    ],
  },
  {
    name: 'retry drops the idempotency and changes amount',
    task: 'Refund 49.90 EUR for order 7781.',
    calls: [
      ['get_order', { id: 7781 }, { id: 7781, total: 49.9, currency: 'EUR', status: 'paid' }],
      [
        'refund',
        { order: 7781, amount: 49.9, currency: 'EUR', key: 'rf-7781' },
        fails('503 upstream unavailable', 'Unavailable', -32004),
      ],
      [
        'refund',
        { order: 7781, amount: 4990, currency: 'EUR', key: 'rf-7781' },
        { status: 'pending', id: 'RF-1' },
        'call',
      ],
      ['notify', { order: 7781, text: 'Your refund is on its way' }, { sent: true }],
      ['close_case', { order: 7781 }, fails('refund RF-1 was rejected: amount exceeds the order total')],
    ],
  },
  {
    name: 'webhook delivered twice',
    task: 'Book the incoming payments.',
    calls: [
      [
        'poll_events',
        { since: 0 },
        { events: [{ id: 'evt_91', type: 'payment', ref: 'INV-9', amount: 120 }] },
      ],
      ['book_payment', { ref: 'INV-9', amount: 120, event: 'evt_91' }, { booking: 'BK-1' }],
      [
        'poll_events',
        { since: 1 },
        {
          events: [
            { id: 'evt_91', type: 'payment', ref: 'INV-9', amount: 120, redelivered: true },
            { id: 'evt_92', type: 'payment', ref: 'INV-10', amount: 80 },
          ],
        },
        'result',
      ],
      ['book_payment', { ref: 'INV-9', amount: 120, event: 'evt_91' }, { booking: 'BK-2' }, 'result'],
      ['book_payment', { ref: 'INV-10', amount: 80, event: 'evt_92' }, { booking: 'BK-3' }],
      ['close_day', { date: '2026-03-01' }, fails('INV-9 is overpaid by 120.00')],
    ],
  },
  {
    name: 's3 list denied silently empty',
    task: 'Restore the latest backup.',
    calls: [
      [
        's3_list',
        { bucket: 'backups-prod', prefix: 'db/' },
        { objects: [], warning: 'AccessDenied for 12 keys; they were left out' },
        'result',
      ],
      [
        's3_list',
        { bucket: 'backups-archive', prefix: 'db/' },
        { objects: [{ key: 'db/2024-01-01.dump', size: 881 }] },
      ],
      [
        'restore',
        { key: 'db/2024-01-01.dump' },
        fails('dump is of schema version 12, the database needs 31'),
      ],
    ],
  },
  {
    name: 'memory limit in MiB vs bytes',
    task: 'Give the worker 512 MiB and restart.',
    calls: [
      ['get_limits', { service: 'worker' }, { service: 'worker', memory_bytes: 268435456, cpu: 0.5 }],
      [
        'set_limits',
        { service: 'worker', memory_bytes: 512 },
        { service: 'worker', memory_bytes: 512, applied: true },
        'call',
      ],
      ['restart', { service: 'worker' }, { restarted: true }],
      ['wait_healthy', { service: 'worker' }, fails('worker was OOMKilled on start: limit 512B')],
    ],
  },
  {
    name: 'second page of users not read',
    task: 'Disable all accounts that have not logged in since 2024.',
    calls: [
      [
        'list_users',
        { limit: 3 },
        {
          users: [
            { id: 'u1', last: '2023-02-01' },
            { id: 'u2', last: '2025-01-01' },
            { id: 'u3', last: '2022-08-09' },
          ],
          next_cursor: 'c_3',
          total: 5,
        },
        'result',
      ],
      ['disable_user', { id: 'u1' }, { ok: true }],
      ['disable_user', { id: 'u3' }, { ok: true }],
      ['audit', { rule: 'inactive-2024' }, fails('2 inactive accounts are still enabled: u4, u5')],
    ],
  },
  {
    name: 'deploy used staging config',
    task: 'Deploy web to production with the production config.',
    calls: [
      ['list_configs', {}, { configs: ['web.staging.yaml', 'web.production.yaml'] }],
      [
        'read_config',
        { name: 'web.staging.yaml' },
        { url: 'https://staging.shop.example', replicas: 1 },
        'call',
      ],
      [
        'deploy',
        { app: 'web', env: 'production', url: 'https://staging.shop.example', replicas: 1 },
        fails('policy: production must not point at a staging host'),
      ],
    ],
  },
  {
    name: 'join on the wrong id',
    task: 'Join customers to orders and compute revenue per customer.',
    calls: [
      ['describe', { table: 'orders' }, { columns: ['id', 'customer_ref', 'total'] }],
      ['describe', { table: 'customers' }, { columns: ['id', 'external_ref', 'name'] }],
      [
        'query',
        {
          sql: 'select c.name, sum(o.total) from customers c join orders o on o.customer_ref = c.id group by 1',
        },
        { rows: [], row_count: 0 },
        'result',
      ],
      ['make_chart', { rows: [], title: 'Revenue' }, fails('nothing to draw: rows is empty')],
    ],
  },
];
