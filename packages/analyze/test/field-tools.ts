/** Failures around the tools that agents use: settings nobody looked at, results that say less than they seem to, things mistaken for others. */
import { type Field, fails } from './field.ts';

export const tools: readonly Field[] = [
  {
    name: 'docker build context ignores file',
    task: 'Build the image and run it.',
    calls: [
      ['list_dir', { path: '.' }, { entries: ['Dockerfile', '.dockerignore', 'dist', 'package.json'] }],
      [
        'docker_build',
        { tag: 'api:5', context: '.' },
        {
          image: 'sha256:aa11',
          steps: 9,
          warnings: ['COPY dist/ : no files matched, excluded by .dockerignore'],
        },
        'result',
      ],
      ['docker_push', { tag: 'api:5' }, { digest: 'sha256:aa11' }],
      ['docker_run', { image: 'api:5' }, fails("Error: Cannot find module '/app/dist/main.js'")],
    ],
  },
  {
    name: 'old kubeconfig context',
    task: 'Scale the worker in production to 6.',
    calls: [
      ['kube_contexts', {}, { contexts: ['staging', 'production'], current: 'staging' }],
      [
        'kube_scale',
        { deployment: 'worker', replicas: 6 },
        { context: 'staging', deployment: 'worker', replicas: 6 },
        'call',
      ],
      ['kube_get', { context: 'production', deployment: 'worker' }, { deployment: 'worker', replicas: 2 }],
      ['assert', { expr: 'production/worker.replicas == 6' }, fails('production/worker.replicas is 2')],
    ],
  },
  {
    name: 'json numbers as strings sort',
    task: 'Find the largest file and compress it.',
    calls: [
      [
        'du',
        { path: '/var/log' },
        {
          files: [
            { name: 'a.log', size: '980' },
            { name: 'b.log', size: '1204' },
            { name: 'c.log', size: '77' },
          ],
        },
      ],
      [
        'sort',
        { by: 'size', order: 'desc', items: ['980', '1204', '77'] },
        { sorted: ['980', '77', '1204'] },
        'result',
      ],
      ['gzip', { path: '/var/log/a.log' }, { ok: true, saved: 700 }],
      [
        'check_disk',
        { path: '/var/log', free_at_least: 1000 },
        fails('/var/log: 700 bytes freed, 1000 needed: b.log is the largest file'),
      ],
    ],
  },
  {
    name: 'mail address typed by model',
    task: 'Invite the new colleague Maja Lind to the repo.',
    calls: [
      ['directory', { q: 'Lind' }, { people: [{ name: 'Maja Lind', mail: 'm.lind@corp.example' }] }],
      ['get_repo', { name: 'infra' }, { name: 'infra', members: 12 }],
      [
        'invite',
        { repo: 'infra', mail: 'maja.lind@corp.example' },
        fails('no such user: maja.lind@corp.example'),
        'call',
      ],
    ],
  },
  {
    name: 'empty env var in a template',
    task: 'Render the config and reload nginx.',
    calls: [
      [
        'render',
        { template: 'nginx.tmpl' },
        { text: 'server_name ;\nlisten 443 ssl;\nssl_certificate ;', unresolved: ['DOMAIN', 'CERT'] },
        'result',
      ],
      [
        'write_file',
        { path: '/etc/nginx/site.conf', content: 'server_name ;\nlisten 443 ssl;\nssl_certificate ;' },
        { bytes: 60 },
      ],
      [
        'nginx_test',
        {},
        fails('invalid number of arguments in "server_name" directive in /etc/nginx/site.conf:1'),
      ],
    ],
  },
  {
    name: 'double apply of a migration after timeout',
    task: 'Add the column and backfill.',
    calls: [
      ['sql', { q: 'alter table t add column c int' }, fails('timeout after 30s', 'ToolTimeout', -32001)],
      ['sql', { q: 'alter table t add column c int' }, fails('column "c" of relation "t" already exists')],
      ['sql', { q: 'alter table t drop column c' }, { ok: true }, 'call'],
      ['sql', { q: 'update t set c = 1' }, fails('column "c" does not exist')],
    ],
  },
  {
    name: 'pagination in a SQL tool: default limit',
    task: 'Export all 230 open orders to the warehouse.',
    calls: [
      [
        'sql',
        { q: "select id from orders where state = 'open'" },
        { columns: ['id'], rows: [[1], [2], [3]], row_limit: 3, more: true },
        'result',
      ],
      ['export', { ids: [1, 2, 3], target: 'wh' }, { exported: 3 }],
      ['reconcile', { source: 'orders', target: 'wh' }, fails('227 open orders are missing in wh')],
    ],
  },
  {
    name: 'wrong checksum tool result',
    task: 'Verify and install the agent package.',
    calls: [
      [
        'download',
        { url: 'https://dl.example/agent-2.1.deb' },
        { path: '/tmp/agent.deb', bytes: 18211 },
        'result',
      ],
      ['http_head', { url: 'https://dl.example/agent-2.1.deb' }, { content_length: 9188211, etag: 'x1' }],
      ['sha256', { path: '/tmp/agent.deb' }, { sha256: 'aa0b' }],
      [
        'install',
        { path: '/tmp/agent.deb', sha256: '77cc' },
        fails('checksum mismatch: expected 77cc, got aa0b'),
      ],
    ],
  },
  {
    name: 'permission: read replica',
    task: 'Update the customer email.',
    calls: [
      ['db_connect', { role: 'app' }, { session: 's1', read_only: true }, 'result'],
      [
        'db_query',
        { session: 's1', q: 'select id, email from customers where id = 9' },
        { rows: [[9, 'old@x.example']] },
      ],
      [
        'db_query',
        { session: 's1', q: "update customers set email='new@x.example' where id=9" },
        fails('cannot execute UPDATE in a read-only transaction'),
      ],
    ],
  },
  {
    name: 'test run filtered',
    task: 'Fix the failing test and make the suite green.',
    calls: [
      [
        'run_tests',
        { filter: 'cart' },
        { passed: 12, failed: 0, skipped: 340, note: 'filter "cart": 340 tests were not run' },
        'result',
      ],
      ['git_commit', { message: 'Fix' }, { sha: 'ab12' }],
      ['ci_wait', { sha: 'ab12' }, fails('ci failed: checkout.test.ts 2 failed')],
    ],
  },
  {
    name: 'currency',
    task: 'Pay the invoice of 1200 USD from the EUR account.',
    calls: [
      ['get_invoice', { id: 'I-9' }, { id: 'I-9', amount: 1200, currency: 'USD' }],
      ['get_rate', { from: 'USD', to: 'EUR' }, { rate: 0.92 }],
      [
        'pay',
        { account: 'EUR-1', amount: 1200, currency: 'EUR', ref: 'I-9' },
        { id: 'P-1', status: 'sent' },
        'call',
      ],
      ['reconcile', { invoice: 'I-9' }, fails('I-9 is overpaid: received 1200.00 EUR, due 1104.00 EUR')],
    ],
  },
  {
    name: 'stale issue state',
    task: 'Close all issues fixed by PR 90.',
    calls: [
      ['get_pr', { n: 90 }, { n: 90, state: 'open', fixes: [11, 12], head: 'c1' }, 'result'],
      ['comment', { n: 90, text: 'closing the issues' }, { id: 1 }],
      ['push', { branch: 'pr-90', sha: 'c2' }, { ok: true }],
      ['close_issue', { n: 12, fixed_by: 90, head: 'c1' }, fails('422: PR 90 has head c2, not c1')],
    ],
  },
  {
    name: 'model swaps two ids',
    task: 'Assign ticket T-81 to Ana and T-82 to Ben.',
    calls: [
      ['find_user', { name: 'Ana' }, { id: 'usr_41', name: 'Ana' }],
      ['find_user', { name: 'Ben' }, { id: 'usr_57', name: 'Ben' }],
      ['assign', { ticket: 'T-81', user: 'usr_57' }, { ok: true }, 'call'],
      ['assign', { ticket: 'T-82', user: 'usr_41' }, { ok: true }, 'call'],
      ['check_assignments', {}, fails('T-81 is assigned to Ben, expected Ana')],
    ],
  },
  {
    name: 'bad regex replaced too much',
    task: 'Rename getUser to fetchUser in src/api.ts only.',
    calls: [
      [
        'grep',
        { q: 'getUser', path: 'src' },
        {
          matches: [
            { file: 'src/api.ts', line: 4 },
            { file: 'src/ui.ts', line: 9 },
          ],
        },
      ],
      [
        'sed',
        { pattern: 's/getUser/fetchUser/g', path: 'src' },
        { files_changed: 2, replacements: 5 },
        'call',
      ],
      ['typecheck', {}, fails("src/ui.ts(9,3): error TS2304: Cannot find name 'fetchUser'")],
    ],
  },
  {
    name: 'model output cut',
    task: 'Write the release notes file and publish.',
    calls: [
      ['git_log', { from: 'v1', to: 'v2' }, { commits: 44 }],
      ['write_file', { path: 'NOTES.md', content: '# v2\n- one\n- two\n- and the' }, { bytes: 28 }, 'call'],
      ['publish_notes', { path: 'NOTES.md' }, fails('NOTES.md: lists 3 of 44 changes')],
    ],
  },
  {
    name: 'wrong default region',
    task: 'Start 3 instances in eu-central-1.',
    calls: [
      ['describe_quota', { region: 'eu-central-1' }, { region: 'eu-central-1', free: 10 }],
      [
        'run_instances',
        { count: 3, type: 't3.micro' },
        { region: 'us-east-1', ids: ['i-1', 'i-2', 'i-3'] },
        'call',
      ],
      [
        'tag',
        { ids: ['i-1', 'i-2', 'i-3'], region: 'eu-central-1', env: 'prod' },
        fails('InvalidInstanceID.NotFound: i-1 in eu-central-1'),
      ],
    ],
  },
  {
    name: 'search index lag',
    task: 'Create the page and link it from the index.',
    calls: [
      ['create_page', { title: 'Runbook' }, { id: 'p_10', title: 'Runbook' }],
      [
        'search',
        { q: 'Runbook' },
        { hits: [{ id: 'p_3', title: 'Runbook (archived)', archived: true }] },
        'result',
      ],
      ['add_link', { from: 'index', to: 'p_3' }, fails('p_3 is archived and cannot be linked')],
    ],
  },
  {
    name: 'csv header shifted',
    task: 'Load the sensor data.',
    calls: [
      [
        'read_csv',
        { path: 's.csv', skip: 0 },
        { header: ['2026-01-01', '3.4', '71'], rows: [['2026-01-02', '3.6', '70']] },
        'result',
      ],
      ['describe', { table: 'sensors' }, { columns: ['day', 'volt', 'hum'] }],
      [
        'load',
        { table: 'sensors', columns: ['2026-01-01', '3.4', '71'] },
        fails('column "2026-01-01" does not exist in sensors'),
      ],
    ],
  },
  {
    name: 'backup job said ok with zero bytes',
    task: 'Back up the database and drop the old one.',
    calls: [
      ['backup', { db: 'legacy' }, { status: 'ok', file: 'legacy.dump', bytes: 0 }, 'result'],
      ['list_backups', { db: 'legacy' }, { files: ['legacy.dump'] }],
      [
        'drop_db',
        { db: 'legacy', backup: 'legacy.dump' },
        fails('refused: legacy.dump is not a valid backup'),
      ],
    ],
  },
  {
    name: 'feature flag cached',
    task: 'Turn on the flag new-cart and check it.',
    calls: [
      ['set_flag', { name: 'new-cart', on: true }, { name: 'new-cart', on: true, version: 8 }],
      [
        'get_flag',
        { name: 'new-cart' },
        { name: 'new-cart', on: false, version: 7, source: 'cache' },
        'result',
      ],
      [
        'set_flag',
        { name: 'new-cart', on: true, version: 7 },
        fails('409 version conflict: new-cart is at 8'),
      ],
    ],
  },
  {
    name: 'loop of edits',
    task: 'Make the linter pass.',
    calls: [
      ['lint', {}, { errors: 1, first: 'a.ts:3 no-unused-vars x' }],
      ['edit', { path: 'a.ts', find: 'const x = 1;', replace: '' }, { replaced: 1 }],
      ['lint', {}, { errors: 1, first: "a.ts:9 no-undef 'x'" }],
      ['edit', { path: 'a.ts', find: '', replace: 'const x = 1;' }, { replaced: 1 }, 'call'],
      ['lint', {}, { errors: 1, first: 'a.ts:3 no-unused-vars x' }],
      ['edit', { path: 'a.ts', find: 'const x = 1;', replace: '' }, { replaced: 1 }, 'call'],
      ['lint', {}, { errors: 1, first: "a.ts:9 no-undef 'x'" }],
      ['lint', {}, fails('limits.steps is reached: 16 of 16', 'BudgetExceeded', -32008)],
    ],
  },
  {
    name: 'deprecated api answers with a notice',
    task: 'List the invoices of March and sum.',
    calls: [
      [
        'get',
        { path: '/v1/invoices?month=3' },
        {
          deprecated: true,
          message: 'v1 returns the first 2 items only; use /v2',
          items: [{ a: 10 }, { a: 20 }],
        },
        'result',
      ],
      ['sum', { values: [10, 20] }, { total: 30 }],
      ['report', { month: 3, total: 30 }, fails('ledger for month 3 is 4410, report says 30')],
    ],
  },
  {
    name: 'wrong file by same name',
    task: 'Fix the timeout in the worker config.',
    calls: [
      ['find', { name: 'config.yaml' }, { paths: ['legacy/config.yaml', 'worker/config.yaml'] }],
      [
        'edit',
        { path: 'legacy/config.yaml', find: 'timeout: 5', replace: 'timeout: 30' },
        { replaced: 1 },
        'call',
      ],
      ['restart', { service: 'worker' }, { ok: true }],
      ['probe', { service: 'worker', timeout: 30 }, fails('worker: timeout is 5')],
    ],
  },
  {
    name: 'date format us/eu',
    task: 'Book the flight on 4 March 2026.',
    calls: [
      ['search_flights', { date: '2026-03-04' }, { flights: [{ id: 'LH1', date: '2026-03-04' }] }],
      ['hold', { flight: 'LH1', date: '04/03/2026' }, { hold: 'H1', date: '2026-04-03' }, 'call'],
      ['ticket', { hold: 'H1' }, fails('LH1 does not fly on 2026-04-03')],
    ],
  },
];
