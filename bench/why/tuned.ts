/** The half of the tasks that the rules may be judged by while they are written. */
import {
  ask,
  askAll,
  fail,
  insist,
  isError,
  type Loose,
  type Scenario,
  type ScenarioTool,
  type World,
} from './world.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A look-up that has nothing to do with anything. */
const glossary: ScenarioTool = {
  effects: 'read',
  run: ({ term }) => ({ term, meaning: `what ${term} means in this trade` }),
};
const terms = (world: World) => {
  const start = world.int(100, 900);
  const word = world.word();
  return (index: number) => ({ term: `${word}-${start + index}` });
};

export const shapesTuned: readonly Scenario[] = [
  {
    cause: 'truncation',
    name: 'migration written from half a schema file',
    tell: (world) => {
      const table = `${world.word()}_ledger`;
      const next = terms(world);
      const schema = `create table people (id int);\ncreate table ${table} (id int, total numeric);`;
      return {
        task: 'Migrate the billing tables.',
        tools: {
          glossary,
          read_file: {
            effects: 'read',
            run: () =>
              world.broken
                ? { text: schema.slice(0, 30), bytes: 30, total_bytes: schema.length }
                : { text: schema, bytes: schema.length, total_bytes: schema.length },
          },
          run_sql: {
            run: ({ sql }) =>
              String(sql).includes(` ${table} `)
                ? { changed: 1 }
                : fail(`relation in "${sql}" does not exist`),
          },
        },
        *talk() {
          const file = yield* ask('read_file', { path: 'db/schema.sql' }, 'result');
          yield* world.wander('glossary', next);
          const name = file.text.match(/create table (\w+_ledger)/)?.[1] ?? `${table.slice(0, 3)}_accounts`;
          yield* insist('run_sql', { sql: `alter table ${name} add column vat numeric` });
          return 'Migrated.';
        },
      };
    },
  },
  {
    cause: 'truncation',
    name: 'a log tail that stops before the error line',
    tell: (world) => {
      const code = `E${world.int(1000, 9999)}`;
      const lines = Array.from({ length: 12 }, (_, i) => `12:0${i % 10} worker ${i} started`);
      const next = terms(world);
      return {
        task: 'Find the code of the crash and open a ticket with it.',
        tools: {
          glossary,
          tail_log: {
            effects: 'read',
            run: () =>
              world.broken
                ? `${lines.join('\n')}\n[output truncated, 88 lines omitted]`
                : `${lines.join('\n')}\n12:44 fatal exit ${code}`,
          },
          open_ticket: {
            effects: 'write',
            run: ({ code: given }) => (given === code ? { ticket: 5 } : fail(`unknown crash code ${given}`)),
          },
        },
        *talk() {
          const log = yield* ask('tail_log', { service: 'worker' }, 'result');
          yield* world.wander('glossary', next);
          const found = /exit (E\d+)/.exec(log)?.[1] ?? `E${world.int(100, 999)}`;
          yield* insist('open_ticket', { code: found, title: 'worker crash' });
          return 'Opened.';
        },
      };
    },
  },
  {
    cause: 'truncation',
    name: "the model's file was cut by its output limit",
    tell: (world) => {
      const next = terms(world);
      return {
        task: 'Write the configuration and check it.',
        tools: {
          glossary,
          write_config: { effects: 'write', run: () => ({ written: true }) },
          check_config: {
            run: ({ file }) => (world.broken ? fail(`${file}: unexpected end of input`) : { valid: true }),
          },
        },
        *talk() {
          if (world.broken)
            yield {
              calls: [
                { tool: 'write_config', input: { file: 'app.json', text: '{"port": 80' }, fault: 'answer' },
              ],
              cut: true,
            };
          else yield* ask('write_config', { file: 'app.json', text: '{"port": 80}' });
          yield* world.wander('glossary', next);
          yield* insist('check_config', { file: 'app.json' });
          return 'Valid.';
        },
      };
    },
  },
  {
    cause: 'wrong locale',
    name: 'one month of a ledger has decimal commas',
    tell: (world) => {
      const next = terms(world);
      const rows = [1, 2, 3, 4].map((month) =>
        [world.money(), world.money(), world.money()].map((amount) => ({ month, amount })),
      );
      return {
        task: 'Sum the year.',
        tools: {
          glossary,
          read_ledger: {
            effects: 'read',
            run: ({ month }) => ({
              entries: rows[Number(month) - 1]?.map((row, index) =>
                world.broken && month === 3 && index === 1
                  ? { ...row, amount: `1.${world.int(100, 999)},50` }
                  : row,
              ) as never,
            }),
          },
          add_up: {
            input: {
              type: 'object',
              properties: { values: { type: 'array', items: { type: 'number' } } },
              required: ['values'],
            },
            run: ({ values }) => ({ total: (values as number[]).reduce((a, b) => a + b, 0) }),
          },
        },
        *talk() {
          const values: Loose[] = [];
          for (const month of [1, 2, 3, 4]) {
            const page = yield* ask('read_ledger', { month }, month === 3 ? 'result' : undefined);
            values.push(...page.entries.map((entry: Loose) => entry.amount));
          }
          yield* world.wander('glossary', next);
          yield* insist('add_up', { values });
          return 'Summed.';
        },
      };
    },
  },
  {
    cause: 'wrong locale',
    name: 'a booking date with day and month changed over',
    tell: (world) => {
      const next = terms(world);
      const day = world.int(13, 28);
      const refs = ['A', 'B', 'C', 'D', 'E'].map((letter) => `${letter}${world.int(1000, 9999)}`);
      return {
        task: 'Move the bookings into the calendar.',
        tools: {
          glossary,
          get_booking: {
            effects: 'read',
            run: ({ ref }) => ({
              ref,
              guest: world.word(),
              date: world.broken && ref === refs[3] ? `${day}/03/2026` : `2026-03-${day}`,
            }),
          },
          add_event: {
            effects: 'write',
            run: ({ date }) =>
              /^\d{4}-/.test(String(date))
                ? { ok: true }
                : fail(`cannot parse date "${date}": invalid month`),
          },
        },
        *talk() {
          const found = yield* askAll(
            refs.map((ref, index) => ({
              tool: 'get_booking',
              input: { ref },
              ...(index === 3 ? { fault: 'result' as const } : {}),
            })),
          );
          yield* world.wander('glossary', next);
          for (const booking of found)
            yield* insist('add_event', { title: booking.guest, date: booking.date });
          return 'Moved.';
        },
      };
    },
  },
  {
    cause: 'wrong locale',
    name: 'a price text with a comma among points',
    tell: (world) => {
      const next = terms(world);
      const prices = Array.from({ length: 4 }, () => world.money().toFixed(2));
      return {
        task: 'Order the parts.',
        tools: {
          glossary,
          quote_part: {
            effects: 'read',
            run: ({ part }) => ({
              part,
              price:
                world.broken && part === 'p2'
                  ? prices[2]?.replace('.', ',')
                  : prices[Number(String(part).slice(1))],
            }),
          },
          order_part: {
            effects: 'write',
            run: ({ price }) =>
              /^\d+\.\d+$/.test(String(price)) ? { ordered: true } : fail(`invalid price: ${price}`),
          },
        },
        *talk() {
          const quotes: Loose[] = [];
          for (const index of [0, 1, 2, 3])
            quotes.push(yield* ask('quote_part', { part: `p${index}` }, index === 2 ? 'result' : undefined));
          yield* world.wander('glossary', next);
          for (const { part, price } of quotes) yield* insist('order_part', { part, price, qty: 1 });
          return 'Ordered.';
        },
      };
    },
  },
  {
    cause: 'stale read',
    name: 'a source file edited after it was read',
    tell: (world) => {
      const next = terms(world);
      const path = `src/${world.word()}.ts`;
      const [before, after] = [
        `export const limit = ${world.int(10, 99)};`,
        `export const bound = ${world.int(10, 99)};`,
      ];
      return {
        task: 'Rename the constant everywhere.',
        tools: {
          glossary,
          read_source: { effects: 'read', run: ({ path: name }) => (name === path ? before : 'other') },
          format_source: {
            effects: 'write',
            run: (_, ctx) => {
              ctx.effect({ kind: 'file', path, before: bytes(before), after: bytes(after) } as never);
              return { formatted: 1 };
            },
          },
          replace_text: {
            effects: 'write',
            run: ({ old }) =>
              world.broken ? fail(`the text ${JSON.stringify(old)} was not found in ${path}`) : 'replaced',
          },
        },
        *talk() {
          const text = yield* ask('read_source', { path }, 'result');
          if (world.broken) yield* ask('format_source', { path });
          yield* world.wander('glossary', next);
          yield* insist('replace_text', { path, old: text, with: 'export const top = 1;' });
          return 'Renamed.';
        },
      };
    },
  },
  {
    cause: 'stale read',
    name: 'stock that came from a cache',
    tell: (world) => {
      const next = terms(world);
      const sku = `SKU-${world.int(1000, 9999)}`;
      return {
        task: 'Reserve what is in stock.',
        tools: {
          glossary,
          get_stock: {
            effects: 'read',
            run: () => ({ sku, units: world.broken ? 40 : 12, cache: world.broken ? 'HIT' : 'MISS' }),
          },
          reserve: {
            effects: 'write',
            run: ({ units }) =>
              Number(units) <= 12 ? { reserved: units } : fail(`cannot reserve ${units} units: too many`),
          },
        },
        *talk() {
          const stock = yield* ask('get_stock', { sku }, 'result');
          yield* world.wander('glossary', next);
          yield* insist('reserve', { sku, units: stock.units });
          return 'Reserved.';
        },
      };
    },
  },
  {
    cause: 'stale read',
    name: 'a document whose newer revision was seen on the way',
    tell: (world) => {
      const next = terms(world);
      const doc = `doc-${world.int(1000, 9999)}`;
      let revision = 7;
      return {
        task: 'Append the minutes to the document.',
        tools: {
          glossary,
          fetch_doc: { effects: 'read', run: () => ({ doc, revision, body: 'Agenda' }) },
          comment_doc: {
            effects: 'write',
            run: () => {
              if (world.broken) revision++;
              return { commented: true };
            },
          },
          append_doc: {
            effects: 'write',
            run: ({ base }) =>
              base === revision ? { appended: true } : fail(`revision ${base} is no longer current`),
          },
        },
        *talk() {
          const read = yield* ask('fetch_doc', { doc }, 'result');
          yield* ask('comment_doc', { doc, text: 'see below' });
          yield* world.wander('glossary', next);
          yield* insist('append_doc', { doc, base: read.revision, text: 'Minutes' });
          return 'Appended.';
        },
      };
    },
  },
  {
    cause: 'wrong tool result',
    name: "another customer's record",
    tell: (world) => {
      const next = terms(world);
      const [id, other] = [`C-${world.int(1000, 4999)}`, `C-${world.int(5000, 9999)}`];
      const emails = { [id]: 'ada@example.org', [other]: 'bob@example.org' };
      return {
        task: 'Send the reminder to the customer.',
        tools: {
          glossary,
          get_customer: {
            effects: 'read',
            run: ({ id: asked }) => {
              const given = world.broken ? other : String(asked);
              return { id: given, email: emails[given] as string };
            },
          },
          send_reminder: {
            effects: 'external',
            run: ({ id: to, email }) =>
              emails[String(to)] === email
                ? { sent: true }
                : fail(`address ${email} does not match customer ${to}`),
          },
        },
        *talk() {
          const customer = yield* ask('get_customer', { id }, 'result');
          yield* world.wander('glossary', next);
          yield* insist('send_reminder', { id, email: customer.email });
          return 'Sent.';
        },
      };
    },
  },
  {
    cause: 'wrong tool result',
    name: 'a result that breaks its own schema',
    tell: (world) => {
      const next = terms(world);
      return {
        task: 'Report the load of the servers.',
        patience: 2,
        tools: {
          glossary,
          measure: {
            effects: 'read',
            output: { type: 'object', properties: { load: { type: 'number' } }, required: ['load'] },
            run: ({ host }) => ({ host, load: world.broken && host === 'h2' ? 'n/a' : 0.5 }),
          },
          publish: {
            effects: 'write',
            run: ({ loads }) =>
              (loads as unknown[]).includes(null) ? fail('load of h2 is missing') : { ok: true },
          },
        },
        *talk() {
          const loads: Loose[] = [];
          for (const host of ['h1', 'h2', 'h3']) {
            const found = yield* ask('measure', { host }, host === 'h2' ? 'result' : undefined);
            loads.push(isError(found) ? null : found.load);
          }
          yield* world.wander('glossary', next);
          yield* insist('publish', { loads });
          return 'Published.';
        },
      };
    },
  },
  {
    cause: 'wrong tool result',
    name: 'nothing found where others find something',
    tell: (world) => {
      const next = terms(world);
      const names = [world.word(), world.word(), world.word()].map((word, index) => `${word}${index}`);
      return {
        task: 'Pay the open invoices of these suppliers.',
        tools: {
          glossary,
          open_invoices: {
            effects: 'read',
            run: ({ supplier }) => ({
              invoices:
                world.broken && supplier === names[1]
                  ? []
                  : [{ number: `I-${supplier}`, due: world.money() }],
            }),
          },
          close_month: {
            effects: 'write',
            run: ({ paid }) =>
              Number(paid) === 3 ? { closed: true } : fail('the month cannot be closed: an invoice is open'),
          },
        },
        *talk() {
          let paid = 0;
          for (const [index, supplier] of names.entries()) {
            const { invoices } = yield* ask(
              'open_invoices',
              { supplier },
              index === 1 ? 'result' : undefined,
            );
            paid += invoices.length;
          }
          yield* world.wander('glossary', next);
          yield* insist('close_month', { month: '2026-02', paid });
          return 'Closed.';
        },
      };
    },
  },
  {
    cause: 'fabricated value',
    name: 'an order number that nobody gave',
    tell: (world) => {
      const next = terms(world);
      const real = `ORD-${world.int(10000, 49999)}`;
      const made = `ORD-${world.int(50000, 99999)}`;
      return {
        task: `Cancel my order ${real}.`,
        tools: {
          glossary,
          cancel_order: {
            effects: 'write',
            run: ({ order }) => (order === real ? { cancelled: true } : fail(`order ${order} not found`)),
          },
          get_policy: { effects: 'read', run: () => ({ days: 14 }) },
        },
        *talk() {
          yield* ask('get_policy', {});
          yield* world.wander('glossary', next);
          yield* askAll([
            { tool: 'cancel_order', input: { order: world.broken ? made : real }, fault: 'answer' },
          ]);
          return 'Cancelled.';
        },
      };
    },
  },
  {
    cause: 'fabricated value',
    name: 'a note with a made-up figure that is used later',
    tell: (world) => {
      const next = terms(world);
      const [real, made] = [world.int(1000, 4999), world.int(5000, 9999)];
      return {
        task: 'Read the meter and file the reading.',
        tools: {
          glossary,
          read_meter: { effects: 'read', run: () => ({ meter: 'M7', kwh: real }) },
          keep_note: { effects: 'none', run: ({ text }) => ({ kept: text }) },
          file_reading: {
            effects: 'write',
            run: ({ kwh }) => (kwh === real ? { filed: true } : fail(`reading ${kwh} is implausible`)),
          },
        },
        *talk() {
          const { kwh } = yield* ask('read_meter', { meter: 'M7' });
          const figure = world.broken ? made : kwh;
          yield {
            calls: [{ tool: 'keep_note', input: { text: `reading is ${figure} today` }, fault: 'answer' }],
          };
          yield* world.wander('glossary', next);
          yield* insist('file_reading', { meter: 'M7', kwh: figure });
          return 'Filed.';
        },
      };
    },
  },
  {
    cause: 'fabricated value',
    name: 'two digits of an account changed places',
    tell: (world) => {
      const next = terms(world);
      const account = String(world.int(10_000_000, 98_999_999)).replace(/..$/, '38');
      const wrong = account.replace(/38$/, '83');
      return {
        task: 'Pay the rent.',
        tools: {
          glossary,
          get_contract: { effects: 'read', run: () => ({ landlord: world.word(), account, rent: 840.5 }) },
          transfer: {
            effects: 'external',
            run: ({ account: to }) =>
              to === account ? { done: true } : fail(`account ${to} does not exist`),
          },
        },
        *talk() {
          const contract = yield* ask('get_contract', { flat: 12 });
          yield* world.wander('glossary', next);
          yield {
            calls: [
              {
                tool: 'transfer',
                input: { account: world.broken ? wrong : contract.account, amount: contract.rent },
                fault: 'answer',
              },
            ],
          };
          return 'Paid.';
        },
      };
    },
  },
  {
    cause: 'loop',
    name: 'a job whose state never changes',
    tell: (world) => {
      const next = terms(world);
      const job = `job-${world.int(100, 999)}`;
      return {
        task: 'Wait for the export and fetch it.',
        limits: { steps: 16 + 2 * world.distance },
        tools: {
          glossary,
          export_state: { effects: 'read', run: () => ({ job, state: world.broken ? 'queued' : 'done' }) },
        },
        *talk() {
          yield* ask('glossary', next(99));
          let { state } = yield* ask('export_state', { job }, 'call');
          while (state !== 'done') ({ state } = yield* ask('export_state', { job }));
          return 'Fetched.';
        },
      };
    },
  },
  {
    cause: 'loop',
    name: 'the same build that fails the same way',
    tell: (world) => {
      const next = terms(world);
      return {
        task: 'Build the project.',
        patience: 3 + Math.min(6, Math.floor(world.distance / 6)),
        tools: {
          glossary,
          build: { run: () => (world.broken ? fail('build failed with 3 problems') : { built: true }) },
        },
        *talk() {
          yield* ask('glossary', next(1));
          const first = yield* ask('build', { target: 'all' }, 'call');
          if (isError(first)) yield* insist('build', { target: 'all' });
          return 'Built.';
        },
      };
    },
  },
  {
    cause: 'loop',
    name: 'searches in other words with the same empty result',
    tell: (world) => {
      const word = world.word();
      const times = 5 + Math.floor(world.distance / 3);
      return {
        task: 'Find the handbook.',
        limits: { steps: 2 * times },
        tools: {
          search_docs: {
            effects: 'read',
            run: () => (world.broken ? { hits: [] } : { hits: [{ title: 'Handbook' }] }),
          },
        },
        *talk() {
          for (let index = 0; ; index++) {
            const query = `${word} handbook ${['', 'pdf', 'guide', 'manual'][index % 4]} ${index}`;
            const { hits } = yield* ask('search_docs', { query }, index === 0 ? 'call' : undefined);
            if (hits.length > 0) return 'Found.';
          }
        },
      };
    },
  },
  {
    cause: 'swallowed error',
    name: 'a folder that was not made',
    tell: (world) => {
      const next = terms(world);
      const folder = `out-${world.word()}`;
      return {
        task: 'Put the report into its own folder.',
        tools: {
          glossary,
          make_folder: {
            effects: 'write',
            run: () => (world.broken ? { ok: false, reason: 'no space left' } : { ok: true }),
          },
          write_report: {
            effects: 'write',
            run: ({ path }) => (world.broken ? fail(`no such file or directory: ${path}`) : { written: 10 }),
          },
        },
        *talk() {
          yield* ask('make_folder', { name: folder }, 'result');
          yield* world.wander('glossary', next);
          yield* insist('write_report', { path: `${folder}/report.md`, text: 'Report' });
          return 'Written.';
        },
      };
    },
  },
  {
    cause: 'swallowed error',
    name: 'an error text that goes on as data',
    tell: (world) => {
      const next = terms(world);
      return {
        task: 'Translate the page and publish it.',
        tools: {
          glossary,
          translate: {
            effects: 'none',
            run: ({ text }) => (world.broken ? 'Error: model quota exceeded' : `übersetzt: ${text}`),
          },
          publish_page: {
            effects: 'write',
            run: ({ body }) =>
              String(body).startsWith('übersetzt')
                ? { url: '/de' }
                : fail('body rejected: language is not de'),
          },
        },
        *talk() {
          const text = yield* ask('translate', { text: `Welcome to ${world.word()}`, to: 'de' }, 'result');
          yield* world.wander('glossary', next);
          yield* insist('publish_page', { body: text, language: 'de' });
          return 'Published.';
        },
      };
    },
  },
  {
    cause: 'swallowed error',
    name: 'a command with an exit code that nobody read',
    tell: (world) => {
      const next = terms(world);
      return {
        task: 'Install the dependencies and run the tests.',
        tools: {
          glossary,
          shell: {
            effects: 'external',
            run: ({ command }) => {
              if (command === 'npm ci')
                return {
                  exit_code: world.broken ? 1 : 0,
                  stdout: world.broken ? '' : 'added 200 packages',
                  stderr: '',
                };
              return world.broken
                ? fail('cannot find module "vitest"')
                : { exit_code: 0, stdout: 'ok', stderr: '' };
            },
          },
        },
        *talk() {
          yield* ask('shell', { command: 'npm ci' }, 'result');
          yield* world.wander('glossary', next);
          yield* insist('shell', { command: 'npm test' });
          return 'Green.';
        },
      };
    },
  },
  {
    cause: 'retry with changed payload',
    name: 'a payment tried again with another amount',
    tell: (world) => {
      const next = terms(world);
      const amount = world.money();
      let tries = 0;
      let paid = 0;
      return {
        task: 'Pay the invoice.',
        patience: 2,
        tools: {
          glossary,
          get_invoice: { effects: 'read', run: () => ({ invoice: 'I-77', amount }) },
          pay: {
            effects: 'external',
            run: (input) => {
              if (world.broken && ++tries === 1) fail('no answer in 10 s', 'ToolTimeout');
              paid = Number(input.amount);
              return { receipt: 'R' };
            },
          },
          reconcile: { run: () => (paid === amount ? { ok: true } : fail('paid amounts do not match')) },
        },
        *talk() {
          const invoice = yield* ask('get_invoice', { invoice: 'I-77' });
          const first = yield* ask('pay', { invoice: 'I-77', amount: invoice.amount, memo: 'rent' });
          if (isError(first))
            yield* ask(
              'pay',
              { invoice: 'I-77', amount: Math.round(invoice.amount) + 5, memo: 'rent' },
              'call',
            );
          yield* world.wander('glossary', next);
          yield* insist('reconcile', { invoice: 'I-77' });
          return 'Paid.';
        },
      };
    },
  },
  {
    cause: 'retry with changed payload',
    name: 'an upload repeated with fewer rows',
    tell: (world) => {
      const next = terms(world);
      const rows = Array.from({ length: 4 }, (_, index) => `${world.word()}-${index}`);
      let tries = 0;
      let held: unknown[] = [];
      return {
        task: 'Import the rows.',
        patience: 2,
        tools: {
          glossary,
          import_rows: {
            effects: 'write',
            run: (input) => {
              if (world.broken && ++tries === 1) fail('service busy, try again', 'Unavailable');
              held = input.rows as unknown[];
              return { imported: held.length };
            },
          },
          verify_import: {
            run: () => (held.length === 4 ? { ok: true } : fail(`expected 4 rows, found ${held.length}`)),
          },
        },
        *talk() {
          const first = yield* ask('import_rows', { table: 'staff', rows });
          if (isError(first)) yield* ask('import_rows', { table: 'staff', rows: rows.slice(0, 3) }, 'call');
          yield* world.wander('glossary', next);
          yield* insist('verify_import', { table: 'staff', count: 4 });
          return 'Imported.';
        },
      };
    },
  },
  {
    cause: 'retry with changed payload',
    name: 'a message sent again to another address',
    tell: (world) => {
      const next = terms(world);
      let tries = 0;
      let sent = '';
      const [to, other] = [`${world.word()}@example.org`, 'all@example.org'];
      return {
        task: `Send the contract to ${to} and have it confirmed. The list is ${other}.`,
        patience: 2,
        tools: {
          glossary,
          send_mail: {
            effects: 'external',
            run: (input) => {
              if (world.broken && ++tries === 1) fail('connection reset by peer');
              sent = String(input.to);
              return { queued: true };
            },
          },
          confirm_delivery: { run: () => (sent === to ? { ok: true } : fail('recipient mismatch')) },
        },
        *talk() {
          const first = yield* ask('send_mail', { to, subject: 'Contract', body: 'attached' });
          if (isError(first))
            yield* ask('send_mail', { to: other, subject: 'Contract', body: 'attached' }, 'call');
          yield* world.wander('glossary', next);
          yield* insist('confirm_delivery', { subject: 'Contract' });
          return 'Confirmed.';
        },
      };
    },
  },
  {
    cause: 'late duplicate',
    name: 'a charge that had gone through was made again',
    tell: (world) => {
      const next = terms(world);
      const card = `card-${world.int(100, 999)}`;
      let charges = 0;
      return {
        task: 'Charge the card once.',
        patience: 2,
        tools: {
          glossary,
          charge_card: {
            effects: 'external',
            run: () => {
              charges++;
              if (world.broken && charges === 1) fail('no answer in 5 s', 'ToolTimeout');
              return { charge: `ch-${charges}` };
            },
          },
          close_day: {
            run: () => (charges === 1 ? { ok: true } : fail('the day does not balance: charged twice')),
          },
        },
        *talk() {
          const first = yield* ask('charge_card', { card, amount: 30.5 });
          if (isError(first)) yield* ask('charge_card', { card, amount: 30.5 }, 'result');
          yield* world.wander('glossary', next);
          yield* insist('close_day', { card });
          return 'Charged.';
        },
      };
    },
  },
  {
    cause: 'late duplicate',
    name: 'the answer to an earlier question came once more',
    tell: (world) => {
      const next = terms(world);
      const names = ['north', 'south', 'west'];
      const levels = names.map(() => ({ level: world.money(1, 9), flow: world.int(200, 999) }));
      return {
        task: 'Compare the river gauges.',
        tools: {
          glossary,
          read_gauge: {
            effects: 'read',
            run: ({ gauge }) =>
              levels[world.broken && gauge === 'west' ? 1 : names.indexOf(String(gauge))] as never,
          },
          submit_levels: {
            effects: 'write',
            run: ({ flows }) =>
              (flows as number[])[2] === levels[2]?.flow
                ? { ok: true }
                : fail('the flow of west is implausible'),
          },
        },
        *talk() {
          const flows: number[] = [];
          for (const gauge of names)
            flows.push((yield* ask('read_gauge', { gauge }, gauge === 'west' ? 'result' : undefined)).flow);
          yield* world.wander('glossary', next);
          yield* insist('submit_levels', { flows });
          return 'Compared.';
        },
      };
    },
  },
  {
    cause: 'late duplicate',
    name: 'a row inserted by a second, late call',
    tell: (world) => {
      const next = terms(world);
      const key = `k${world.int(100, 999)}`;
      let count = 0;
      return {
        task: 'Add the row and check the table.',
        tools: {
          glossary,
          insert_row: { effects: 'write', run: () => ({ inserted: ++count > 0 }) },
          check_table: { run: () => (count === 1 ? { ok: true } : fail('duplicate key in table')) },
        },
        *talk() {
          yield* ask('insert_row', { table: 'tags', key });
          yield* world.wander('glossary', next);
          if (world.broken) yield* ask('insert_row', { table: 'tags', key }, 'result');
          yield* insist('check_table', { table: 'tags' });
          return 'Added.';
        },
      };
    },
  },
  {
    cause: 'missing permission',
    name: 'a refusal in the body of a successful answer',
    tell: (world) => {
      const next = terms(world);
      return {
        task: 'Rotate the key of the service.',
        tools: {
          glossary,
          call_api: {
            effects: 'external',
            run: () => (world.broken ? { status: 403, body: 'Forbidden' } : { status: 200, body: 'rotated' }),
          },
          check_key: { run: () => (world.broken ? fail('the key is still the old one') : { ok: true }) },
        },
        *talk() {
          yield* ask('call_api', { method: 'POST', path: '/keys/rotate' }, 'result');
          yield* world.wander('glossary', next);
          yield* insist('check_key', { service: world.word() });
          return 'Rotated.';
        },
      };
    },
  },
  {
    cause: 'missing permission',
    name: 'a tool that the policy never lets run',
    tell: (world) => {
      const next = terms(world);
      let done = false;
      return {
        task: 'Restart the service and see that it is up.',
        patience: 2,
        tools: {
          glossary,
          restart: {
            effects: 'external',
            approval: world.broken ? 'never' : 'auto',
            run: () => {
              done = true;
              return { restarted: true };
            },
          },
          probe: { run: () => (done ? { up: true } : fail('service does not answer')) },
        },
        *talk() {
          yield* ask('restart', { service: 'api' }, 'result');
          yield* world.wander('glossary', next);
          yield* insist('probe', { service: 'api' });
          return 'Up.';
        },
      };
    },
  },
  {
    cause: 'missing permission',
    name: 'a listing without the folders that may not be seen',
    tell: (world) => {
      const next = terms(world);
      const team = world.word();
      return {
        task: 'Count the contracts of all teams.',
        tools: {
          glossary,
          list_contracts: {
            effects: 'read',
            run: () =>
              world.broken
                ? { items: ['a.pdf'], warning: `access denied for folder ${team}` }
                : { items: ['a.pdf', 'b.pdf'], warning: null },
          },
          file_count: {
            effects: 'write',
            run: ({ count }) => (count === 2 ? { ok: true } : fail('count differs from the register')),
          },
        },
        *talk() {
          const { items } = yield* ask('list_contracts', { root: '/contracts' }, 'result');
          yield* world.wander('glossary', next);
          yield* insist('file_count', { count: items.length });
          return 'Counted.';
        },
      };
    },
  },
  {
    cause: 'wrong unit',
    name: 'one parcel in grams among kilograms',
    tell: (world) => {
      const next = terms(world);
      const weights = Array.from({ length: 4 }, () => world.int(20, 95) / 10);
      return {
        task: 'Book the parcels.',
        tools: {
          glossary,
          weigh: {
            effects: 'read',
            run: ({ parcel }) => {
              const weight = weights[Number(parcel) - 1] ?? 1;
              return { parcel, weight: world.broken && parcel === 3 ? Math.round(weight * 1000) : weight };
            },
          },
          book: {
            effects: 'write',
            run: ({ weight }) =>
              Number(weight) < 30 ? { booked: true } : fail(`weight ${weight} exceeds the limit`),
          },
        },
        *talk() {
          const found: Loose[] = [];
          for (const parcel of [1, 2, 3, 4])
            found.push(yield* ask('weigh', { parcel }, parcel === 3 ? 'result' : undefined));
          yield* world.wander('glossary', next);
          for (const { parcel, weight } of found) yield* insist('book', { parcel, weight });
          return 'Booked.';
        },
      };
    },
  },
  {
    cause: 'wrong unit',
    name: 'cents passed on as euros',
    tell: (world) => {
      const next = terms(world);
      const cents = world.int(2001, 9899);
      return {
        task: 'Refund the customer.',
        tools: {
          glossary,
          get_sale: { effects: 'read', run: () => ({ sale: 'S-9', total_cents: cents }) },
          refund: {
            effects: 'external',
            run: ({ total_eur }) =>
              Number(total_eur) < 100 ? { ok: true } : fail(`${total_eur} is more than the sale`),
          },
        },
        *talk() {
          const { total_cents } = yield* ask('get_sale', { sale: 'S-9' });
          yield* world.wander('glossary', next);
          const total_eur = world.broken ? total_cents : total_cents / 100;
          yield { calls: [{ tool: 'refund', input: { sale: 'S-9', total_eur }, fault: 'call' }] };
          return 'Refunded.';
        },
      };
    },
  },
  {
    cause: 'wrong unit',
    name: 'a supplier that quotes in another currency',
    tell: (world) => {
      const next = terms(world);
      return {
        task: 'Buy the panels within the budget.',
        tools: {
          glossary,
          get_quote: {
            effects: 'read',
            run: ({ supplier }) => ({
              supplier,
              price: world.broken && supplier === 's2' ? world.int(52000, 68000) : world.int(400, 480),
              currency: world.broken && supplier === 's2' ? 'JPY' : 'EUR',
            }),
          },
          commit: {
            effects: 'write',
            run: ({ total }) => (Number(total) < 5000 ? { ok: true } : fail('over the budget')),
          },
        },
        *talk() {
          let total = 0;
          for (const supplier of ['s1', 's2', 's3', 's4'])
            total += (yield* ask('get_quote', { supplier }, supplier === 's2' ? 'result' : undefined)).price;
          yield* world.wander('glossary', next);
          yield* insist('commit', { total });
          return 'Bought.';
        },
      };
    },
  },
  {
    cause: 'dropped page',
    name: 'page two was never asked for',
    tell: (world) => {
      const next = terms(world);
      const size = world.int(2, 4);
      return {
        task: 'Count all orders.',
        tools: {
          glossary,
          list_orders: {
            effects: 'read',
            run: ({ page }) => ({
              rows: Array.from({ length: size }, (_, i) => ({ id: Number(page) * 100 + i })),
            }),
          },
          report_count: {
            effects: 'write',
            run: ({ count }) => (count === 4 * size ? { ok: true } : fail('the count does not match')),
          },
        },
        *talk() {
          let count = 0;
          for (const page of world.broken ? [1, 3, 4] : [1, 2, 3, 4])
            count += (yield* ask('list_orders', { page }, page === 3 ? 'call' : undefined)).rows.length;
          yield* world.wander('glossary', next);
          yield* insist('report_count', { count });
          return 'Counted.';
        },
      };
    },
  },
  {
    cause: 'dropped page',
    name: 'the loop ended one cursor early',
    tell: (world) => {
      const next = terms(world);
      const cursors = [null, `c${world.int(1000, 4999)}`, `c${world.int(5000, 9999)}`, null];
      return {
        task: 'Delete every expired token.',
        tools: {
          glossary,
          list_tokens: {
            effects: 'read',
            run: ({ cursor }) => {
              const at = Math.max(0, cursors.indexOf((cursor as string) ?? null));
              return { tokens: [`t-${at}-a`, `t-${at}-b`], next_cursor: cursors[at + 1] ?? null };
            },
          },
          audit: { run: ({ deleted }) => (deleted === 6 ? { ok: true } : fail('expired tokens are left')) },
        },
        *talk() {
          let deleted = 0;
          let cursor: string | null = null;
          for (let index = 0; index < 3; index++) {
            const last = index === (world.broken ? 1 : 2);
            const input: { cursor?: string } = cursor === null ? {} : { cursor };
            const page: Loose = yield* ask('list_tokens', input, last ? 'result' : undefined);
            deleted += page.tokens.length;
            cursor = page.next_cursor;
            if (last) break;
          }
          yield* world.wander('glossary', next);
          yield* insist('audit', { deleted });
          return 'Deleted.';
        },
      };
    },
  },
  {
    cause: 'dropped page',
    name: 'fewer rows than the total says',
    tell: (world) => {
      const next = terms(world);
      return {
        task: 'Export the members.',
        tools: {
          glossary,
          list_members: {
            effects: 'read',
            run: () => ({
              total: 5,
              members: Array.from({ length: world.broken ? 3 : 5 }, (_, i) => ({
                name: `${world.word()} ${i}`,
              })),
            }),
          },
          export_members: {
            effects: 'write',
            run: ({ count }) => (count === 5 ? { ok: true } : fail('export refused: incomplete')),
          },
        },
        *talk() {
          const { members } = yield* ask('list_members', { club: 'chess' }, 'result');
          yield* world.wander('glossary', next);
          yield* insist('export_members', { club: 'chess', count: members.length });
          return 'Exported.';
        },
      };
    },
  },
];
