/** Faults of what was read: truncated, a page short, out of date, or of something else. */
import { ask, askAll, fail, insist, type Scenario } from '../world.ts';
import { day, hex, office, person, told } from './office.ts';

const cents = (value: number): number => Math.round(value * 100) / 100;

export const reading: readonly Scenario[] = [
  {
    // Shown by: `truncated: true` and fewer characters returned than there are; the text ends before the clause on notice.
    cause: 'truncation',
    name: 'the contract ends before its notice clause',
    tell(w) {
      const o = office(w);
      const [id, late, notice] = [`doc_${hex(w)}`, w.pick([14, 21, 30]), w.pick([60, 90, 120])];
      const head = `MASTER SERVICES AGREEMENT\n5.3 Late payment. Invoices are due within ${late} days.\n9.1 Liability. As agreed in Annex B.\n`;
      const whole = `${head}14.2 Termination. Either party may terminate with ${notice} days written notice.\n`;
      return told(
        'Prepare the termination of our services agreement.',
        o,
        {
          read_document: {
            run: () => {
              const text = w.broken ? `${head}14.2 Term` : whole;
              return {
                id,
                truncated: w.broken,
                chars_total: whole.length,
                chars_returned: text.length,
                text,
              };
            },
          },
          file_termination_notice: {
            run: ({ notice_days }) =>
              notice_days === notice
                ? { status: 'filed', notice_id: 'N-1' }
                : fail(`notice_days ${notice_days} is not the period agreed in clause 14.2`, 'InvalidParams'),
          },
        },
        function* () {
          const { text } = yield* ask('read_document', { id }, w.broken ? 'result' : undefined);
          yield* o.other();
          const days = Number(/with (\d+) days/.exec(text)?.[1] ?? /within (\d+) days/.exec(text)?.[1]);
          yield* insist('file_termination_notice', { document_id: id, notice_days: days });
          return 'The notice is filed.';
        },
      );
    },
  },
  {
    // Shown by: the last line of the statement, which says how many bytes of how many were given.
    cause: 'truncation',
    name: 'the bank statement is cut by the size limit of the tool',
    tell(w) {
      const o = office(w);
      const lines = Array.from(
        { length: w.int(9, 16) },
        () => `${day(w)};${person(w).firm};${w.money().toFixed(2)}`,
      );
      const total = (list: readonly string[]) =>
        cents(list.reduce((sum, line) => sum + Number(line.split(';')[2] ?? 0), 0));
      const account = `ACC-${w.int(1000, 9999)}`;
      return told(
        `Reconcile account ${account} for last month.`,
        o,
        {
          download_statement: {
            run: () => {
              const text = lines.join('\n');
              const cut = lines.slice(0, w.int(4, 7)).join('\n');
              return w.broken ? `${cut}\n[output truncated: ${cut.length} of ${text.length} bytes]` : text;
            },
          },
          post_reconciliation: {
            run: ({ debits }) =>
              debits === total(lines)
                ? { state: 'balanced' }
                : fail(`Account ${account} does not balance: debits ${debits}, ledger ${total(lines)}`),
          },
        },
        function* () {
          const text = yield* ask(
            'download_statement',
            { account, format: 'csv' },
            w.broken ? 'result' : undefined,
          );
          yield* o.other();
          const read = String(text)
            .split('\n')
            .filter((line) => line.includes(';'));
          yield* insist('post_reconciliation', { account, debits: total(read) });
          return 'Reconciled.';
        },
      );
    },
  },
  {
    // Shown by: `paging.next` of the first answer, which no later call uses. Right too: the model step that went on without it.
    cause: 'dropped page',
    name: 'the cursor of the contact list is not followed',
    tell(w) {
      const o = office(w);
      const people = Array.from({ length: w.int(14, 20) }, (_, index) => ({
        id: String(50_100 + index),
        email: person(w).email,
      }));
      const [list, after] = [`list_${hex(w, 4)}`, hex(w, 6)];
      return told(
        `Invite everyone on ${list} to the webinar.`,
        o,
        {
          crm_list_members: {
            run: (input) =>
              input.after
                ? { results: people.slice(10) }
                : { results: people.slice(0, 10), paging: { next: { after } } },
          },
          get_webinar: { run: () => ({ id: 'wb_20', title: 'Autumn release', seats: 500 }) },
          send_invitations: {
            run: ({ ids }) =>
              ids.length === people.length
                ? { queued: ids.length }
                : fail(
                    `Recipients do not cover list ${list}: ${ids.length} of ${people.length} members`,
                    'InvalidParams',
                  ),
          },
        },
        function* () {
          const page = yield* ask('crm_list_members', { list, limit: 10 }, w.broken ? 'result' : undefined);
          const all = [...page.results];
          if (!w.broken) all.push(...(yield* ask('crm_list_members', { list, limit: 10, after })).results);
          yield* ask('get_webinar', { id: 'wb_20' }, w.broken ? 'answer' : undefined);
          yield* o.other();
          yield* insist('send_invitations', { webinar: 'wb_20', list, ids: all.map(({ id }) => id) });
          return 'All are invited.';
        },
      );
    },
  },
  {
    // Shown by: page 2 of 3 holds no orders though `total_count` counts more than pages 1 and 3 have.
    cause: 'dropped page',
    name: 'one of the parallel pages of orders comes back empty',
    tell(w) {
      const o = office(w);
      const orders = Array.from({ length: 12 }, () => ({ order_no: `SO-${hex(w, 5)}`, tax: w.money(2, 60) }));
      const sum = (list: readonly { tax: number }[]) => cents(list.reduce((s, { tax }) => s + tax, 0));
      const quarter = w.pick(['2026-Q1', '2026-Q2', '2026-Q3']);
      return told(
        `File the VAT return of the shop for ${quarter}.`,
        o,
        {
          shop_list_orders: {
            run: ({ page }) => ({
              page,
              total_pages: 3,
              total_count: 12,
              orders: w.broken && page === 2 ? [] : orders.slice(page * 4 - 4, page * 4),
            }),
          },
          file_vat_return: {
            run: ({ tax_due }) =>
              tax_due === sum(orders)
                ? { receipt: 'VR-88' }
                : fail(`tax_due ${tax_due} differs from the sum of reported sales`, 'InvalidParams'),
          },
        },
        function* () {
          const pages = yield* askAll(
            [1, 2, 3].map((page) => ({
              tool: 'shop_list_orders',
              input: { quarter, page },
              ...(w.broken && page === 2 ? { fault: 'result' as const } : {}),
            })),
          );
          yield* o.other();
          yield* insist('file_vat_return', { quarter, tax_due: sum(pages.flatMap(({ orders: on }) => on)) });
          return 'Filed.';
        },
      );
    },
  },
  {
    // Shown by: the stock was read before the agent's own reservation lowered it, and never after.
    cause: 'stale read',
    name: 'the stock level is from before a reservation',
    tell(w) {
      const o = office(w);
      const [sku, taken] = [`SKU-${w.int(1000, 9999)}`, w.int(3, 8)];
      let stock = w.int(12, 40);
      return told(
        `Reserve ${taken} of ${sku} for the walk-in order, then ship all the rest to the outlet.`,
        o,
        {
          get_stock: { run: () => ({ sku, warehouse: 'MUC1', available: stock }) },
          reserve_stock: {
            run: ({ quantity }) => {
              stock -= quantity;
              return { reservation: `R-${hex(w, 5)}`, sku, quantity, status: 'reserved' };
            },
          },
          create_transfer: {
            run: ({ quantity }) =>
              quantity === stock
                ? { transfer: 'TR-5' }
                : fail(
                    `Insufficient stock for ${sku}: requested ${quantity}, available ${stock}`,
                    'Conflict',
                  ),
          },
        },
        function* () {
          let level = yield* ask('get_stock', { sku }, w.broken ? 'result' : undefined);
          yield* ask('reserve_stock', { sku, quantity: taken });
          yield* o.other();
          if (!w.broken) level = yield* ask('get_stock', { sku });
          yield* insist('create_transfer', { sku, quantity: level.available, to: 'OUTLET' });
          return 'Shipped.';
        },
      );
    },
  },
  {
    // Shown by: the version read at first is 1 below the one that the agent's own note made, and the update sends the first.
    cause: 'stale read',
    name: 'the deal is updated with the version read before a note',
    tell(w) {
      const o = office(w);
      const [id, who] = [String(w.int(100_000, 999_999)), person(w)];
      let version = w.int(3, 40);
      return told(
        `Log the call with ${who.name} and move deal ${id} to contract.`,
        o,
        {
          get_deal: { run: () => ({ id, company: who.firm, stage: 'negotiation', version }) },
          add_note: {
            run: () => {
              version++;
              return { note_id: hex(w), deal: id, deal_version: version };
            },
          },
          update_deal: {
            run: (input) =>
              input.version === version
                ? { id, stage: input.stage }
                : fail(
                    `409 Conflict: deal ${id} has been modified since version ${input.version}`,
                    'Conflict',
                  ),
          },
        },
        function* () {
          let deal = yield* ask('get_deal', { id }, w.broken ? 'result' : undefined);
          yield* o.other();
          yield* ask('add_note', { deal: id, body: `Call with ${who.name}: terms agreed.` });
          if (!w.broken) deal = yield* ask('get_deal', { id });
          yield* insist('update_deal', { id, stage: 'contract', version: deal.version });
          return 'Moved.';
        },
      );
    },
  },
  {
    // Shown by: the customer in the result has another e-mail address than the one asked for.
    cause: 'wrong tool result',
    name: 'the customer lookup gives somebody else',
    tell(w) {
      const o = office(w);
      const [who, wrong] = [person(w), { name: 'Dana Whitlock', email: 'dana.whitlock@farrow.example' }];
      const [right, other, invoice] = [`cus_${hex(w)}`, `cus_${hex(w)}`, `INV-${w.int(10_000, 99_999)}`];
      return told(
        `Refund invoice ${invoice} to ${who.email}.`,
        o,
        {
          find_customer: {
            run: () =>
              w.broken
                ? { id: other, name: wrong.name, email: wrong.email }
                : { id: right, name: who.name, email: who.email },
          },
          refund_invoice: {
            run: ({ customer }) =>
              customer === right
                ? { refund: 're_1' }
                : fail(`Invoice ${invoice} does not belong to customer ${customer}`, 'InvalidParams'),
          },
        },
        function* () {
          const { id } = yield* ask('find_customer', { email: who.email }, w.broken ? 'result' : undefined);
          yield* o.other();
          yield* insist('refund_invoice', { invoice, customer: id });
          return 'Refunded.';
        },
      );
    },
  },
  {
    // Shown by: the flight in the result leaves on another date than the one asked for.
    cause: 'wrong tool result',
    name: 'the flight offer is for another day',
    tell(w) {
      const o = office(w);
      const date = `2026-09-${w.int(10, 28)}`;
      const [offer, flight] = [`off_${hex(w)}`, `LH${w.int(100, 999)}`];
      const gives = w.broken ? `2026-10-${w.int(10, 28)}` : date;
      return told(
        `Book a flight from Munich to Lisbon on ${date}.`,
        o,
        {
          search_flights: {
            run: () => ({
              offers: [
                {
                  offer,
                  flight,
                  departs: `${gives}T07:${w.int(10, 55)}:00`,
                  price: { total: '214.80', currency: 'EUR' },
                },
              ],
            }),
          },
          book_flight: {
            run: (input) =>
              gives === date
                ? { pnr: 'X4TQ2L' }
                : fail(`Offer ${input.offer} is outside the approved trip`, 'InvalidParams'),
          },
        },
        function* () {
          const { offers } = yield* ask(
            'search_flights',
            { from: 'MUC', to: 'LIS', date },
            w.broken ? 'result' : undefined,
          );
          yield* o.other();
          yield* insist('book_flight', { offer: offers[0].offer, trip: `TRIP-${date}` });
          return 'Booked.';
        },
      );
    },
  },
];
