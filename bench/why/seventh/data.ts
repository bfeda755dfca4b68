/** The same causes at data work: notebooks, spreadsheets, exports, warehouses. */
import { ask, askAll, fail, insist, type Scenario } from '../world.ts';
import { hex, noiseTools, otherWork } from './noise.ts';

export const data: readonly Scenario[] = [
  {
    // The cell prints that bad lines were skipped and ends without an error; the count is then too small by as many.
    cause: 'swallowed error',
    name: 'bad lines skipped by a reader',
    tell: (w) => {
      const [all, lost] = [w.int(2000, 9000), w.int(2, 5)];
      const path = `data/${w.word()}_2026.csv`;
      return {
        task: `Load ${path} into the warehouse and check it in.`,
        patience: 2,
        tools: {
          ...noiseTools(w),
          run_cell: {
            run: () => ({
              status: 'ok',
              execution_count: 4,
              stderr: w.broken
                ? `ParserWarning: ${lost} lines skipped: expected 7 fields, saw 9 (first at line ${w.int(40, 900)})`
                : '',
              stdout: `loaded ${w.broken ? all - lost : all} rows into staging.orders`,
            }),
          },
          data_check: {
            run: () =>
              w.broken
                ? fail(`row count mismatch in staging.orders: ${all - lost}, the manifest says ${all}`)
                : { passed: 6, failed: 0 },
          },
        },
        *talk() {
          yield* ask(
            'run_cell',
            { code: `df = pd.read_csv('${path}', on_bad_lines='warn'); load(df)` },
            'result',
          );
          yield* otherWork(w);
          yield* insist('data_check', { suite: 'orders' });
          return 'Checked in.';
        },
      };
    },
  },
  {
    // Three partitions are read at once; one of the answers says that it is of another day than the one asked for.
    cause: 'wrong tool result',
    name: 'partition of another day',
    tell: (w) => {
      const day = w.int(3, 25);
      const date = (n: number) => `2026-05-${String(n).padStart(2, '0')}`;
      const days = [day, day + 1, day + 2];
      const bad = w.pick(days);
      const sums = new Map([day - 1, ...days].map((n) => [date(n), w.int(1000, 9000)]));
      const right = days.reduce((total, n) => total + (sums.get(date(n)) ?? 0), 0);
      return {
        task: `Report the revenue of ${date(day)} to ${date(day + 2)}.`,
        patience: 2,
        tools: {
          ...noiseTools(w),
          read_partition: {
            run: ({ dt }) => {
              const given = w.broken && dt === date(bad) ? date(day - 1) : String(dt);
              return { table: 'revenue', partition: { dt: given }, total: sums.get(given) };
            },
          },
          submit_report: {
            run: ({ total }) =>
              total === right
                ? { accepted: true }
                : fail(`reconciliation failed: reported ${total}, books ${right}`),
          },
        },
        *talk() {
          const parts = yield* askAll(
            days.map((n) => ({
              tool: 'read_partition',
              input: { table: 'revenue', dt: date(n) },
              ...(n === bad ? { fault: 'result' as const } : {}),
            })),
          );
          yield* otherWork(w);
          const total = parts.reduce((sum: number, part) => sum + (part as { total: number }).total, 0);
          yield* insist('submit_report', { period: `${date(day)}/${date(day + 2)}`, total });
          return 'Reported.';
        },
      };
    },
  },
  {
    // The column is named amount_cents; the call gives its number as euros.
    cause: 'wrong unit',
    name: 'cents reported as euros',
    tell: (w) => {
      const cents = w.int(20_001, 99_998) * 10;
      const customer = `C-${w.int(1000, 9999)}`;
      return {
        task: `Write the credit note of ${customer} for the open amount.`,
        patience: 2,
        tools: {
          ...noiseTools(w),
          run_sql: {
            run: () => ({
              columns: ['customer', 'amount_cents'],
              rows: [{ customer, amount_cents: cents }],
              row_count: 1,
            }),
          },
          draft_credit_note: {
            run: ({ amount_eur }) => ({ draft: `CN-${w.int(100, 999)}`, amount_eur, state: 'draft' }),
          },
          approve_credit_note: {
            run: () =>
              w.broken
                ? fail(`amount ${cents}.00 EUR exceeds the open balance of ${cents / 100} EUR`)
                : { state: 'approved' },
          },
        },
        *talk() {
          yield* ask('run_sql', {
            sql: `SELECT customer, amount_cents FROM open WHERE customer='${customer}'`,
          });
          const amount_eur = w.broken ? cents : cents / 100;
          const { draft } = yield* ask(
            'draft_credit_note',
            { customer, amount_eur },
            w.broken ? 'call' : undefined,
          );
          yield* otherWork(w);
          yield* insist('approve_credit_note', { draft });
          return 'Approved.';
        },
      };
    },
  },
  {
    // The sheet says locale fr_FR and "3,5"; the call has the comma dropped, ten times as much.
    cause: 'wrong locale',
    name: 'French rate of a spreadsheet',
    tell: (w) => {
      const [whole, tenth] = [w.int(2, 9), w.int(1, 9)];
      const [right, wrong] = [whole + tenth / 10, whole * 10 + tenth];
      const region = `${w.word()}-sud`;
      return {
        task: `Set the discount of ${region} as in the sheet and publish the prices.`,
        patience: 2,
        tools: {
          ...noiseTools(w),
          sheets_values_get: {
            run: ({ range }) => ({
              range,
              locale: 'fr_FR',
              values: [
                ['région', 'remise (%)'],
                [region, `${whole},${tenth}`],
              ],
            }),
          },
          set_discount: { run: ({ region, percent }) => ({ region, percent, saved: true }) },
          publish_prices: {
            run: () =>
              w.broken
                ? fail(`price list rejected: discount of ${wrong} % for ${region} is over the limit of 10 %`)
                : { published: true },
          },
        },
        *talk() {
          yield* ask('sheets_values_get', { spreadsheetId: hex(w), range: 'Remises!A1:B2' });
          const percent = w.broken ? wrong : right;
          yield* ask('set_discount', { region, percent }, w.broken ? 'call' : undefined);
          yield* otherWork(w);
          yield* insist('publish_prices', { list: 'retail' });
          return 'Published.';
        },
      };
    },
  },
  {
    // The answer says page 1 of several (total_pages); no later call asks for page 2.
    cause: 'dropped page',
    name: 'first page of an export of accounts',
    tell: (w) => {
      const [pages, size] = [w.int(2, 5), w.int(3, 5)];
      const accounts = Array.from({ length: size * pages }, () => ({ id: `acc_${hex(w, 6)}` }));
      return {
        task: 'Copy all accounts of the CRM to the warehouse and certify the table.',
        patience: 2,
        tools: {
          ...noiseTools(w),
          crm_list_accounts: {
            run: ({ page }) => ({
              data: accounts.slice((page - 1) * size, page * size),
              meta: { page, per_page: size, total_pages: pages, total: accounts.length },
            }),
          },
          warehouse_insert: { run: ({ table, ids }) => ({ table, inserted: ids.length }) },
          certify_table: {
            run: () =>
              w.broken
                ? fail(
                    `certification failed: crm.accounts has ${size} rows, the source has ${accounts.length}`,
                  )
                : { certified: true },
          },
        },
        *talk() {
          const ids: string[] = [];
          for (let page = 1; page <= (w.broken ? 1 : pages); page++) {
            const { data } = yield* ask('crm_list_accounts', { page }, page === 1 ? 'result' : undefined);
            ids.push(...data.map(({ id }: { id: string }) => id));
          }
          yield* ask('warehouse_insert', { table: 'crm.accounts', ids });
          yield* otherWork(w);
          yield* insist('certify_table', { table: 'crm.accounts' });
          return 'Certified.';
        },
      };
    },
  },
];
