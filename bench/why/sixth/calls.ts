/** Faults of how calls were made: again and again, with another payload, or twice. */
import type { JsonObject } from '../../../packages/types/src/index.ts';
import { ask, fail, insist, isError, type Scenario } from '../world.ts';
import { day, hex, office, person, told } from './office.ts';

export const calls: readonly Scenario[] = [
  {
    // Shown by: the same click on the same element, the same snapshot after each, until the site refuses. Right: any click after the first, but not the refused one.
    cause: 'loop',
    name: 'the browser clicks "Load more" though the page stays as it is',
    tell(w) {
      const o = office(w);
      const [ref, shop, many] = [`e${w.int(20, 90)}`, w.word(), w.int(5, 9)];
      const snapshot = `- heading "${shop} supplies"\n- listitem: Stapler ${w.money(4, 30)} EUR\n- listitem: Binder ${w.money(2, 9)} EUR\n- button "Load more" [ref=${ref}]`;
      let clicks = 0;
      return told(
        `Find the cheapest label printer at ${shop}.example and put it into the basket.`,
        o,
        {
          browser_navigate: { run: ({ url }) => ({ url, title: `${shop} supplies`, snapshot }) },
          browser_click: {
            run: (input) => {
              if (input.element !== 'Load more') return { snapshot: '- text: 1 article in the basket' };
              if (++clicks > many) fail('429 Too Many Requests: you have been blocked', 'RateLimited');
              const more = snapshot.replace(
                '- button',
                '- listitem: Label printer 59.90 EUR [ref=e7]\n- button',
              );
              return { snapshot: w.broken ? snapshot : more };
            },
          },
        },
        function* () {
          yield* ask('browser_navigate', { url: `https://${shop}.example/office` });
          yield* o.other();
          const click: JsonObject = { element: 'Load more', ref };
          let page = yield* ask('browser_click', click);
          while (isError(page) || !String(page.snapshot).includes('Label printer'))
            page = yield* ask('browser_click', click, clicks < many ? 'call' : undefined);
          yield* ask('browser_click', { element: 'Label printer', ref: 'e7' });
          return 'It is in the basket.';
        },
      );
    },
  },
  {
    // Shown by: two searches of the mailbox in turns, each always empty, until no steps are left. Right: any round after the first.
    cause: 'loop',
    name: 'two searches for a missing attachment, in turns',
    tell(w) {
      const o = office(w);
      const [who, bill] = [person(w), `INV-${w.int(1000, 9999)}`];
      const rounds = w.int(4, 7);
      return {
        ...told(
          `Forward the invoice ${bill} of ${who.firm} to accounting.`,
          o,
          {
            find_attachments: {
              run: ({ q }) => ({
                q,
                files: w.broken ? [] : [{ id: `att_${bill}`, filename: `${bill}.pdf`, size: 48_211 }],
              }),
            },
            forward_attachment: { run: ({ id }) => ({ sent: true, id }) },
          },
          function* () {
            yield* o.other();
            const queries = [`${bill} filename:pdf`, `from:${who.email} has:attachment`];
            for (let turn = 0; ; turn++) {
              const q = queries[turn % 2] as string;
              const { files } = yield* ask('find_attachments', { q }, turn > 1 ? 'call' : undefined);
              if (files.length === 0) continue;
              yield* ask('forward_attachment', { id: files[0].id, to: 'accounting@firm.example' });
              return 'Forwarded.';
            }
          },
        ),
        limits: { steps: w.broken ? w.distance * 2 + rounds * 4 + 6 : 400 },
      };
    },
  },
  {
    // Shown by: the second call under the same idempotency key has another number of guests than the first. Right: that call.
    cause: 'retry with changed payload',
    name: 'the table is booked again for another number of guests',
    tell(w) {
      const o = office(w, 2);
      const [guests, other, key] = [w.int(4, 8), w.int(9, 12), `idem-${hex(w, 12)}`];
      const [date, booking] = [day(w), `BK${w.int(1000, 9999)}`];
      let tries = 0;
      return told(
        `Book a table for ${guests} at Osteria Lago on ${date} and confirm it.`,
        o,
        {
          create_booking: {
            run: (input) =>
              ++tries === 1
                ? fail('Request timed out after 30000 ms', 'ToolTimeout')
                : { booking, status: 'pending', idempotency_key: input.idempotency_key },
          },
          confirm_booking: {
            run: () =>
              w.broken
                ? fail(`Booking ${booking}: key ${key} was used with different parameters`, 'Conflict')
                : { booking, status: 'confirmed' },
          },
        },
        function* () {
          const input: JsonObject = {
            venue: 'Osteria Lago',
            date,
            time: '19:30',
            guests,
            idempotency_key: key,
          };
          yield* ask('create_booking', input);
          const again = w.broken ? { ...input, guests: other } : input;
          yield* ask('create_booking', again, w.broken ? 'call' : undefined);
          yield* o.other();
          yield* insist('confirm_booking', { booking });
          return 'Confirmed.';
        },
      );
    },
  },
  {
    // Shown by: after a 503 the same invoice is sent with another due date; the ledger then names two versions. Right: the second call.
    cause: 'retry with changed payload',
    name: 'the invoice is sent again with another due date',
    tell(w) {
      const o = office(w, 2);
      const [who, invoice, amount] = [person(w), `AR-${w.int(10_000, 99_999)}`, w.money(200, 9000)];
      const [due, moved, month] = [`2026-11-${w.int(10, 28)}`, `2026-12-${w.int(10, 28)}`, '2026-10'];
      let tries = 0;
      return told(
        `Send invoice ${invoice} (${amount} EUR, due ${due}) to ${who.email}, then close ${month}.`,
        o,
        {
          send_invoice: {
            run: (input) =>
              ++tries === 1
                ? fail('503 Service Unavailable, retry later', 'Unavailable')
                : { invoice: input.invoice, state: 'sent', message_id: hex(w, 16) },
          },
          close_period: {
            run: () =>
              w.broken
                ? fail(
                    `Period ${month} has invoices whose terms differ between copies: ${invoice}`,
                    'Conflict',
                  )
                : { month, state: 'closed' },
          },
        },
        function* () {
          const input: JsonObject = { invoice, to: who.email, amount, due_date: due };
          yield* ask('send_invoice', input);
          const again = w.broken ? { ...input, due_date: moved } : input;
          yield* ask('send_invoice', again, w.broken ? 'call' : undefined);
          yield* o.other();
          yield* insist('close_period', { month });
          return 'Closed.';
        },
      );
    },
  },
  {
    // Shown by: the call that timed out is made again, and the list afterwards holds two tickets of one subject.
    // Right: the call that timed out (it arrived late), and the one that repeats it with the model step that asked for it.
    cause: 'late duplicate',
    name: 'the ticket of a timed-out call exists as well',
    tell(w) {
      const o = office(w, 2);
      const [who, subject] = [person(w), `Refund for order ${w.int(10_000, 99_999)}`];
      const ids = [w.int(4000, 4999), w.int(5000, 5999)];
      let tries = 0;
      return told(
        `Open a ticket for ${who.email}: "${subject}", then solve the case of this customer.`,
        o,
        {
          create_ticket: {
            run: () =>
              ++tries === 1
                ? fail('Gateway timeout after 60 s; the request may have been processed', 'ToolTimeout')
                : { ticket: { id: ids[1], subject, status: 'new' } },
          },
          list_tickets: {
            run: () => ({
              count: w.broken ? 2 : 1,
              tickets: (w.broken ? ids : ids.slice(1)).map((id) => ({ id, subject, requester: who.email })),
            }),
          },
          solve_case: {
            run: () =>
              w.broken
                ? fail(`Case of ${who.email} has duplicate tickets ${ids.join(' and ')}`, 'Conflict')
                : { state: 'solved' },
          },
        },
        function* () {
          const input: JsonObject = { subject, requester: who.email, priority: 'normal' };
          yield* ask('create_ticket', input, w.broken ? 'result' : undefined);
          yield* ask('create_ticket', input, w.broken ? 'call' : undefined);
          yield* o.other();
          yield* ask('list_tickets', { requester: who.email });
          yield* insist('solve_case', { requester: who.email });
          return 'Solved.';
        },
      );
    },
  },
  {
    // Shown by: the second poll gives an event of the first again, with the same id, and its payment is booked once more.
    // Right: the poll that gave it again and the second booking.
    cause: 'late duplicate',
    name: 'a payment event is delivered twice',
    tell(w) {
      const o = office(w);
      const [event, invoice, amount] = [`evt_${hex(w, 10)}`, `INV-${w.int(1000, 9999)}`, w.money()];
      const [next, second] = [`evt_${hex(w, 10)}`, `INV-${w.int(10_000, 99_999)}`];
      let polls = 0;
      const made = (id: string, on: string) => ({
        id,
        type: 'payment.received',
        data: { invoice: on, amount },
      });
      return told(
        'Book the payments that arrive, then reconcile the day.',
        o,
        {
          poll_events: {
            run: () => {
              const fresh = ++polls === 1 || w.broken ? made(event, invoice) : made(next, second);
              return { events: [fresh], has_more: false };
            },
          },
          book_payment: { run: (input) => ({ entry: `JE-${hex(w, 6)}`, ...input }) },
          reconcile_day: {
            run: () =>
              w.broken
                ? fail(`Invoice ${invoice} is overpaid: ${amount} was booked twice`, 'Conflict')
                : { state: 'reconciled' },
          },
        },
        function* () {
          for (const again of [false, true]) {
            const fault = w.broken && again;
            const { events } = yield* ask('poll_events', { topic: 'payments' }, fault ? 'result' : undefined);
            yield* ask('book_payment', events[0].data, fault ? 'call' : undefined);
            yield* o.other();
          }
          yield* insist('reconcile_day', { date: day(w) });
          return 'Reconciled.';
        },
      );
    },
  },
];
