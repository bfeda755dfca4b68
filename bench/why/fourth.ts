/**
 * The fourth set: other trades, languages, shapes and faults than the three before it, drawn by the seed.
 *
 * Written after the rules and not looked at since by anyone who changes one; when it has been, it belongs to the opened ones.
 */
import { pressing } from './domains.ts';
import {
  ask,
  askAll,
  type CauseName,
  fail,
  isError,
  type Loose,
  type Scenario,
  type ScenarioTool,
  type Talk,
  type Told,
  type World,
} from './world.ts';

/** Names and words of one run. */
interface Trade {
  readonly task: string;
  readonly noun: string;
  readonly ref: string;
  readonly figure: string;
  readonly newRef: (world: World) => string;
  readonly no: (value: unknown) => string;
}

const trades: readonly Trade[] = [
  {
    task: 'Registra i premi dei soci.',
    noun: 'socio',
    ref: 'tessera',
    figure: 'punti',
    newRef: (w) => `T-${w.int(4000, 9999)}-${w.int(10, 99)}`,
    no: (v) => `valore non accettato: ${String(v)}`,
  },
  {
    task: 'Feche o caixa das lojas.',
    noun: 'loja',
    ref: 'nota_fiscal',
    figure: 'valor',
    newRef: (w) => `${w.int(100, 999)}.${w.int(100, 999)}`,
    no: (v) => `"${String(v)}" não confere`,
  },
  {
    task: '회원의 예약을 정리해 주세요.',
    noun: 'member',
    ref: 'memberNo',
    figure: 'deposit',
    newRef: (w) => `KR${w.int(200_000, 999_999)}`,
    no: (v) => `'${String(v)}' 값을 사용할 수 없습니다`,
  },
  {
    task: 'Rozlicz delegacje z marca.',
    noun: 'delegacja',
    ref: 'numer',
    figure: 'kwota',
    newRef: (w) => `D/${w.int(1, 12)}/${w.int(1000, 9999)}`,
    no: (v) => `wartość ${String(v)} odrzucona`,
  },
  {
    task: 'Triage the overnight alerts and page whoever is on call.',
    noun: 'alert',
    ref: 'fingerprint',
    figure: 'threshold',
    newRef: (w) => `${w.int(1000, 9999).toString(16)}${w.int(100_000, 999_999).toString(16)}`,
    no: (v) => `pager: cannot use ${String(v)}`,
  },
  {
    task: 'Book freight for the pallets in hall 4.',
    noun: 'pallet',
    ref: 'sscc',
    figure: 'gross',
    newRef: (w) => `00${w.int(34_000_000, 39_999_999)}${w.int(1_000_000, 9_999_999)}`,
    no: (v) => `carrier rejects ${String(v)}`,
  },
  {
    task: 'Обнови карточки товаров.',
    noun: 'товар',
    ref: 'артикул',
    figure: 'цена',
    newRef: (w) => `АР-${w.int(1000, 9999)}`,
    no: (v) => `недопустимое значение: ${String(v)}`,
  },
  {
    task: 'Grade the submissions and publish the marks.',
    noun: 'submission',
    ref: 'student',
    figure: 'mark',
    newRef: (w) => `s${w.int(1_000_000, 2_999_999)}`,
    no: (v) => `registry says no to "${String(v)}"`,
  },
];

interface Set {
  readonly world: World;
  readonly t: Trade;
  readonly row: (figure?: number) => { [name: string]: Loose };
  readonly say: (payload: Loose) => unknown;
  readonly no: (value: unknown) => never;
  readonly other: () => Talk<void>;
}

type Tools = { readonly [name: string]: ScenarioTool };

const made = (s: Set, not: unknown): string => {
  for (let id = s.t.newRef(s.world); ; id = s.t.newRef(s.world)) if (id !== not) return id;
};

const define = (
  cause: CauseName,
  name: string,
  make: (s: Set) => { tools: Tools; talk: () => Talk<void>; patience?: number; limits?: { steps: number } },
): Scenario => ({
  cause,
  name,
  tell: (world): Told => {
    const t = world.pick(trades);
    const quiet = world.random() < 0.25;
    const style = world.int(0, 4);
    const firsts = new Set<string>();
    const base = world.int(1, 500);
    const s: Set = {
      world,
      t,
      row: (figure = world.money(30, 700)) => ({
        [t.ref]: t.newRef(world),
        [t.figure]: figure,
        [`${t.noun}_name`]: `${world.word()} ${world.word()}`,
      }),
      say: (payload) =>
        style === 0
          ? { ok: true, payload }
          : style === 1
            ? JSON.stringify({ v: 2, item: payload })
            : style === 2
              ? { _links: { self: '/x' }, _embedded: payload }
              : payload,
      no: (value) =>
        fail(
          quiet
            ? world.pick(['operation failed, see server log', 'unprocessable entity', 'E-5531'])
            : t.no(value),
        ),
      *other() {
        for (let done = 0, n = 0; done < world.distance; n++) {
          const pick = (n + base) % 4;
          if (pick === 0) {
            const [a, b] = yield* askAll([
              { tool: 'weather_at', input: { lat: base + n, lon: n } },
              { tool: 'timezone_at', input: { lat: base + n, lon: n } },
            ]);
            if (a === undefined || b === undefined) return;
            done += 3;
          } else {
            const input =
              pick === 1
                ? { topic: `topic ${base + n}` }
                : pick === 2
                  ? { cmd: `ls /tmp/${base + n}` }
                  : { feed: `f${base + n}` };
            const tool = pick === 1 ? 'wiki_summary' : pick === 2 ? 'run_shell' : 'rss_items';
            const got: Loose = yield* ask(tool, input);
            done += 2;
            if (isError(got)) {
              yield* ask(tool, input);
              done += 2;
            }
          }
        }
      },
    };
    const { tools, talk, patience = 2, limits } = make(s);
    const beside: Told['tools'] = {
      weather_at: {
        effects: 'read',
        run: ({ lat }) => ({ now: { temp_c: Number(lat) % 30, wind: { speed: 4, gust: null } }, alerts: [] }),
      },
      timezone_at: {
        effects: 'read',
        run: ({ lon }) => ({ zone: `Etc/GMT${Number(lon) % 12}`, dst: false }),
      },
      wiki_summary: {
        effects: 'read',
        run: ({ topic }) => `${topic} is a subject with a long history. It was first described long ago.`,
      },
      run_shell: {
        effects: 'read',
        run: ({ cmd }) => ({ stdout: `a.txt\nb.txt\n# ${cmd}\n`, stderr: '', exit_code: 0 }),
      },
      rss_items: {
        effects: 'read',
        run: ({ feed }) => {
          if (String(feed).endsWith('3') && !firsts.has(feed)) {
            firsts.add(feed);
            return fail('socket hang up', 'Unavailable');
          }
          return {
            items: String(feed).endsWith('7')
              ? []
              : [{ title: `News of ${feed}`, url: `https://x.test/${feed}` }],
            warnings: [],
          };
        },
      },
    };
    return {
      task: t.task,
      tools: { ...beside, ...tools },
      patience,
      ...(limits ? { limits } : {}),
      *talk() {
        yield* talk();
        return 'done';
      },
    };
  },
});

const read = (run: ScenarioTool['run']): ScenarioTool => ({ effects: 'read', run });
const write = (run: ScenarioTool['run'], more: Partial<ScenarioTool> = {}): ScenarioTool => ({
  effects: 'write',
  run,
  ...more,
});

export const shapesFourth: readonly Scenario[] = [
  define('truncation', 'a log of which the head was dropped, with a remark in its first line', (s) => {
    const id = s.t.newRef(s.world);
    const tail = Array.from({ length: 20 }, (_, n) => `12:0${n % 10} worker ${n} idle`).join('\n');
    return {
      tools: {
        tail_log: read(() =>
          s.world.broken
            ? `(… 1,204 earlier lines omitted …)\n${tail}\n`
            : `12:00 failed ${s.t.noun} ${id}\n${tail}\n`,
        ),
        requeue: write((input) => (input[s.t.ref] === id ? { ok: 1 } : s.no(input[s.t.ref]))),
      },
      *talk() {
        yield* ask('tail_log', { service: s.t.noun }, 'result');
        yield* s.other();
        yield* pressing({ tool: 'requeue', input: { [s.t.ref]: s.world.broken ? made(s, id) : id } });
      },
    };
  }),
  define('truncation', 'a download of which only the first bytes came', (s) => {
    const row = s.row();
    return {
      tools: {
        download: read(() => ({
          name: 'export.csv',
          bytes: s.world.broken ? 4_096 : 88_210,
          total_bytes: 88_210,
          head: Object.keys(row).join(','),
        })),
        import_rows: write(({ rows }) =>
          s.world.broken ? fail(`import: expected 912 rows, found ${rows}`) : { ok: 1 },
        ),
      },
      *talk() {
        yield* ask('download', { url: `https://files.test/${s.world.word()}.csv` }, 'result');
        yield* s.other();
        yield* pressing({
          tool: 'import_rows',
          input: { file: 'export.csv', rows: s.world.broken ? 41 : 912 },
        });
      },
    };
  }),

  define('wrong locale', 'lakhs and crores, or apostrophes, in one of the figures', (s) => {
    const all = Array.from({ length: 4 }, () => s.row(s.world.int(100_000, 900_000)));
    const odd = s.world.int(1, 2);
    const value = all[odd]?.[s.t.figure] as number;
    const written = s.world.pick([
      value.toLocaleString('en-IN'),
      value.toLocaleString('de-CH'),
      value.toLocaleString('fr-FR'),
    ]);
    return {
      tools: {
        figure_of: read(({ index }) =>
          s.say({
            ...all[Number(index)],
            ...(index === odd && s.world.broken ? { [s.t.figure]: written } : {}),
          }),
        ),
        post_all: write(() => ({ ok: 1 }), {
          input: {
            type: 'object',
            properties: { figures: { type: 'array', items: { type: 'number' } } },
            required: ['figures'],
          },
        }),
      },
      *talk() {
        for (const [index] of all.entries())
          yield* ask('figure_of', { index }, index === odd ? 'result' : undefined);
        yield* s.other();
        yield* pressing({
          tool: 'post_all',
          input: { figures: all.map((row, n) => (n === odd && s.world.broken ? written : row[s.t.figure])) },
        });
      },
    };
  }),
  define('wrong locale', 'a table in text with decimal commas between others with points', (s) => {
    const rows = Array.from({ length: 5 }, () => s.row());
    const odd = s.world.int(1, 3);
    const text = (n: number): string => {
      const value = Number(rows[n]?.[s.t.figure]).toFixed(2);
      return n === odd && s.world.broken ? value.replace('.', ',') : value;
    };
    return {
      tools: {
        sheet_row: read(({ line }) => ({
          line,
          cells: { ref: rows[Number(line)]?.[s.t.ref], figure: text(Number(line)) },
        })),
        submit: write(({ figure }) => (/^\d+\.\d\d$/.test(figure) ? { ok: 1 } : s.no(figure))),
      },
      *talk() {
        for (const [line] of rows.entries())
          yield* ask('sheet_row', { line }, line === odd ? 'result' : undefined);
        yield* s.other();
        yield* pressing({ tool: 'submit', input: { figure: text(odd) } });
      },
    };
  }),

  define('stale read', 'a file that was read, then rewritten, then edited from memory', (s) => {
    const path = `conf/${s.world.word()}.toml`;
    const old = `limit = ${s.world.int(10, 49)}\n`;
    return {
      tools: {
        open_file: read(() => old),
        format_project: write((_, ctx) => {
          if (s.world.broken)
            ctx.effect({
              kind: 'file',
              path,
              before: new TextEncoder().encode(old),
              after: new TextEncoder().encode('limit = 99\n'),
            } as never);
          return { formatted: s.world.broken ? 1 : 0 };
        }),
        replace_in_file: write(() =>
          s.world.broken ? fail('the text to be replaced does not occur in the file') : { ok: 1 },
        ),
      },
      *talk() {
        yield* ask('open_file', { path }, 'result');
        yield* ask('format_project', { root: 'conf' });
        yield* s.other();
        yield* pressing({ tool: 'replace_in_file', input: { path, find: old, put: 'limit = 5\n' } });
      },
    };
  }),
  define('stale read', 'a quote past its date of expiry', (s) => {
    const row = s.row();
    return {
      tools: {
        get_quote: read(() =>
          s.say({ ...row, quote: `Q${s.world.int(7000, 9999)}`, expired: s.world.broken }),
        ),
        accept_quote: write((input) => (s.world.broken ? s.no(input[s.t.figure]) : { ok: 1 })),
      },
      *talk() {
        yield* ask('get_quote', { [s.t.ref]: row[s.t.ref] }, 'result');
        yield* s.other();
        yield* pressing({
          tool: 'accept_quote',
          input: { [s.t.ref]: row[s.t.ref], [s.t.figure]: row[s.t.figure] },
        });
      },
    };
  }),

  define('wrong tool result', 'a lookup by name that answers for another name', (s) => {
    const [a, b] = [s.row(), s.row()];
    return {
      tools: {
        find_one: read(({ name }) =>
          s.say({
            query: { name: s.world.broken ? b[`${s.t.noun}_name`] : name },
            name: s.world.broken ? b[`${s.t.noun}_name`] : name,
            [s.t.ref]: (s.world.broken ? b : a)[s.t.ref],
          }),
        ),
        attach: write((input) => (input[s.t.ref] === a[s.t.ref] ? { ok: 1 } : s.no(input[s.t.ref]))),
      },
      *talk() {
        yield* ask('find_one', { name: a[`${s.t.noun}_name`] }, 'result');
        yield* s.other();
        yield* pressing({
          tool: 'attach',
          input: { [s.t.ref]: (s.world.broken ? b : a)[s.t.ref], to: 'case' },
        });
      },
    };
  }),
  define('wrong tool result', 'one of several records without the member that the others have', (s) => {
    const all = Array.from({ length: 5 }, () => s.row());
    const odd = s.world.int(1, 3);
    return {
      tools: {
        load: read(({ at }) => {
          const { [s.t.figure]: figure, ...rest } = all[Number(at)] as { [name: string]: Loose };
          return s.say(at === odd && s.world.broken ? rest : { ...rest, [s.t.figure]: figure });
        }),
        total_up: write(() => ({ ok: 1 }), {
          input: {
            type: 'object',
            properties: { figures: { type: 'array', items: { type: 'number' } } },
            required: ['figures'],
          },
        }),
      },
      *talk() {
        for (const [at] of all.entries()) yield* ask('load', { at }, at === odd ? 'result' : undefined);
        yield* s.other();
        yield* pressing({
          tool: 'total_up',
          input: { figures: all.map((row, n) => (n === odd && s.world.broken ? null : row[s.t.figure])) },
        });
      },
    };
  }),

  define('fabricated value', 'a file path that no listing had', (s) => {
    const files = [0, 1, 2].map(() => `in/${s.world.word()}-${s.world.int(100, 999)}.xml`);
    return {
      tools: {
        list_files: read(() => s.say({ files })),
        parse_file: read(({ path }) => (files.includes(path) ? { ok: 1 } : fail(`ENOENT: ${path}`))),
      },
      *talk() {
        yield* ask('list_files', { dir: 'in' });
        yield* s.other();
        yield* pressing({
          tool: 'parse_file',
          input: { path: s.world.broken ? `in/summary-${s.world.int(2000, 2999)}.xml` : (files[1] ?? '') },
          fault: 'call',
        });
      },
    };
  }),
  define('fabricated value', 'a sum that is off, written by the model', (s) => {
    const all = Array.from({ length: 3 }, () => s.row());
    const right = Math.round(all.reduce((sum, row) => sum + (row[s.t.figure] as number), 0) * 100) / 100;
    const total = s.world.broken ? Math.round((right + s.world.int(11, 97)) * 100) / 100 : right;
    return {
      tools: {
        rows_of: read(() => s.say({ rows: all })),
        declare: write((input) => (input.total === right ? { ok: 1 } : s.no(input.total))),
      },
      *talk() {
        yield* ask('rows_of', { state: 'all' });
        yield* s.other();
        yield* pressing({ tool: 'declare', input: { total }, fault: 'call' });
      },
    };
  }),

  define('loop', 'polling a job that never moves', (s) => {
    const job = `job-${s.world.int(1000, 9999)}`;
    return {
      limits: { steps: s.world.broken ? s.world.distance + 60 : 400 },
      tools: {
        job_state: read(() => s.say({ job, phase: s.world.broken ? 'queued' : 'finished', percent: 0 })),
      },
      *talk() {
        yield* s.other();
        yield* ask('job_state', { job }, 'call');
        for (let n = 0; s.world.broken && n < 200; n++) yield* ask('job_state', { job });
      },
    };
  }),
  define('loop', 'a patch that fails the same way each time', (s) => ({
    limits: { steps: s.world.broken ? s.world.distance + 60 : 400 },
    patience: 300,
    tools: { apply_patch: write(() => (s.world.broken ? fail('hunk 1 failed at line 40') : { ok: 1 })) },
    *talk() {
      yield* s.other();
      yield* ask('apply_patch', { file: `src/${s.t.noun}.c`, hunk: '@@ -40 +40 @@' }, 'call');
      for (let n = 0; s.world.broken && n < 200; n++)
        yield* ask('apply_patch', { file: `src/${s.t.noun}.c`, hunk: '@@ -40 +40 @@' });
    },
  })),

  define('swallowed error', 'a script that prints its failure and ends with zero', (s) => {
    const row = s.row();
    return {
      tools: {
        run_job: write(() => ({
          stdout: s.world.broken ? 'Error: cannot open database: locked\n' : `saved ${row[s.t.ref]}\n`,
          exit_code: 0,
        })),
        confirm: write((input) =>
          s.world.broken ? fail(`${input[s.t.ref]} is unknown to the register`) : { ok: 1 },
        ),
      },
      *talk() {
        yield* ask('run_job', { script: 'load.sh', [s.t.ref]: row[s.t.ref] }, 'result');
        yield* s.other();
        yield* pressing({ tool: 'confirm', input: { [s.t.ref]: row[s.t.ref] } });
      },
    };
  }),
  define('swallowed error', 'a bulk answer with one entry that went wrong', (s) => {
    const rows = [s.row(), s.row(), s.row()];
    return {
      tools: {
        bulk_save: write(() =>
          s.say({
            entries: rows.map((row, n) => ({
              [s.t.ref]: row[s.t.ref],
              status: s.world.broken && n === 1 ? 'error' : 'stored',
              code: s.world.broken && n === 1 ? 409 : 201,
            })),
          }),
        ),
        ship: write((input) => (s.world.broken ? fail(`nothing stored under ${input[s.t.ref]}`) : { ok: 1 })),
      },
      *talk() {
        yield* ask('bulk_save', { rows }, 'result');
        yield* s.other();
        yield* pressing({ tool: 'ship', input: { [s.t.ref]: rows[1]?.[s.t.ref] } });
      },
    };
  }),

  define('retry with changed payload', 'another key for the same order after a gateway error', (s) => {
    const row = s.row();
    let tries = 0;
    return {
      tools: {
        create_entry: write(() =>
          ++tries === 1 ? fail('504 gateway timeout', 'Unavailable') : { created: true },
        ),
        close_day: write(() => (s.world.broken ? fail('two entries with one purpose') : { ok: 1 })),
      },
      *talk() {
        const input = {
          [s.t.ref]: row[s.t.ref],
          [s.t.figure]: row[s.t.figure],
          request_key: `k-${s.world.int(1000, 4999)}`,
        };
        yield* ask('create_entry', input);
        yield* ask(
          'create_entry',
          s.world.broken ? { ...input, request_key: `k-${s.world.int(5000, 9999)}` } : input,
          'call',
        );
        yield* s.other();
        yield* pressing({ tool: 'close_day', input: { day: 'today' } });
      },
    };
  }),
  define('retry with changed payload', 'rounded in the second attempt', (s) => {
    const row = s.row(s.world.int(100, 900) + 0.37);
    let tries = 0;
    return {
      tools: {
        transfer: write(() =>
          ++tries === 1 ? fail('temporary failure in name resolution', 'Unavailable') : { done: true },
        ),
        reconcile: write(() => (s.world.broken ? fail('difference of 0.37 left over') : { ok: 1 })),
      },
      *talk() {
        yield* ask('transfer', { to: row[s.t.ref], sum: row[s.t.figure], memo: 'march' });
        yield* ask(
          'transfer',
          {
            to: row[s.t.ref],
            sum: s.world.broken ? Math.floor(row[s.t.figure] as number) : row[s.t.figure],
            memo: 'march',
          },
          'call',
        );
        yield* s.other();
        yield* pressing({ tool: 'reconcile', input: { month: '03' } });
      },
    };
  }),

  define('late duplicate', 'an order that was placed twice after a cut connection', (s) => {
    const row = s.row();
    let n = 0;
    return {
      tools: {
        submit_order: write(
          () =>
            ++n === 1 && s.world.broken
              ? fail('connection lost while waiting for the answer', 'OutcomeUnknown')
              : { order: `O-${n}` },
          { effects: 'external' },
        ),
        pack: write(() => (s.world.broken ? fail('two orders for one basket') : { ok: 1 })),
      },
      *talk() {
        const input = { basket: row[s.t.ref], sum: row[s.t.figure] };
        yield* ask('submit_order', input, s.world.broken ? undefined : 'result');
        if (s.world.broken) yield* ask('submit_order', input, 'result');
        yield* s.other();
        yield* pressing({ tool: 'pack', input: { basket: row[s.t.ref] } });
      },
    };
  }),
  define('late duplicate', 'a reading that is the one of the hour before', (s) => {
    const readings = [s.row(), s.row(), s.row(), s.row()];
    return {
      tools: {
        meter: read(({ hour }) =>
          s.say({ ...readings[s.world.broken && hour === 3 ? 2 : Number(hour)], quality: 'good' }),
        ),
        bill: write((input) =>
          input[s.t.figure] === readings[3]?.[s.t.figure] ? { ok: 1 } : s.no(input[s.t.figure]),
        ),
      },
      *talk() {
        for (const hour of [0, 1, 2, 3]) yield* ask('meter', { hour }, hour === 3 ? 'result' : undefined);
        yield* s.other();
        yield* pressing({
          tool: 'bill',
          input: { [s.t.figure]: readings[s.world.broken ? 2 : 3]?.[s.t.figure] },
        });
      },
    };
  }),

  define('missing permission', 'a token without the scope, said in the body of a success', (s) => {
    const row = s.row();
    return {
      tools: {
        fetch_private: read(() =>
          s.world.broken ? s.say({ visible: false, reason: 'token lacks scope members:read' }) : s.say(row),
        ),
        mail_member: write((input) => (input[s.t.ref] === row[s.t.ref] ? { ok: 1 } : s.no(input[s.t.ref]))),
      },
      *talk() {
        yield* ask('fetch_private', { latest: 1 }, 'result');
        yield* s.other();
        yield* pressing({
          tool: 'mail_member',
          input: { [s.t.ref]: s.world.broken ? made(s, row[s.t.ref]) : row[s.t.ref] },
        });
      },
    };
  }),
  define('missing permission', 'a shell that may not read the file', (s) => {
    const row = s.row();
    return {
      tools: {
        shell: read(() =>
          s.world.broken
            ? { stdout: '', stderr: 'cat: /etc/members.csv: Permission denied\n', exit_code: 1 }
            : { stdout: `${row[s.t.ref]}\n`, stderr: '', exit_code: 0 },
        ),
        invite: write((input) => (input[s.t.ref] === row[s.t.ref] ? { ok: 1 } : s.no(input[s.t.ref]))),
      },
      *talk() {
        yield* ask('shell', { argv: ['cat', '/etc/members.csv'] }, 'result');
        yield* s.other();
        yield* pressing({
          tool: 'invite',
          input: { [s.t.ref]: s.world.broken ? made(s, row[s.t.ref]) : row[s.t.ref] },
        });
      },
    };
  }),

  define('wrong unit', 'one sensor in another unit than the rest, named in the member', (s) => {
    const all = Array.from({ length: 4 }, () => s.world.int(200, 400) / 10);
    const odd = s.world.int(1, 2);
    const [usual, other, factor] = s.world.pick([
      ['temp_c', 'temp_f', 1.8],
      ['length_m', 'length_ft', 3.28],
      ['mass_kg', 'mass_lb', 2.2],
    ] as const);
    const shown = (n: number): number =>
      n === odd && s.world.broken ? Math.round((all[n] ?? 0) * factor * 10) / 10 : (all[n] ?? 0);
    return {
      tools: {
        sensor: read(({ no }) =>
          s.say({ no, at: `bay ${no}`, [no === odd && s.world.broken ? other : usual]: shown(Number(no)) }),
        ),
        set_point: write(({ target }) => (s.world.broken ? s.no(target) : { ok: 1 })),
      },
      *talk() {
        for (const [no] of all.entries()) yield* ask('sensor', { no }, no === odd ? 'result' : undefined);
        yield* s.other();
        yield* pressing({ tool: 'set_point', input: { target: shown(odd) } });
      },
    };
  }),
  define('wrong unit', 'minutes for seconds, multiplied by the model', (s) => {
    const value = s.world.int(11, 55);
    return {
      tools: {
        job_config: read(() => s.say({ [s.t.ref]: s.t.newRef(s.world), timeout_seconds: value * 60 })),
        start_job: write(({ timeout_seconds: given }) => (given === value * 60 ? { ok: 1 } : s.no(given))),
      },
      *talk() {
        yield* ask('job_config', { name: s.t.noun });
        yield* s.other();
        yield* pressing({
          tool: 'start_job',
          input: { name: s.t.noun, timeout_seconds: s.world.broken ? value * 3600 : value * 60 },
          fault: 'call',
        });
      },
    };
  }),

  define('dropped page', 'a cursor that was skipped over', (s) => {
    const pages = [[s.row()], [s.row()], [s.row()]];
    const wanted = pages[1]?.[0]?.[s.t.ref];
    const tokens = ['', `c${s.world.int(100_000, 499_999)}`, `c${s.world.int(500_000, 999_999)}`];
    return {
      tools: {
        scroll: read(({ cursor }) => {
          const at = Math.max(0, tokens.indexOf(String(cursor ?? '')));
          return { hits: pages[at], next_cursor: tokens[at + 1] ?? null };
        }),
        mark: write((input) => (input[s.t.ref] === wanted ? { ok: 1 } : s.no(input[s.t.ref]))),
      },
      *talk() {
        yield* ask('scroll', {}, 'result');
        if (!s.world.broken) {
          yield* ask('scroll', { cursor: tokens[1] ?? '' });
          yield* ask('scroll', { cursor: tokens[2] ?? '' });
        }
        yield* s.other();
        yield* pressing({ tool: 'mark', input: { [s.t.ref]: s.world.broken ? made(s, wanted) : wanted } });
      },
    };
  }),
  define('dropped page', 'the second of three parts of a document', (s) => {
    const id = s.t.newRef(s.world);
    const parts = [`Part one names nothing.`, `The ${s.t.ref} is ${id}.`, `Part three ends.`];
    return {
      tools: {
        read_part: read(({ part }) => ({ part, of: 3, text: parts[Number(part) - 1] })),
        register: write((input) => (input[s.t.ref] === id ? { ok: 1 } : s.no(input[s.t.ref]))),
      },
      *talk() {
        for (const part of [1, 2, 3]) {
          if (part === 2 && s.world.broken) continue;
          yield* ask('read_part', { part }, part === 3 ? 'call' : undefined);
        }
        if (!s.world.broken) yield* ask('read_part', { part: 2 }, 'call');
        yield* s.other();
        yield* pressing({ tool: 'register', input: { [s.t.ref]: s.world.broken ? made(s, id) : id } });
      },
    };
  }),
];
