/** Failures of agents that change things: what was read, chosen or measured wrongly before the change. */
import { type Field, fails } from './field.ts';

export const changes: readonly Field[] = [
  {
    name: 'cron in local time',
    task: 'Schedule the report at 06:00 UTC.',
    calls: [
      ['get_timezone', { host: 'rep1' }, { tz: 'America/New_York', offset: '-05:00' }],
      ['create_cron', { host: 'rep1', expr: '0 6 * * *', cmd: 'report' }, { id: 'cron-4' }, 'call'],
      ['check_schedule', { id: 'cron-4', expected: '06:00Z' }, fails('cron-4 runs at 11:00Z')],
    ],
  },
  {
    name: 'diff cut by the tool',
    task: 'Apply the patch from the review.',
    calls: [
      [
        'get_patch',
        { pr: 88 },
        {
          patch:
            '--- a/x.ts\n+++ b/x.ts\n@@ -1,4 +1,5 @@\n import a\n+import b\n const x = 1;\n[diff truncated, 214 more lines]',
          files: 3,
        },
        'result',
      ],
      ['run', { cmd: 'git status' }, { exit_code: 0, stdout: 'nothing to commit' }],
      [
        'apply_patch',
        { patch: '--- a/x.ts\n+++ b/x.ts\n@@ -1,4 +1,5 @@\n import a\n+import b\n const x = 1;' },
        fails('corrupt patch at line 7'),
      ],
    ],
  },
  {
    name: 'login page instead of json',
    task: 'Download the price list and load it.',
    calls: [
      [
        'http_get',
        { url: 'https://supplier.example/prices.json' },
        {
          status: 200,
          content_type: 'text/html',
          body: '<!doctype html><title>Sign in</title><form>…</form>',
        },
        'result',
      ],
      [
        'write_file',
        { path: 'prices.json', content: '<!doctype html><title>Sign in</title><form>…</form>' },
        { bytes: 52 },
      ],
      ['load_prices', { path: 'prices.json' }, fails('prices.json: unexpected token < at position 0')],
    ],
  },
  {
    name: 'cached package version',
    task: 'Upgrade lodash to the patched version and pass the audit.',
    calls: [
      [
        'npm_view',
        { name: 'lodash' },
        { latest: '4.17.20', cached: true, cached_at: '2021-01-05T00:00:00Z' },
        'result',
      ],
      ['npm_install', { name: 'lodash', version: '4.17.20' }, { added: 1 }],
      ['npm_audit', {}, fails('lodash <4.17.21 severity high: GHSA-35jh-r3h4-6jhm')],
    ],
  },
  {
    name: 'source and target swapped',
    task: 'Copy the table users from prod to staging.',
    calls: [
      ['list_tables', { db: 'prod' }, { tables: ['users', 'orders'] }],
      ['copy_table', { source: 'staging', target: 'prod', table: 'users' }, { copied: 12 }, 'call'],
      ['count_rows', { db: 'prod', table: 'users' }, { rows: 12 }],
      ['assert_rows', { db: 'staging', table: 'users', at_least: 10000 }, fails('staging.users has 12 rows')],
    ],
  },
  {
    name: 'bulk insert partly rejected',
    task: 'Load the 500 products and publish.',
    calls: [
      [
        'bulk_insert',
        { file: 'products.ndjson', count: 500 },
        {
          took: 88,
          errors: true,
          items_ok: 488,
          items_failed: 12,
          first_error: 'mapper_parsing_exception: price',
        },
        'result',
      ],
      ['refresh_index', { index: 'products' }, { ok: true }],
      [
        'publish',
        { index: 'products', expected: 500 },
        fails('index products has 488 documents, 500 expected'),
      ],
    ],
  },
  {
    name: 'wrong port read from docs',
    task: 'Connect to the metrics endpoint.',
    calls: [
      ['read_file', { path: 'README.md' }, { content: '# metrics\nThe exporter listens on 9100.\n' }],
      ['read_file', { path: 'deploy/values.yaml' }, { content: 'exporter:\n  port: 9187\n' }],
      ['http_get', { url: 'http://db1:9100/metrics' }, fails('connect ECONNREFUSED db1:9100'), 'call'],
    ],
  },
  {
    name: 'rate limit hides results',
    task: 'Find all open security issues and file a report.',
    calls: [
      [
        'search_issues',
        { q: 'label:security is:open', page: 1 },
        { total_count: 14, incomplete_results: true, items: [{ n: 1 }, { n: 2 }] },
        'result',
      ],
      ['create_report', { issues: [1, 2], total: 2 }, fails('report lists 2 of 14 open issues')],
    ],
  },
  {
    name: 'etag from before another write',
    task: 'Update the wiki page on-call.',
    calls: [
      ['get_page', { id: 'oncall' }, { id: 'oncall', version: 17, body: 'Primary: Ana' }, 'result'],
      ['search_pages', { q: 'rota' }, { hits: [] }],
      ['append_comment', { page: 'oncall', text: 'updating the rota' }, { page_version: 18 }, 'result'],
      ['put_page', { id: 'oncall', version: 17, body: 'Primary: Ben' }, fails('409 Conflict: version is 18')],
    ],
  },
  {
    name: 'percent vs fraction',
    task: 'Set the canary weight to 5 percent.',
    calls: [
      ['get_route', { name: 'web' }, { name: 'web', canary_weight: 0.01, unit: 'fraction' }],
      ['set_route', { name: 'web', canary_weight: 5 }, { name: 'web', accepted: true }, 'call'],
      ['validate_mesh', {}, fails('route web: weights sum to 6.0, must be 1.0')],
    ],
  },
];
