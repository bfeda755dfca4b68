/** Faults of time, repetition and rights: an old read, a loop, a thing that came twice, a right that was missing. */
import { ask, fail, insist, isError, type Scenario } from '../world.ts';
import { hex, noiseTools, otherWork } from './noise.ts';

export const order: readonly Scenario[] = [
  {
    // The pull after the read lists the file as changed; the edit still looks for the line that the old read showed.
    cause: 'stale read',
    name: 'file read before a pull changed it',
    tell: (w) => {
      const path = `config/${w.word()}.yaml`;
      const line = `max_connections: ${w.int(20, 90)}`;
      return {
        task: `Bring the branch up to date and raise max_connections to 200 in ${path}.`,
        patience: 2,
        tools: {
          ...noiseTools(w),
          read_file: { run: ({ path }) => ({ path, content: `pool:\n  ${line}\n  idle_timeout: 30s\n` }) },
          git_pull: {
            run: () =>
              w.broken
                ? `Updating ${hex(w, 7)}..${hex(w, 7)}\nFast-forward\n ${path} | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)`
                : 'Already up to date.',
          },
          edit_file: {
            run: ({ path }) =>
              w.broken
                ? fail(`old_string not found in ${path}: the file may have changed`)
                : { path, replaced: 1 },
          },
        },
        *talk() {
          const { content } = yield* ask('read_file', { path }, 'result');
          yield* ask('git_pull', { remote: 'origin', branch: 'main' });
          yield* otherWork(w);
          const old_string = String(content).split('\n')[1] ?? '';
          yield* insist('edit_file', { path, old_string, new_string: '  max_connections: 200' });
          return 'Raised.';
        },
      };
    },
  },
  {
    // The read gives a resourceVersion, the patch after it a newer one; the replace sends the one of the read.
    cause: 'stale read',
    name: 'resource version of before the own patch',
    tell: (w) => {
      const name = `${w.word()}-web`;
      const version = w.int(100_000, 900_000);
      const newer = version + w.int(3, 400);
      return {
        task: `Label the deployment ${name} and set it to 4 replicas.`,
        patience: 2,
        tools: {
          ...noiseTools(w),
          kubectl_get: {
            run: ({ name }) => ({
              kind: 'Deployment',
              metadata: { name, resourceVersion: String(version) },
              spec: { replicas: 2 },
            }),
          },
          kubectl_label: {
            run: ({ name }) => ({
              metadata: {
                name,
                resourceVersion: String(w.broken ? newer : version),
                labels: { team: 'core' },
              },
            }),
          },
          kubectl_replace: {
            run: ({ name }) =>
              w.broken
                ? fail(
                    `409 Conflict: Operation cannot be fulfilled on deployments.apps "${name}": the object has been modified`,
                    'Conflict',
                  )
                : { metadata: { name, resourceVersion: String(newer) }, spec: { replicas: 4 } },
          },
        },
        *talk() {
          const { metadata } = yield* ask('kubectl_get', { kind: 'deployment', name }, 'result');
          yield* ask('kubectl_label', { kind: 'deployment', name, label: 'team=core' });
          yield* otherWork(w);
          const { resourceVersion } = metadata;
          yield* insist('kubectl_replace', { name, resourceVersion, replicas: 4 });
          return 'Four replicas.';
        },
      };
    },
  },
  {
    // The answer says that it comes from a cache and is more than a day old; the address in it is not in use any more.
    cause: 'stale read',
    name: 'address of a host from an old cache',
    tell: (w) => {
      const host = `${w.word()}-${w.int(1, 30)}.prod`;
      const [right, old] = [
        `10.4.${w.int(1, 250)}.${w.int(1, 250)}`,
        `10.9.${w.int(1, 250)}.${w.int(1, 250)}`,
      ];
      return {
        task: `Rotate the certificate of ${host}.`,
        patience: 2,
        tools: {
          ...noiseTools(w),
          cmdb_lookup: {
            run: ({ host }) =>
              w.broken
                ? { host, ip: old, source: 'cache', age_seconds: w.int(90_000, 400_000), stale: true }
                : { host, ip: right, source: 'live', age_seconds: 0, stale: false },
          },
          ssh_exec: {
            run: ({ address }) =>
              address === right
                ? { exit_code: 0, stdout: 'certificate renewed' }
                : fail(`ssh: connect to host ${address} port 22: No route to host`),
          },
        },
        *talk() {
          const { ip } = yield* ask('cmdb_lookup', { host }, 'result');
          yield* otherWork(w);
          yield* insist('ssh_exec', { address: ip, command: 'certctl renew --now' });
          return 'Rotated.';
        },
      };
    },
  },
  {
    // The same test command is run with the same result until the step limit; nothing is edited in between.
    cause: 'loop',
    name: 'tests run again with nothing changed',
    tell: (w) => {
      const test = `tests/test_${w.word()}.py::test_total`;
      return {
        task: `Find out whether ${test} passes.`,
        patience: 2,
        limits: { steps: w.distance + w.int(24, 40) },
        tools: {
          ...noiseTools(w),
          run_tests: {
            run: () =>
              w.broken
                ? { exit_code: 1, summary: '1 failed', stdout: `FAILED ${test} - assert 41 == 42` }
                : { exit_code: 0, summary: '1 passed', stdout: `PASSED ${test}` },
          },
        },
        *talk() {
          yield* otherWork(w);
          for (;;) {
            // Each of the calls of the loop is a right answer: they are the same.
            const { exit_code } = yield* ask('run_tests', { test }, 'call');
            if (exit_code === 0) return 'It passes.';
          }
        },
      };
    },
  },
  {
    // Two edits undo each other in turn, each followed by the same failing check of the other kind, until the step limit.
    cause: 'loop',
    name: 'two edits that undo each other',
    tell: (w) => {
      const path = `src/${w.word()}.ts`;
      const [one, two] = ['import { z } from "zod";', 'import z from "zod";'];
      let now = one;
      return {
        task: `Make the type check of ${path} pass.`,
        patience: 2,
        limits: { steps: w.distance + w.int(30, 50) },
        tools: {
          ...noiseTools(w),
          str_replace: {
            run: ({ new_str }) => {
              now = new_str;
              return 'The file has been edited.';
            },
          },
          tsc: {
            run: () => {
              if (!w.broken) return { exit_code: 0, stdout: '' };
              const told = now === one ? 'TS2305: no exported member z' : 'TS1192: no default export';
              return { exit_code: 2, stdout: `${path}(1,8): error ${told}` };
            },
          },
        },
        *talk() {
          yield* otherWork(w);
          for (let [from, to] = [one, two]; ; [from, to] = [to, from]) {
            yield* ask('str_replace', { path, old_str: from, new_str: to }, 'call');
            const { exit_code } = yield* ask('tsc', { project: 'tsconfig.json' }, 'call');
            if (exit_code === 0) return 'The check passes.';
          }
        },
      };
    },
  },
  {
    // The message with the id of the first delivery comes again (receive count 2, older time) and its version is set.
    cause: 'late duplicate',
    name: 'message of an older build delivered again',
    tell: (w) => {
      const [minor, at] = [w.int(10, 60), w.int(1_790_000_000, 1_799_000_000)];
      const message = (n: number, count: number) => ({
        MessageId: `m-${at + n}`,
        Body: { build: 800 + n, version: `3.${minor + n}.0` },
        Attributes: { SentTimestamp: at + n * 600, ApproximateReceiveCount: count },
      });
      const answers = [[message(0, 1)], [message(1, 1)], w.broken ? [message(0, 2)] : []];
      return {
        task: 'Work off the queue of finished builds; production must be on the newest.',
        patience: 2,
        tools: {
          ...noiseTools(w),
          sqs_receive_message: { run: () => ({ Messages: answers.shift() ?? [] }) },
          set_version: { run: ({ version }) => ({ environment: 'production', version, applied: true }) },
          verify_release: {
            run: () =>
              w.broken
                ? fail(`production runs 3.${minor}.0, the newest build is 3.${minor + 1}.0`)
                : { ok: true },
          },
        },
        *talk() {
          for (let n = 0; n < 3; n++) {
            const fault = n === 2 ? 'result' : undefined;
            const { Messages } = yield* ask('sqs_receive_message', { QueueUrl: 'builds' }, fault);
            if (Messages.length > 0) yield* ask('set_version', { version: Messages[0].Body.version });
          }
          yield* otherWork(w);
          yield* insist('verify_release', { environment: 'production' });
          return 'Production is on the newest build.';
        },
      };
    },
  },
  {
    // Two calls with one payload, the first of them timed out; the listing later holds a job of each.
    cause: 'late duplicate',
    name: 'job that was made although its call timed out',
    tell: (w) => {
      const name = `backfill-${w.word()}`;
      const jobs: string[] = [];
      let calls = 0;
      return {
        task: `Create the job ${name} and start it.`,
        patience: 2,
        tools: {
          ...noiseTools(w),
          create_job: {
            run: ({ name }) => {
              const first = ++calls === 1;
              if (!first || w.broken) jobs.push(`job-${hex(w, 8)}`);
              if (first) fail('timeout of 10000 ms exceeded, the state of the request is unknown');
              return { name, id: jobs.at(-1), state: 'PENDING' };
            },
          },
          list_jobs: { run: () => ({ jobs: jobs.map((id) => ({ id, name, state: 'PENDING' })) }) },
          start_job: {
            run: ({ name }) =>
              jobs.length > 1
                ? fail(`ambiguous: ${jobs.length} jobs are named ${name} (${jobs.join(', ')})`)
                : { state: 'RUNNING' },
          },
        },
        *talk() {
          const input = { name, schedule: 'once', image: 'etl:stable' };
          // The call that timed out and the one that made the second job are both right answers.
          yield* ask('create_job', input, 'call');
          yield* ask('create_job', input, 'call');
          yield* otherWork(w);
          yield* ask('list_jobs', { prefix: name });
          yield* insist('start_job', { name });
          return 'The job runs.';
        },
      };
    },
  },
  {
    // The search says "Permission denied" for one folder; the secret is deleted as unused and the unit in there needs it.
    cause: 'missing permission',
    name: 'folder that the search could not read',
    tell: (w) => {
      const secret = `${w.word()}_db_password`;
      const unit = `/etc/${w.word()}.d`;
      return {
        task: `Delete the secret ${secret} if nothing uses it, then restart the services.`,
        patience: 2,
        tools: {
          ...noiseTools(w),
          bash: {
            run: () => ({
              exit_code: w.broken ? 2 : 1,
              stdout: '',
              stderr: w.broken ? `grep: ${unit}: Permission denied` : '',
            }),
          },
          delete_secret: { run: ({ name }) => ({ name, deleted: true }) },
          systemctl_restart: {
            run: () =>
              w.broken
                ? fail(`Job failed: ${unit}/10-env.conf: secret ${secret} not found`)
                : { active: true },
          },
        },
        *talk() {
          yield* ask('bash', { command: `grep -rl ${secret} /etc /srv/app` }, 'result');
          yield* ask('delete_secret', { name: secret });
          yield* otherWork(w);
          yield* insist('systemctl_restart', { target: 'app.target' });
          return 'Deleted; the services are up.';
        },
      };
    },
  },
  {
    // The grant was denied with 403 and never made; the query fails for the very right that it was to give.
    cause: 'missing permission',
    name: 'grant denied early',
    tell: (w) => {
      const table = `warehouse.${w.word()}_${w.word()}`;
      const member = 'serviceAccount:report@corp.iam';
      return {
        task: `Let the report account read ${table} and run the report.`,
        patience: 2,
        tools: {
          ...noiseTools(w),
          iam_add_binding: {
            run: ({ member, role }) =>
              w.broken
                ? fail(
                    `403 PERMISSION_DENIED: the caller lacks bigquery.tables.setIamPolicy on ${table}`,
                    'PermissionDenied',
                  )
                : { etag: hex(w, 8), bindings: [{ role, members: [member] }] },
          },
          write_file: { run: ({ path, content }) => ({ path, bytes: String(content).length }) },
          run_report: {
            run: () =>
              w.broken
                ? fail(`Access Denied: Table ${table}: ${member} does not have bigquery.tables.getData`)
                : { rows: w.int(20, 900), job: hex(w, 8) },
          },
        },
        *talk() {
          const input = { resource: table, role: 'roles/bigquery.dataViewer', member };
          const granted = yield* ask('iam_add_binding', input, 'result');
          const note = isError(granted) ? 'grant: to be checked' : 'grant: done';
          yield* ask('write_file', { path: 'notes/report.md', content: note });
          yield* otherWork(w);
          yield* insist('run_report', { as: member, table });
          return 'The report is done.';
        },
      };
    },
  },
];
