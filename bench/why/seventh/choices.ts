/** Faults in what the model wrote: a number read by the wrong locale, another unit, an invented value, a changed retry. */
import { ask, askAll, fail, insist, isError, type Scenario } from '../world.ts';
import { hex, noiseTools, otherWork } from './noise.ts';

export const choices: readonly Scenario[] = [
  {
    // The export says locale de-DE and holds "1.234,50"; the call has 1.234, as if the point were decimal.
    cause: 'wrong locale',
    name: 'German amount of a CSV export',
    tell: (w) => {
      const [thousands, rest, cents] = [w.int(2, 48), w.int(101, 998), w.int(11, 98)];
      const right = thousands * 1000 + rest + cents / 100;
      const wrong = Number(`${thousands}.${rest}`);
      const invoice = `RE-2026-${w.int(1000, 9999)}`;
      return {
        task: `Book invoice ${invoice} of the supplier export.`,
        patience: 2,
        tools: {
          ...noiseTools(w),
          read_csv: {
            run: ({ path }) => ({
              path,
              encoding: 'utf-8',
              locale: 'de-DE',
              delimiter: ';',
              content: `Beleg;Datum;Betrag\nRE-2026-0001;03.02.2026;87,10\n${invoice};17.02.2026;${thousands}.${rest},${cents}\n`,
            }),
          },
          ledger_post: {
            run: ({ invoice, amount }) => ({ entry: `E${w.int(1000, 9999)}`, invoice, amount }),
          },
          ledger_close_day: {
            run: () =>
              w.broken
                ? fail(
                    `ledger out of balance: ${invoice} was posted as ${wrong}, the supplier claims ${right}`,
                  )
                : { closed: true },
          },
        },
        *talk() {
          yield* ask('read_csv', { path: 'inbox/lieferanten.csv' });
          yield* ask(
            'ledger_post',
            { invoice, amount: w.broken ? wrong : right },
            w.broken ? 'call' : undefined,
          );
          yield* otherWork(w);
          yield* insist('ledger_close_day', { day: '2026-02-17' });
          return 'Booked.';
        },
      };
    },
  },
  {
    // The ticket gives the date as day/month/year (en-GB); the call has day and month exchanged.
    cause: 'wrong locale',
    name: 'British date of a maintenance window',
    tell: (w) => {
      const [day, month] = [w.int(1, 6), w.int(7, 12)];
      const two = (n: number) => String(n).padStart(2, '0');
      const date = w.broken ? `2026-${two(day)}-${two(month)}` : `2026-${two(month)}-${two(day)}`;
      const ticket = `CHG-${w.int(10_000, 99_999)}`;
      return {
        task: `Plan the maintenance window of ${ticket}.`,
        patience: 2,
        tools: {
          ...noiseTools(w),
          get_ticket: {
            run: ({ key }) => ({
              key,
              fields: {
                summary: 'Upgrade of the primary database',
                reporter: { locale: 'en-GB', timeZone: 'Europe/London' },
                window: `${two(day)}/${two(month)}/2026 22:00`,
              },
            }),
          },
          create_silence: {
            run: ({ starts_at }) =>
              starts_at === `2026-${two(month)}-${two(day)}T22:00:00Z`
                ? { silence_id: hex(w) }
                : fail(`bad silence: start ${starts_at} is not within the approved window of ${ticket}`),
          },
        },
        *talk() {
          yield* ask('get_ticket', { key: ticket });
          yield* otherWork(w);
          for (;;) {
            const input = { matcher: 'service=db', starts_at: `${date}T22:00:00Z` };
            const made = yield* ask('create_silence', input, w.broken ? 'call' : undefined);
            if (!isError(made)) return 'The window is planned.';
          }
        },
      };
    },
  },
  {
    // The metric is in bytes and says so; the call gives the same number as MiB.
    cause: 'wrong unit',
    name: 'bytes of a metric as mebibytes of a limit',
    tell: (w) => {
      const mib = w.int(300, 1900);
      const bytes = mib * 1024 * 1024;
      const app = `${w.word()}-worker`;
      return {
        task: `Set the memory limit of ${app} to its peak of the last week.`,
        patience: 2,
        tools: {
          ...noiseTools(w),
          query_metric: {
            run: ({ metric }) => ({ metric, unit: 'bytes', stat: 'max', window: '7d', value: bytes }),
          },
          set_limits: {
            run: ({ app, memory_mib }) => ({ app, resources: { limits: { memory_mib } }, generation: 7 }),
          },
          rollout: {
            run: () =>
              w.broken
                ? fail(`0/6 nodes are available: insufficient memory, ${app} asks for ${bytes} MiB`)
                : { status: 'successfully rolled out' },
          },
        },
        *talk() {
          yield* ask('query_metric', { metric: 'container_memory_working_set_bytes', app });
          const memory_mib = w.broken ? bytes : mib;
          yield* ask('set_limits', { app, memory_mib }, w.broken ? 'call' : undefined);
          yield* otherWork(w);
          yield* insist('rollout', { app });
          return 'The limit is set.';
        },
      };
    },
  },
  {
    // The dashboard gives the latency in milliseconds (p99_ms); the configuration written has it as seconds.
    cause: 'wrong unit',
    name: 'milliseconds written as seconds',
    tell: (w) => {
      const p99 = w.int(11, 38) * 100;
      const upstream = `${w.word()}-gateway`;
      return {
        task: `Set the upstream timeout of ${upstream} to its p99.`,
        patience: 2,
        tools: {
          ...noiseTools(w),
          get_latency: {
            run: ({ upstream }) => ({ upstream, p50_ms: p99 / 10, p99_ms: p99, samples: 8120 }),
          },
          write_config: {
            run: ({ path, timeout_seconds }) => ({ path, written: true, timeout_seconds }),
          },
          nginx_reload: {
            run: () =>
              w.broken
                ? fail(
                    `configuration test failed: proxy_read_timeout ${p99}s exceeds the maximum of 60s in conf.d/${upstream}.conf:4`,
                  )
                : 'configuration file test is successful',
          },
        },
        *talk() {
          yield* ask('get_latency', { upstream });
          const timeout_seconds = w.broken ? p99 : p99 / 1000;
          const input = { path: `conf.d/${upstream}.conf`, timeout_seconds };
          yield* ask('write_config', input, w.broken ? 'call' : undefined);
          yield* otherWork(w);
          yield* insist('nginx_reload', {});
          return 'The timeout is set.';
        },
      };
    },
  },
  {
    // The commit that is reverted is in no result and not in the task; ci_get_run gave another.
    cause: 'fabricated value',
    name: 'commit that no result holds',
    tell: (w) => {
      const [right, invented] = [hex(w, 10), hex(w, 10)];
      return {
        task: 'Revert the commit that broke the nightly build.',
        patience: 2,
        tools: {
          ...noiseTools(w),
          ci_get_run: {
            run: ({ workflow }) => ({
              workflow,
              conclusion: 'failure',
              head_sha: right,
              job: 'unit (node 24)',
            }),
          },
          git_revert: {
            run: ({ commit }) =>
              commit === right ? { reverted: commit } : fail(`fatal: bad revision '${commit}'`),
          },
        },
        *talk() {
          yield* ask('ci_get_run', { workflow: 'nightly' });
          yield* otherWork(w);
          for (;;) {
            const commit = w.broken ? invented : right;
            const made = yield* ask('git_revert', { commit }, w.broken ? 'call' : undefined);
            if (!isError(made)) return 'Reverted.';
          }
        },
      };
    },
  },
  {
    // The account id of the role is neither in the task nor in any result; get_caller_identity gave another.
    cause: 'fabricated value',
    name: 'account id made up for a policy',
    tell: (w) => {
      const [right, invented] = [`${w.int(100_000, 999_999)}774410`, `${w.int(100_000, 999_999)}905213`];
      const role = `${w.word()}-deployer`;
      const arn = `arn:aws:iam::${w.broken ? invented : right}:role/${role}`;
      return {
        task: `Let the role ${role} of our account read the artefact bucket.`,
        patience: 2,
        tools: {
          ...noiseTools(w),
          get_caller_identity: {
            run: () => ({ Account: right, Arn: `arn:aws:iam::${right}:user/ops-agent` }),
          },
          write_policy: { run: ({ path, principal }) => ({ path, bytes: 212 + String(principal).length }) },
          terraform_apply: {
            run: () =>
              w.broken
                ? fail(`MalformedPolicy: Invalid principal in policy: "${arn}"`)
                : { added: 0, changed: 1, destroyed: 0 },
          },
        },
        *talk() {
          yield* ask('get_caller_identity', {});
          const input = { path: 'infra/bucket_policy.tf', principal: arn };
          yield* ask('write_policy', input, w.broken ? 'call' : undefined);
          yield* otherWork(w);
          yield* insist('terraform_apply', { auto_approve: true });
          return 'The role can read the bucket.';
        },
      };
    },
  },
  {
    // Two calls with one idempotency key: the first timed out, the second has another amount.
    cause: 'retry with changed payload',
    name: 'refund sent again with another amount',
    tell: (w) => {
      const [amount, charge] = [w.int(2000, 9000), `ch_${hex(w, 14)}`];
      const other = amount - w.int(100, 900);
      const key = `refund-${hex(w, 8)}`;
      let calls = 0;
      return {
        task: `Refund ${amount} cents of charge ${charge}, then settle the dispute.`,
        patience: 2,
        tools: {
          ...noiseTools(w),
          create_refund: {
            run: ({ amount }) => {
              if (++calls === 1) fail('gateway timeout after 30000 ms (504)');
              return { id: `re_${hex(w, 14)}`, amount, charge, status: 'succeeded' };
            },
          },
          settle_dispute: {
            run: () =>
              w.broken
                ? fail(`dispute of ${charge} cannot be settled: refunded ${other}, requested ${amount}`)
                : { status: 'settled' },
          },
        },
        *talk() {
          yield* ask('create_refund', { charge, amount, idempotency_key: key });
          const again = w.broken ? other : amount;
          yield* ask(
            'create_refund',
            { charge, amount: again, idempotency_key: key },
            w.broken ? 'call' : undefined,
          );
          yield* otherWork(w);
          yield* insist('settle_dispute', { charge });
          return 'Refunded and settled.';
        },
      };
    },
  },
  {
    // After the 503 the same server is asked for again, but in another zone than the first call and the task say.
    cause: 'retry with changed payload',
    name: 'machine created again in another zone',
    tell: (w) => {
      const [zone, other] = ['europe-west4-a', w.pick(['europe-west4-b', 'europe-west1-b'])];
      const [name, disk] = [`${w.word()}-db-${w.int(1, 9)}`, `${w.word()}-data`];
      let calls = 0;
      return {
        task: `Create ${name} in ${zone} and attach the disk ${disk}.`,
        patience: 2,
        tools: {
          ...noiseTools(w),
          compute_disks_get: { run: ({ disk }) => ({ name: disk, zone, sizeGb: '200', status: 'READY' }) },
          compute_instances_insert: {
            run: ({ name, zone }) => {
              if (++calls === 1)
                fail('503 backendError: The service is currently unavailable', 'Unavailable');
              return { operationType: 'insert', status: 'DONE', target: `zones/${zone}/instances/${name}` };
            },
          },
          compute_attach_disk: {
            run: ({ instance, disk }) =>
              w.broken
                ? fail(`Invalid value for field 'disk': ${disk} and ${instance} must be in the same zone`)
                : { status: 'DONE' },
          },
        },
        *talk() {
          const machineType = `n2-standard-${w.pick([2, 4, 8])}`;
          yield* ask('compute_disks_get', { disk });
          yield* ask('compute_instances_insert', { name, zone, machineType });
          const [made] = yield* askAll([
            {
              tool: 'compute_instances_insert',
              input: { name, zone: w.broken ? other : zone, machineType },
              ...(w.broken ? { fault: 'call' as const } : {}),
            },
          ]);
          if (isError(made)) return 'No machine was made.';
          yield* otherWork(w);
          yield* insist('compute_attach_disk', { instance: name, disk });
          return 'The machine has its disk.';
        },
      };
    },
  },
];
