/** Faults in what a tool gave: cut, not all pages, of another thing, an error inside a success. */
import { ask, fail, insist, type Scenario } from '../world.ts';
import { hex, noiseTools, otherWork } from './noise.ts';

export const results: readonly Scenario[] = [
  {
    // The result ends with "[output truncated ...]"; the last migration that it shows is not the last one there is.
    cause: 'truncation',
    name: 'listing of migrations cut by the shell tool',
    tell: (w) => {
      const [from, shown, all] = [w.int(100, 200), w.int(8, 14), w.int(18, 26)];
      const names = Array.from({ length: all }, (_, i) => `${from + i}_${w.word()}_${w.word()}.sql`);
      const text = (some: readonly string[]) => some.join('\n');
      return {
        task: 'Add a migration that drops the unused column legacy_ref, numbered after the newest one.',
        patience: 2,
        tools: {
          ...noiseTools(w),
          bash: {
            run: () =>
              w.broken
                ? `${text(names.slice(0, shown))}\n... [output truncated: showing ${text(names.slice(0, shown)).length} of ${text(names).length} characters]`
                : text(names),
          },
          create_migration: {
            run: ({ number }) =>
              number === from + all
                ? { created: true, number }
                : fail(`migration ${number} already exists: duplicate version in schema_migrations`),
          },
        },
        *talk() {
          const listed: string = yield* ask('bash', { command: 'ls -1 db/migrations' }, 'result');
          yield* otherWork(w);
          const numbers = [...listed.matchAll(/^(\d+)_/gm)].map(([, n]) => Number(n));
          yield* insist('create_migration', {
            number: Math.max(...numbers) + 1,
            sql: 'ALTER TABLE orders DROP COLUMN legacy_ref;',
          });
          return 'The migration is in place.';
        },
      };
    },
  },
  {
    // The query result says truncated: true with fewer rows than total_rows; the total is summed over the rows shown.
    cause: 'truncation',
    name: 'rows of a query capped',
    tell: (w) => {
      const rows = Array.from({ length: w.int(9, 15) }, () => ({
        region: `${w.word()}-${w.int(1, 9)}`,
        orders: w.int(120, 990),
      }));
      const sum = rows.reduce((total, { orders }) => total + orders, 0);
      const cap = w.int(4, 7);
      return {
        task: 'Publish the total of orders per region to the weekly sheet.',
        patience: 2,
        tools: {
          ...noiseTools(w),
          run_sql: {
            run: () => ({
              columns: ['region', 'orders'],
              rows: w.broken ? rows.slice(0, cap) : rows,
              total_rows: rows.length,
              truncated: w.broken,
            }),
          },
          sheet_update_cell: {
            run: ({ range, value }) =>
              value === sum
                ? { updatedRange: range, updatedCells: 1 }
                : fail(`Check row failed: ${range} is ${value}, the ledger has another total`),
          },
        },
        *talk() {
          const { rows } = yield* ask(
            'run_sql',
            { sql: 'SELECT region, count(*) AS orders FROM orders GROUP BY region' },
            'result',
          );
          yield* otherWork(w);
          const value = rows.reduce((total: number, row: { orders: number }) => total + row.orders, 0);
          yield* insist('sheet_update_cell', { range: 'Weekly!B2', value });
          return 'The sheet is up to date.';
        },
      };
    },
  },
  {
    // The result's own name is of another service than the one asked for.
    cause: 'wrong tool result',
    name: 'catalogue gives another service',
    tell: (w) => {
      const name = `${w.word()}-api`;
      const [right, wrong] = [`svc-${hex(w, 8)}`, `svc-${hex(w, 8)}`];
      return {
        task: `Restart ${name} in production and check that it is healthy.`,
        patience: 2,
        tools: {
          ...noiseTools(w),
          catalog_get_service: {
            run: ({ name }) => ({
              id: w.broken ? wrong : right,
              name: w.broken ? `${String(name).replace('-api', '-worker')}` : name,
              tier: w.broken ? 'batch' : 'critical',
              owner: 'team-core',
            }),
          },
          restart_service: {
            run: ({ service_id }) =>
              service_id === right
                ? { status: 'restarted' }
                : fail(`${service_id} has no deployment in cluster prod-eu1`),
          },
        },
        *talk() {
          const { id } = yield* ask('catalog_get_service', { name }, 'result');
          yield* otherWork(w);
          yield* insist('restart_service', { service_id: id, reason: 'memory growth' });
          return 'Restarted and healthy.';
        },
      };
    },
  },
  {
    // The registry answers for the tag "latest" and not for the tag in the request.
    cause: 'wrong tool result',
    name: 'registry resolves another tag',
    tell: (w) => {
      const tag = `v${w.int(1, 9)}.${w.int(0, 30)}.${w.int(0, 9)}`;
      const repository = `platform/${w.word()}`;
      const [right, wrong] = [`sha256:${hex(w, 32)}`, `sha256:${hex(w, 32)}`];
      return {
        task: `Roll out ${repository} ${tag} to staging, pinned by digest.`,
        patience: 2,
        tools: {
          ...noiseTools(w),
          registry_get_manifest: {
            run: () => ({
              repository,
              tag: w.broken ? 'latest' : tag,
              digest: w.broken ? wrong : right,
              mediaType: 'application/vnd.oci.image.manifest.v1+json',
            }),
          },
          deploy: {
            run: ({ image }) =>
              image === `${repository}@${right}`
                ? { rollout: 'complete' }
                : fail(`admission webhook denied the request: ${image} is not signed for release ${tag}`),
          },
        },
        *talk() {
          const { digest } = yield* ask('registry_get_manifest', { repository, tag }, 'result');
          yield* otherWork(w);
          yield* insist('deploy', { environment: 'staging', image: `${repository}@${digest}` });
          return 'Rolled out.';
        },
      };
    },
  },
  {
    // Exit code 0, but stderr of the push says that the remote rejected it; the branch is then not there.
    cause: 'swallowed error',
    name: 'push rejected under exit code 0',
    tell: (w) => {
      const branch = `fix/${w.word()}-${w.int(100, 999)}`;
      return {
        task: 'Fix the failing date test and open a pull request.',
        patience: 2,
        tools: {
          ...noiseTools(w),
          bash: {
            run: () => ({
              exit_code: 0,
              stdout: '',
              stderr: w.broken
                ? ` ! [remote rejected] ${branch} -> ${branch} (pre-receive hook declined)\nerror: failed to push some refs`
                : `To git.internal:core/app.git\n * [new branch] ${branch} -> ${branch}`,
            }),
          },
          create_pull_request: {
            run: ({ head }) =>
              w.broken
                ? fail(`422 Validation Failed: PullRequest.head "${head}" is invalid`)
                : { number: 412, state: 'open' },
          },
        },
        *talk() {
          yield* ask('bash', { command: `git push -u origin ${branch} || true` }, 'result');
          yield* otherWork(w);
          yield* insist('create_pull_request', { base: 'main', head: branch, title: 'Fix date test' });
          return 'The pull request is open.';
        },
      };
    },
  },
  {
    // The batch write answers 200 with the item among UnprocessedItems; it was never written again.
    cause: 'swallowed error',
    name: 'unprocessed items of a batch',
    tell: (w) => {
      const ids = Array.from({ length: w.int(4, 9) }, () => `usr_${hex(w, 8)}`);
      const lost = w.pick(ids);
      return {
        task: 'Import the new users and enable them.',
        patience: 2,
        tools: {
          ...noiseTools(w),
          dynamodb_batch_write: {
            run: () => ({
              HTTPStatusCode: 200,
              UnprocessedItems: w.broken
                ? {
                    users: [
                      { id: lost, error: 'ProvisionedThroughputExceededException: request was throttled' },
                    ],
                  }
                : {},
            }),
          },
          enable_user: {
            run: ({ id }) =>
              w.broken
                ? fail(`ResourceNotFoundException: no user ${id} in table users`)
                : { id, enabled: true },
          },
        },
        *talk() {
          yield* ask('dynamodb_batch_write', { table: 'users', items: ids.map((id) => ({ id })) }, 'result');
          yield* otherWork(w);
          yield* insist('enable_user', { id: lost });
          return 'All users are enabled.';
        },
      };
    },
  },
  {
    // The answer carries next_cursor and has_more: true, and no later call asks for it.
    cause: 'dropped page',
    name: 'pull requests of a milestone, first page only',
    tell: (w) => {
      const numbers = Array.from({ length: w.int(3, 6) }, (_, i) => w.int(100, 120) + i * 31);
      const milestone = `${w.int(2, 9)}.${w.int(0, 9)}`;
      const merged = new Set<number>();
      return {
        task: `Merge what is approved for milestone ${milestone} and close it.`,
        patience: 2,
        tools: {
          ...noiseTools(w),
          list_pull_requests: {
            run: () => ({
              items: (w.broken ? numbers.slice(0, 2) : numbers).map((number) => ({ number, state: 'open' })),
              has_more: w.broken,
              next_cursor: w.broken ? `Y3Vyc29yOnYy${w.int(100, 999)}` : null,
            }),
          },
          merge_pull_requests: {
            run: ({ numbers }) => {
              for (const number of numbers) merged.add(number);
              return { merged: numbers.length };
            },
          },
          close_milestone: {
            run: () =>
              merged.size === numbers.length
                ? { state: 'closed' }
                : fail(`milestone ${milestone} still has ${numbers.length - merged.size} open pull requests`),
          },
        },
        *talk() {
          const { items } = yield* ask('list_pull_requests', { milestone }, 'result');
          yield* ask('merge_pull_requests', {
            numbers: items.map(({ number }: { number: number }) => number),
          });
          yield* otherWork(w);
          yield* insist('close_milestone', { milestone });
          return 'The milestone is closed.';
        },
      };
    },
  },
  {
    // The second listing says IsTruncated with a token that is never used; the third part of the bucket stays unread.
    cause: 'dropped page',
    name: 'objects of a bucket, last page left',
    tell: (w) => {
      const bucket = `${w.word()}-exports`;
      const keys = Array.from({ length: 6 }, (_, i) => `2026/${w.word()}-${i}.parquet`);
      const tokens = [hex(w, 16), hex(w, 16)];
      const page = (at: number) => ({
        Contents: keys.slice(at * 2, at * 2 + 2).map((Key) => ({ Key, Size: 1000 + at })),
        IsTruncated: at < 2,
        ...(at < 2 ? { NextContinuationToken: tokens[at] as string } : {}),
      });
      return {
        task: `Empty the bucket ${bucket} and delete it.`,
        patience: 2,
        tools: {
          ...noiseTools(w),
          s3_list_objects_v2: {
            run: ({ ContinuationToken: token }) => page(token === undefined ? 0 : tokens.indexOf(token) + 1),
          },
          s3_delete_objects: { run: ({ Keys }) => ({ Deleted: Keys.length, Errors: [] }) },
          s3_delete_bucket: {
            run: () =>
              w.broken
                ? fail('BucketNotEmpty: The bucket you tried to delete is not empty')
                : { HTTPStatusCode: 204 },
          },
        },
        *talk() {
          const seen: string[] = [];
          const add = (page: { Contents: { Key: string }[] }) =>
            seen.push(...page.Contents.map(({ Key }) => Key));
          add(yield* ask('s3_list_objects_v2', { Bucket: bucket }));
          const second = { Bucket: bucket, ContinuationToken: tokens[0] as string };
          add(yield* ask('s3_list_objects_v2', second, 'result'));
          if (!w.broken)
            add(yield* ask('s3_list_objects_v2', { Bucket: bucket, ContinuationToken: tokens[1] as string }));
          yield* ask('s3_delete_objects', { Bucket: bucket, Keys: seen });
          yield* otherWork(w);
          yield* insist('s3_delete_bucket', { Bucket: bucket });
          return 'The bucket is gone.';
        },
      };
    },
  },
];
