/**
 * The third set: three kinds of fault for each cause, each in any trade, language, wrapping and length that the seed draws.
 *
 * Written after the rules and not looked at since by anyone who changes one; when it has been, it belongs to the opened ones.
 */
import { type Domain, domains, pressing, refusal, sideTools, type Wrap, wrapping } from './domains.ts';
import {
  ask,
  type CauseName,
  fail,
  type Loose,
  type Scenario,
  type ScenarioTool,
  type Talk,
  type Told,
  type World,
} from './world.ts';

interface Kit {
  readonly world: World;
  readonly d: Domain;
  readonly wrap: Wrap;
  readonly refuse: (value: unknown) => never;
  readonly idle: () => Talk<void>;
  readonly side: Told['tools'];
  /** A record of the trade, with an amount of this size. */
  readonly record: (amount?: number) => { [name: string]: Loose };
}

function kit(world: World, about: (d: Domain) => string): Kit {
  const d = world.pick(domains);
  const wrap = wrapping(world);
  const say = refusal(world, d, about(d));
  const { tools, idle } = sideTools(world);
  return {
    world,
    d,
    wrap,
    refuse: (value) => fail(say(value)),
    idle,
    side: tools,
    record: (amount = world.money()) => ({
      [d.key]: d.id(world),
      [d.label]: d.text(world),
      [d.amount]: amount,
    }),
  };
}

type Tools = { readonly [name: string]: ScenarioTool };

const scenario = (
  cause: CauseName,
  name: string,
  about: (d: Domain) => string,
  make: (k: Kit) => { tools: Tools; talk: () => Talk<void>; patience?: number; limits?: { steps: number } },
): Scenario => ({
  cause,
  name,
  tell: (world) => {
    const k = kit(world, about);
    const { tools, talk, patience = 2, limits } = make(k);
    return {
      task: k.d.task,
      tools: { ...k.side, ...tools },
      patience,
      ...(limits ? { limits } : {}),
      *talk() {
        yield* talk();
        return 'OK.';
      },
    };
  },
});

const read = (run: ScenarioTool['run']): ScenarioTool => ({ effects: 'read', run });
const act = (run: ScenarioTool['run'], more: Partial<ScenarioTool> = {}): ScenarioTool => ({
  effects: 'external',
  run,
  ...more,
});
const made = (world: World, d: Domain, not: unknown): string => {
  for (;;) {
    const id = d.id(world);
    if (id !== not) return id;
  }
};
const key = (d: Domain): string => d.key;
const amount = (d: Domain): string => d.amount;
const comma = (value: number): string => value.toFixed(2).replace('.', ',');

export const shapesThird: readonly Scenario[] = [
  scenario(
    'truncation',
    'a long text that stops before the passage that was needed',
    key,
    ({ world, d, idle, refuse }) => {
      const id = d.id(world);
      const lines = Array.from({ length: 60 }, (_, n) => `§${n + 1} ${d.text(world)} – ${d.text(world)}.`);
      const whole = `${lines.join('\n')}\n${d.key}: ${id}\n`;
      return {
        tools: {
          [`${d.get}_text`]: read(() =>
            world.broken ? whole.slice(0, world.pick([1024, 1187, 2000])) : whole,
          ),
          [d.act]: act((input) => (input[d.key] === id ? { done: true } : refuse(input[d.key]))),
        },
        *talk() {
          yield* ask(`${d.get}_text`, { document: 'main' }, 'result');
          yield* idle();
          yield* pressing({ tool: d.act, input: { [d.key]: world.broken ? made(world, d, id) : id } });
        },
      };
    },
  ),
  scenario(
    'truncation',
    'a list cut at the limit of the call',
    key,
    ({ world, d, idle, refuse, record, wrap }) => {
      const limit = world.pick([5, 10, 20]);
      const all = Array.from({ length: limit + 4 }, () => record());
      const wanted = all.at(-1)?.[d.key] as string;
      return {
        tools: {
          [d.list]: read(() => wrap({ [d.rows]: world.broken ? all.slice(0, limit) : all, limit })),
          [d.act]: act((input) => (input[d.key] === wanted ? { done: true } : refuse(input[d.key]))),
        },
        *talk() {
          yield* ask(d.list, { limit }, 'result');
          yield* idle();
          yield* pressing({
            tool: d.act,
            input: { [d.key]: world.broken ? made(world, d, wanted) : wanted },
          });
        },
      };
    },
  ),
  scenario(
    'truncation',
    'a table or document in text that breaks off',
    amount,
    ({ world, d, idle, refuse, record }) => {
      const all = Array.from({ length: 12 }, () => record());
      const last = all.at(-1)?.[d.amount] as number;
      const text = world.pick([
        () =>
          [Object.keys(all[0] ?? {}).join(';'), ...all.map((row) => Object.values(row).join(';'))].join('\n'),
        () => JSON.stringify(all, null, 1),
        () =>
          `<${d.rows}>${all.map((row) => `<r a="${row[d.key]}">${row[d.amount]}</r>`).join('\n')}</${d.rows}>`,
      ])();
      return {
        tools: {
          [`${d.list}_export`]: read(() =>
            world.broken ? text.slice(0, Math.floor(text.length * 0.7)) : text,
          ),
          [d.act]: act((input) => (input[d.amount] === last ? { done: true } : refuse(input[d.amount]))),
        },
        *talk() {
          yield* ask(`${d.list}_export`, { format: 'text' }, 'result');
          yield* idle();
          yield* pressing({
            tool: d.act,
            input: { [d.amount]: world.broken ? world.money(1000, 2000) : last },
          });
        },
      };
    },
  ),

  scenario(
    'wrong locale',
    'one record with the numbers of another country',
    amount,
    ({ world, d, idle, record, wrap }) => {
      const all = Array.from({ length: 5 }, () => record());
      const odd = world.int(1, 3);
      const value = world.money(1000, 9000);
      const local = world.pick([
        comma(value),
        value.toLocaleString('de-DE'),
        `${Math.floor(value / 1000)}’${(value % 1000).toFixed(2).padStart(6, '0')}`,
      ]);
      return {
        tools: {
          [d.get]: read(({ n }) =>
            wrap({ ...all[Number(n)], ...(n === odd ? { [d.amount]: world.broken ? local : value } : {}) }),
          ),
          [d.act]: act(() => ({ done: true }), {
            input: {
              type: 'object',
              properties: { values: { type: 'array', items: { type: 'number' } } },
              required: ['values'],
            },
          }),
        },
        *talk() {
          for (const [n] of all.entries()) yield* ask(d.get, { n }, n === odd ? 'result' : undefined);
          yield* idle();
          const values = all.map((row, n) => (n === odd ? (world.broken ? local : value) : row[d.amount]));
          yield* pressing({ tool: d.act, input: { values } });
        },
      };
    },
  ),
  scenario(
    'wrong locale',
    'a date the other way round in one of the records',
    () => 'date',
    ({ world, d, idle, record, wrap, refuse }) => {
      const all = Array.from({ length: 5 }, (_, n) => ({
        ...record(),
        date: `2026-0${n + 2}-${world.int(13, 28)}`,
      }));
      const odd = world.int(1, 3);
      const shown = (all[odd]?.date ?? '')
        .split('-')
        .reverse()
        .join(world.pick(['.', '/']));
      return {
        tools: {
          [d.get]: read(({ n }) =>
            wrap({ ...all[Number(n)], ...(n === odd && world.broken ? { date: shown } : {}) }),
          ),
          [d.act]: act(({ date }) => (/^\d{4}-/.test(date) ? { done: true } : refuse(date))),
        },
        *talk() {
          for (const [n] of all.entries()) yield* ask(d.get, { n }, n === odd ? 'result' : undefined);
          yield* idle();
          yield* pressing({ tool: d.act, input: { date: world.broken ? shown : (all[odd]?.date ?? '') } });
        },
      };
    },
  ),
  scenario(
    'wrong locale',
    'the model reads a thousands separator as a decimal point',
    amount,
    ({ world, d, idle, record, wrap, refuse }) => {
      const value = world.int(1200, 9800);
      const written = value.toLocaleString('de-DE');
      const row = { ...record(), [d.amount]: written };
      return {
        tools: {
          [d.get]: read(() => wrap(row)),
          [d.act]: act((input) => (input[d.amount] === value ? { done: true } : refuse(input[d.amount]))),
        },
        *talk() {
          yield* ask(d.get, { [d.key]: row[d.key] });
          yield* idle();
          yield* pressing({
            tool: d.act,
            input: { [d.key]: row[d.key], [d.amount]: world.broken ? value / 1000 : value },
            fault: 'call',
          });
        },
      };
    },
  ),

  scenario(
    'stale read',
    'a cached answer that says so deep inside',
    amount,
    ({ world, d, idle, record, refuse }) => {
      const row = record();
      const now = world.money();
      const mark = world.pick<Loose>([
        { cache: { hit: true, age_s: 90_211 } },
        { served_from: 'cache' },
        { stale: true },
        { freshness: { is_stale: true } },
      ]);
      return {
        tools: {
          [d.get]: read(() => ({
            ...row,
            [d.amount]: world.broken ? row[d.amount] : now,
            info: world.broken ? mark : { cache: { hit: false } },
          })),
          [d.act]: act((input) => (input[d.amount] === now ? { done: true } : refuse(input[d.amount]))),
        },
        *talk() {
          const seen = yield* ask(d.get, { [d.key]: row[d.key] }, 'result');
          yield* idle();
          yield* pressing({ tool: d.act, input: { [d.key]: row[d.key], [d.amount]: seen[d.amount] } });
        },
      };
    },
  ),
  scenario(
    'stale read',
    'a record that was changed in between and not read again',
    amount,
    ({ world, d, idle, record, wrap }) => {
      const row = record();
      const other = world.money();
      return {
        tools: {
          [d.get]: read(() => wrap(row)),
          [d.change]: { effects: 'write', run: () => ({ saved: true }) },
          [d.act]: act((input) =>
            world.broken ? fail(`${input[d.key]} has changed since it was read`) : { done: true },
          ),
        },
        *talk() {
          yield* ask(d.get, { [d.key]: row[d.key] }, 'result');
          if (world.broken) yield* ask(d.change, { [d.key]: row[d.key], [d.amount]: other });
          yield* idle();
          yield* pressing({ tool: d.act, input: { [d.key]: row[d.key], [d.amount]: row[d.amount] } });
        },
      };
    },
  ),
  scenario(
    'stale read',
    'an old revision, while a listing shows a newer one',
    () => 'revision',
    ({ world, d, idle, record, wrap }) => {
      const row = record();
      const [old, now] = [world.int(2, 9), world.int(10, 30)];
      return {
        tools: {
          [d.get]: read(() => ({ ...row, revision: world.broken ? old : now })),
          [d.list]: read(() => wrap({ [d.rows]: [{ ...row, revision: now }] })),
          [d.act]: act(({ revision }) =>
            revision === now
              ? { done: true }
              : fail(`revision ${revision} is out of date, current is ${now}`),
          ),
        },
        *talk() {
          const { revision } = yield* ask(d.get, { [d.key]: row[d.key] }, 'result');
          yield* ask(d.list, { state: 'open' });
          yield* idle();
          yield* pressing({ tool: d.act, input: { [d.key]: row[d.key], revision } });
        },
      };
    },
  ),

  scenario(
    'wrong tool result',
    'the answer for another record',
    amount,
    ({ world, d, idle, record, wrap, refuse }) => {
      const [asked, other] = [record(), record()];
      return {
        tools: {
          [d.get]: read(() => wrap(world.broken ? other : asked)),
          [d.act]: act((input) =>
            input[d.amount] === asked[d.amount] ? { done: true } : refuse(input[d.amount]),
          ),
        },
        *talk() {
          yield* ask(d.get, { [d.key]: asked[d.key] }, 'result');
          yield* idle();
          const value = (world.broken ? other : asked)[d.amount];
          yield* pressing({ tool: d.act, input: { [d.key]: asked[d.key], [d.amount]: value } });
        },
      };
    },
  ),
  scenario(
    'wrong tool result',
    'a record in which a member is of another kind',
    amount,
    ({ world, d, idle, record, wrap }) => {
      const all = Array.from({ length: 5 }, () => record());
      const odd = world.int(1, 3);
      const wrong = world.pick<Loose>([null, 'n/a', '—', [], false, '未知']);
      return {
        tools: {
          [d.get]: read(({ n }) =>
            wrap({ ...all[Number(n)], ...(n === odd && world.broken ? { [d.amount]: wrong } : {}) }),
          ),
          [d.act]: act(() => ({ done: true }), {
            input: {
              type: 'object',
              properties: { values: { type: 'array', items: { type: 'number' } } },
              required: ['values'],
            },
          }),
        },
        *talk() {
          for (const [n] of all.entries()) yield* ask(d.get, { n }, n === odd ? 'result' : undefined);
          yield* idle();
          const values = all.map((row, n) => (n === odd && world.broken ? wrong : row[d.amount]));
          yield* pressing({ tool: d.act, input: { values } });
        },
      };
    },
  ),
  scenario(
    'wrong tool result',
    'a stated sum that is not the sum of its lines',
    () => 'total',
    ({ world, d, idle, record, wrap, refuse }) => {
      const lines = Array.from({ length: 4 }, () => record());
      const right = Math.round(lines.reduce((sum, row) => sum + (row[d.amount] as number), 0) * 100) / 100;
      const total = world.broken ? Math.round((right + world.money(3, 40)) * 100) / 100 : right;
      return {
        tools: {
          [d.list]: read(() => wrap({ lines, total })),
          [d.act]: act(({ total: given }) => (given === right ? { done: true } : refuse(given))),
        },
        *talk() {
          yield* ask(d.list, { state: 'open' }, 'result');
          yield* idle();
          yield* pressing({ tool: d.act, input: { total } });
        },
      };
    },
  ),

  scenario(
    'fabricated value',
    'a key that nobody ever mentioned',
    key,
    ({ world, d, idle, record, wrap, refuse }) => {
      const rows = [record(), record()];
      const id = rows[0]?.[d.key];
      return {
        tools: {
          [d.list]: read(() => wrap({ [d.rows]: rows })),
          [d.act]: act((input) => (input[d.key] === id ? { done: true } : refuse(input[d.key]))),
        },
        *talk() {
          yield* ask(d.list, { state: 'open' });
          yield* idle();
          yield* pressing({
            tool: d.act,
            input: { [d.key]: world.broken ? made(world, d, id) : id, mode: 'now' },
            fault: 'call',
          });
        },
      };
    },
  ),
  scenario(
    'fabricated value',
    'two digits of a key exchanged',
    key,
    ({ world, d, idle, record, wrap, refuse }) => {
      const row = record();
      const id = row[d.key] as string;
      const swapped = id.replace(/(\d)(?!\1)(\d)/, '$2$1');
      return {
        tools: {
          [d.get]: read(() => wrap(row)),
          [d.act]: act((input) => (input[d.key] === id ? { done: true } : refuse(input[d.key]))),
        },
        *talk() {
          yield* ask(d.get, { latest: true });
          yield* idle();
          yield* pressing({
            tool: d.act,
            input: { [d.key]: world.broken ? (swapped === id ? `${id}7` : swapped) : id },
            fault: 'call',
          });
        },
      };
    },
  ),
  scenario(
    'fabricated value',
    'an amount that no record has',
    amount,
    ({ world, d, idle, record, wrap, refuse }) => {
      const row = record();
      return {
        tools: {
          [d.get]: read(() => wrap(row)),
          [d.act]: act((input) =>
            input[d.amount] === row[d.amount] ? { done: true } : refuse(input[d.amount]),
          ),
        },
        *talk() {
          yield* ask(d.get, { [d.key]: row[d.key] });
          yield* idle();
          const value = world.broken ? world.money(1000, 5000) : row[d.amount];
          yield* pressing({ tool: d.act, input: { [d.key]: row[d.key], [d.amount]: value }, fault: 'call' });
        },
      };
    },
  ),

  scenario(
    'loop',
    'the same question until the steps are used up',
    key,
    ({ world, d, idle, record, wrap }) => {
      const row = record();
      return {
        limits: { steps: world.broken ? world.distance + 60 : 400 },
        tools: { [d.get]: read(() => wrap(row)), [d.act]: act(() => ({ done: true })) },
        *talk() {
          yield* idle();
          yield* ask(d.get, { [d.key]: row[d.key] }, 'call');
          for (let n = 0; world.broken && n < 200; n++) yield* ask(d.get, { [d.key]: row[d.key] });
          yield* ask(d.act, { [d.key]: row[d.key] });
        },
      };
    },
  ),
  scenario('loop', 'two calls in turn, over and over', key, ({ world, d, idle, record, wrap }) => {
    const row = record();
    return {
      limits: { steps: world.broken ? world.distance + 70 : 400 },
      tools: {
        [d.get]: read(() => wrap(row)),
        [d.list]: read(() => wrap({ [d.rows]: [row] })),
        [d.act]: act(() => ({ done: true })),
      },
      *talk() {
        yield* idle();
        yield* ask(d.get, { [d.key]: row[d.key] }, 'call');
        yield* ask(d.list, { state: 'open' }, 'call');
        for (let n = 0; world.broken && n < 200; n++) {
          yield* ask(d.get, { [d.key]: row[d.key] });
          yield* ask(d.list, { state: 'open' });
        }
        yield* ask(d.act, { [d.key]: row[d.key] });
      },
    };
  }),
  scenario('loop', 'one search in ever other words that finds nothing', key, ({ world, d, idle, wrap }) => ({
    limits: { steps: world.broken ? world.distance + 60 : 400 },
    tools: {
      [`${d.list}_search`]: read(() => wrap({ hits: [], searched: 'all' })),
      [d.act]: act(() => ({ done: true })),
    },
    *talk() {
      yield* idle();
      yield* ask(`${d.list}_search`, { q: d.text(world) }, 'call');
      for (let n = 0; world.broken && n < 200; n++)
        yield* ask(`${d.list}_search`, { q: `${d.text(world)} ${n}` });
      yield* ask(d.act, { note: 'none' });
    },
  })),

  scenario('swallowed error', 'errors beside empty data', key, ({ world, d, idle, record, refuse }) => {
    const row = record();
    const id = row[d.key];
    const bad = world.pick<Loose>([
      { data: null, errors: [{ message: 'resolver timed out', path: [d.rows] }] },
      { status: 'ok', result: { ok: false, reason: 'upstream closed the connection' } },
      { success: 'false', payload: {} },
      { meta: { status: 503 }, data: [] },
    ]);
    return {
      tools: {
        [d.get]: read(() => (world.broken ? bad : { data: row, errors: [] })),
        [d.act]: act((input) => (input[d.key] === id ? { done: true } : refuse(input[d.key]))),
      },
      *talk() {
        yield* ask(d.get, { latest: true }, 'result');
        yield* idle();
        yield* pressing({ tool: d.act, input: { [d.key]: world.broken ? made(world, d, id) : id } });
      },
    };
  }),
  scenario(
    'swallowed error',
    'an error as the text of a result',
    key,
    ({ world, d, idle, record, refuse }) => {
      const row = record();
      const id = row[d.key];
      const said: { readonly [language in Domain['language']]: string } = {
        en: 'Error: connection refused by the records service',
        de: 'Fehler: Der Dienst antwortet nicht.',
        zh: '错误：服务没有响应',
        fr: 'Erreur : le service ne répond pas',
        es: 'Error: el servicio no responde',
        ja: 'エラー：サービスが応答しません',
      };
      const text = world.pick([
        said[d.language],
        `<html><head><title>502 Bad Gateway</title></head><body></body></html>`,
        'Traceback (most recent call last):\n  File "srv.py", line 4\nKeyError: 0',
      ]);
      return {
        tools: {
          [d.get]: read(() => (world.broken ? text : `${d.key}: ${id}`)),
          [d.act]: act((input) => (input[d.key] === id ? { done: true } : refuse(input[d.key]))),
        },
        *talk() {
          yield* ask(d.get, { latest: true }, 'result');
          yield* idle();
          yield* pressing({ tool: d.act, input: { [d.key]: world.broken ? made(world, d, id) : id } });
        },
      };
    },
  ),
  scenario('swallowed error', 'a write of which a part failed', key, ({ world, d, idle, record }) => {
    const rows = [record(), record(), record()];
    const part = world.pick<Loose>([
      { saved: 1, failed: 2 },
      { results: rows.map((row, n) => ({ ...row, status: n === 1 ? 'failed' : 'ok' })) },
      { accepted: 2, rejected: 1 },
      { exit_code: 3, stdout: '' },
    ]);
    return {
      tools: {
        [d.change]: { effects: 'write', run: () => (world.broken ? part : { saved: 3, failed: 0 }) },
        [d.act]: act((input) =>
          world.broken ? fail(`${input[d.key]} is not in the system`) : { done: true },
        ),
      },
      *talk() {
        yield* ask(d.change, { [d.rows]: rows }, 'result');
        yield* idle();
        yield* pressing({ tool: d.act, input: { [d.key]: rows[1]?.[d.key] } });
      },
    };
  }),

  scenario(
    'retry with changed payload',
    'another amount after a time-out',
    amount,
    ({ world, d, idle, record }) => {
      const row = record();
      let tries = 0;
      return {
        tools: {
          [d.change]: {
            effects: 'write',
            run: () => (++tries === 1 ? fail('no answer within 10 s', 'ToolTimeout') : { saved: true }),
          },
          [d.act]: act(() => (world.broken ? fail('ledger and request disagree') : { done: true })),
        },
        patience: 2,
        *talk() {
          yield* ask(d.change, { [d.key]: row[d.key], [d.amount]: row[d.amount] as number, currency: 'EUR' });
          yield* ask(
            d.change,
            {
              [d.key]: row[d.key],
              [d.amount]: world.broken ? (row[d.amount] as number) + 10 : row[d.amount],
              currency: 'EUR',
            },
            'call',
          );
          yield* idle();
          yield* pressing({ tool: d.act, input: { [d.key]: row[d.key] } });
        },
      };
    },
  ),
  scenario(
    'retry with changed payload',
    'another receiver after a refused connection',
    (d) => d.label,
    ({ world, d, idle, record }) => {
      const [row, other] = [record(), record()];
      let tries = 0;
      return {
        tools: {
          [d.change]: {
            effects: 'write',
            run: () => (++tries === 1 ? fail('503 service unavailable', 'Unavailable') : { saved: true }),
          },
          [d.act]: act((input) =>
            world.broken ? fail(`nothing is booked for ${input[d.label]}`) : { done: true },
          ),
        },
        *talk() {
          yield* ask(d.change, { [d.label]: row[d.label], [d.amount]: row[d.amount], ref: row[d.key] });
          yield* ask(
            d.change,
            {
              [d.label]: world.broken ? other[d.label] : row[d.label],
              [d.amount]: row[d.amount],
              ref: row[d.key],
            },
            'call',
          );
          yield* idle();
          yield* pressing({ tool: d.act, input: { [d.label]: row[d.label] } });
        },
      };
    },
  ),
  scenario(
    'retry with changed payload',
    'a field left out in the second attempt',
    key,
    ({ world, d, idle, record }) => {
      const row = record();
      let tries = 0;
      return {
        tools: {
          [d.change]: {
            effects: 'write',
            run: () => (++tries === 1 ? fail('connection reset by peer', 'Unavailable') : { saved: true }),
          },
          [d.act]: act(() =>
            world.broken ? fail('a required approval is missing on the stored record') : { done: true },
          ),
        },
        *talk() {
          const whole = {
            [d.key]: row[d.key],
            [d.amount]: row[d.amount],
            approved_by: 'Ana',
            channel: 'web',
          };
          yield* ask(d.change, whole);
          const { approved_by, ...rest } = whole;
          yield* ask(d.change, world.broken ? rest : { ...rest, approved_by }, 'call');
          yield* idle();
          yield* pressing({ tool: d.act, input: { [d.key]: row[d.key] } });
        },
      };
    },
  ),

  scenario(
    'late duplicate',
    'a charge that timed out and was made again',
    key,
    ({ world, d, idle, record }) => {
      const row = record();
      let tries = 0;
      return {
        tools: {
          [d.change]: {
            effects: 'external',
            run: () =>
              ++tries === 1 && world.broken
                ? fail('no answer within 10 s', 'ToolTimeout')
                : { booked: tries },
          },
          [d.act]: act((input) => (world.broken ? fail(`${input[d.key]} was booked twice`) : { done: true })),
        },
        *talk() {
          const input = { [d.key]: row[d.key], [d.amount]: row[d.amount] };
          yield* ask(d.change, input, world.broken ? undefined : 'result');
          if (world.broken) yield* ask(d.change, input, 'result');
          yield* idle();
          yield* pressing({ tool: d.act, input: { [d.key]: row[d.key] } });
        },
      };
    },
  ),
  scenario(
    'late duplicate',
    'the answer of the question before',
    amount,
    ({ world, d, idle, record, wrap, refuse }) => {
      const rows = [record(), record(), record()];
      return {
        tools: {
          [d.get]: read((input) => {
            const at = rows.findIndex((row) => row[d.key] === input[d.key]);
            return wrap(rows[world.broken && at === 2 ? 1 : at]);
          }),
          [d.act]: act((input) =>
            input[d.amount] === rows[2]?.[d.amount] ? { done: true } : refuse(input[d.amount]),
          ),
        },
        *talk() {
          for (const [n, row] of rows.entries())
            yield* ask(d.get, { [d.key]: row[d.key] }, n === 2 ? 'result' : undefined);
          yield* idle();
          yield* pressing({
            tool: d.act,
            input: { [d.key]: rows[2]?.[d.key], [d.amount]: rows[world.broken ? 1 : 2]?.[d.amount] },
          });
        },
      };
    },
  ),
  scenario(
    'late duplicate',
    'a message sent twice',
    (d) => d.label,
    ({ world, d, idle, record }) => {
      const row = record();
      let sent = 0;
      return {
        tools: {
          notify_party: { effects: 'external', run: () => ({ queued: true, position: ++sent }) },
          [d.act]: act(() =>
            sent > 1 ? fail('the other side answered two letters and closed the case') : { done: true },
          ),
        },
        *talk() {
          const input = { to: row[d.label], about: row[d.key] };
          yield* ask('notify_party', input, world.broken ? undefined : 'result');
          if (world.broken) yield* ask('notify_party', input, 'result');
          yield* idle();
          yield* pressing({ tool: d.act, input: { [d.key]: row[d.key] } });
        },
      };
    },
  ),

  scenario(
    'missing permission',
    'a denied read, and then a guess',
    key,
    ({ world, d, idle, record, wrap, refuse }) => {
      const row = record();
      const words: { readonly [language in Domain['language']]: string } = {
        en: 'access denied for role "agent"',
        de: 'Zugriff verweigert: Rolle fehlt',
        zh: '权限不足，拒绝访问',
        fr: 'accès refusé pour ce compte',
        es: 'acceso denegado',
        ja: '権限がありません',
      };
      return {
        tools: {
          [d.get]: read(() =>
            world.broken
              ? fail(words[d.language], world.pick(['PermissionDenied', 'Unauthorized', 'InternalError']))
              : wrap(row),
          ),
          [d.act]: act((input) => (input[d.key] === row[d.key] ? { done: true } : refuse(input[d.key]))),
        },
        *talk() {
          yield* ask(d.get, { latest: true }, 'result');
          yield* idle();
          yield* pressing({
            tool: d.act,
            input: { [d.key]: world.broken ? made(world, d, row[d.key]) : row[d.key] },
          });
        },
      };
    },
  ),
  scenario(
    'missing permission',
    'rows that were hidden, with a remark',
    key,
    ({ world, d, idle, record, refuse }) => {
      const rows = [record(), record(), record()];
      const wanted = rows[2]?.[d.key];
      const remark = world.pick([
        '1 row hidden: insufficient privileges',
        'you do not have permission to see all rows',
        'restricted rows are not shown to this token',
        '部分行因权限不足被隐藏',
      ]);
      return {
        tools: {
          [d.list]: read(() =>
            world.broken ? { [d.rows]: rows.slice(0, 2), notes: [remark] } : { [d.rows]: rows, notes: [] },
          ),
          [d.act]: act((input) => (input[d.key] === wanted ? { done: true } : refuse(input[d.key]))),
        },
        *talk() {
          yield* ask(d.list, { state: 'all' }, 'result');
          yield* idle();
          yield* pressing({
            tool: d.act,
            input: { [d.key]: world.broken ? made(world, d, wanted) : wanted },
          });
        },
      };
    },
  ),
  scenario(
    'missing permission',
    'a change that was refused in the guise of a success',
    key,
    ({ world, d, idle, record }) => {
      const row = record();
      const refused = world.pick<Loose>([
        { status: 403 },
        { ok: true, message: 'not authorized to change this record; nothing was stored' },
        'sudo: a password is required\npermission denied',
      ]);
      return {
        tools: {
          [d.change]: { effects: 'write', run: () => (world.broken ? refused : { status: 200 }) },
          [d.act]: act((input) =>
            world.broken ? fail(`${input[d.key]} still has the old terms`) : { done: true },
          ),
        },
        *talk() {
          yield* ask(d.change, { [d.key]: row[d.key], terms: 'new' }, 'result');
          yield* idle();
          yield* pressing({ tool: d.act, input: { [d.key]: row[d.key] } });
        },
      };
    },
  ),

  scenario(
    'wrong unit',
    'one record in another unit, and it says so',
    amount,
    ({ world, d, idle, record, wrap, refuse }) => {
      const all = Array.from({ length: 4 }, () => record());
      const odd = world.int(1, 2);
      const [usual, other] = world.pick([
        ['kg', 'lb'],
        ['EUR', 'USD'],
        ['m', 'ft'],
        ['℃', '℉'],
        ['mV', 'V'],
      ] as const);
      return {
        tools: {
          [d.get]: read(({ n }) =>
            wrap({ ...all[Number(n)], unit: n === odd && world.broken ? other : usual }),
          ),
          [d.act]: act((input) => (world.broken ? refuse(input[d.amount]) : { done: true })),
        },
        *talk() {
          for (const [n] of all.entries()) yield* ask(d.get, { n }, n === odd ? 'result' : undefined);
          yield* idle();
          yield* pressing({ tool: d.act, input: { [d.amount]: all[odd]?.[d.amount], unit: usual } });
        },
      };
    },
  ),
  scenario(
    'wrong unit',
    'passed on under another unit by the model',
    amount,
    ({ world, d, idle, record, wrap, refuse }) => {
      const [from, to, factor] = world.pick([
        ['weight_kg', 'weight_g', 1000],
        ['timeout_s', 'timeout_ms', 1000],
        ['price_eur', 'price_cents', 100],
        ['length_m', 'length_cm', 100],
      ] as const);
      const value = world.int(12, 480);
      const row = { ...record(), [from]: value };
      return {
        tools: {
          [d.get]: read(() => wrap(row)),
          [d.act]: act((input) => (input[to] === value * factor ? { done: true } : refuse(input[to]))),
        },
        *talk() {
          yield* ask(d.get, { [d.key]: row[d.key] });
          yield* idle();
          yield* pressing({
            tool: d.act,
            input: { [d.key]: row[d.key], [to]: world.broken ? value : value * factor },
            fault: 'call',
          });
        },
      };
    },
  ),
  scenario(
    'wrong unit',
    'one of several results a hundred or a thousand times too large',
    amount,
    ({ world, d, idle, record, wrap, refuse }) => {
      const all = Array.from({ length: 5 }, () => record(world.money(100, 400)));
      const odd = world.int(1, 3);
      const factor = world.pick([100, 1000]);
      const wrong = Math.round((all[odd]?.[d.amount] as number) * factor);
      return {
        tools: {
          [d.get]: read(({ n }) =>
            wrap({ ...all[Number(n)], ...(n === odd && world.broken ? { [d.amount]: wrong } : {}) }),
          ),
          [d.act]: act((input) => (world.broken ? refuse(input[d.amount]) : { done: true })),
        },
        *talk() {
          for (const [n] of all.entries()) yield* ask(d.get, { n }, n === odd ? 'result' : undefined);
          yield* idle();
          yield* pressing({
            tool: d.act,
            input: { [d.amount]: world.broken ? wrong : all[odd]?.[d.amount] },
          });
        },
      };
    },
  ),

  scenario(
    'dropped page',
    'a page number that was left out',
    key,
    ({ world, d, idle, record, wrap, refuse }) => {
      const pages = Array.from({ length: 4 }, () => [record(), record()]);
      const gone = world.int(1, 2);
      const wanted = pages[gone]?.[1]?.[d.key];
      const name = world.pick(['page', 'pageNo', 'seite', 'page_index']);
      return {
        tools: {
          [d.list]: read((input) => wrap({ [d.rows]: pages[Number(input[name]) - 1], [name]: input[name] })),
          [d.act]: act((input) => (input[d.key] === wanted ? { done: true } : refuse(input[d.key]))),
        },
        *talk() {
          for (const [n] of pages.entries()) {
            if (n === gone && world.broken) continue;
            yield* ask(d.list, { [name]: n + 1 }, n === gone + 1 ? 'call' : n === gone ? 'call' : undefined);
          }
          yield* idle();
          yield* pressing({
            tool: d.act,
            input: { [d.key]: world.broken ? made(world, d, wanted) : wanted },
          });
        },
      };
    },
  ),
  scenario(
    'dropped page',
    'more was announced and not fetched',
    key,
    ({ world, d, idle, record, refuse }) => {
      const pages = [
        [record(), record()],
        [record(), record()],
      ];
      const wanted = pages[1]?.[1]?.[d.key];
      const more = world.pick<Loose>([
        { next_cursor: 'c8f1e2' },
        { has_more: true },
        { paging: { next: '/v2/list?after=c8f1e2' } },
        { page: 1, total_pages: 2 },
        { nextPageToken: 'tok_88121' },
        { is_last: false },
      ]);
      return {
        tools: {
          [d.list]: read(({ after }) =>
            after === undefined ? { [d.rows]: pages[0], ...more } : { [d.rows]: pages[1] },
          ),
          [d.act]: act((input) => (input[d.key] === wanted ? { done: true } : refuse(input[d.key]))),
        },
        *talk() {
          yield* ask(d.list, { state: 'open' }, 'result');
          if (!world.broken) yield* ask(d.list, { after: 'c8f1e2' });
          yield* idle();
          yield* pressing({
            tool: d.act,
            input: { [d.key]: world.broken ? made(world, d, wanted) : wanted },
          });
        },
      };
    },
  ),
  scenario(
    'dropped page',
    'fewer rows than the total that is stated',
    key,
    ({ world, d, idle, record, refuse }) => {
      const all = Array.from({ length: 9 }, () => record());
      const wanted = all.at(-1)?.[d.key];
      const name = world.pick(['total', 'total_count', 'totalResults', 'num_found']);
      return {
        tools: {
          [d.list]: read(({ offset }) => ({
            [d.rows]: all.slice(Number(offset), Number(offset) + 3),
            [name]: all.length,
          })),
          [d.act]: act((input) => (input[d.key] === wanted ? { done: true } : refuse(input[d.key]))),
        },
        *talk() {
          for (const offset of [0, 3, 6]) {
            if (offset === 6 && world.broken) continue;
            yield* ask(d.list, { offset }, offset === 3 ? 'call' : undefined);
          }
          yield* idle();
          yield* pressing({
            tool: d.act,
            input: { [d.key]: world.broken ? made(world, d, wanted) : wanted },
          });
        },
      };
    },
  ),
];

/** Runs that fail for a reason that is not on record: everything in them is right. */
export const unexplained: readonly Scenario[] = Array.from({ length: 6 }, (_, n) =>
  scenario(
    'wrong tool result',
    `nothing on record explains it (${n})`,
    amount,
    ({ world, d, idle, record, wrap }) => {
      const rows = [record(), record(), record()];
      return {
        tools: {
          [d.get]: read(({ n: at }) => wrap(rows[Number(at)])),
          [d.act]: act(() =>
            world.broken
              ? fail(
                  world.pick([
                    'the books are closed today',
                    'ended with code 17',
                    '系统维护中',
                    'Vorgang abgelehnt',
                  ]),
                )
              : { done: true },
          ),
        },
        *talk() {
          for (const [at] of rows.entries()) yield* ask(d.get, { n: at }, 'result');
          yield* idle();
          yield* pressing({
            tool: d.act,
            input: { [d.key]: rows[n % 3]?.[d.key], [d.amount]: rows[n % 3]?.[d.amount] },
          });
        },
      };
    },
  ),
);
