/** More forms of four causes: errors that the agent was told of and passed over, a parser's locale, a unit of time. */
import { ask, fail, insist, type Scenario } from '../world.ts';
import { day, hex, office, person, told } from './office.ts';

export const more: readonly Scenario[] = [
  {
    // Shown by: the call itself failed with 403 and the scope that is missing; the event was never changed.
    cause: 'missing permission',
    name: 'a 403 on the calendar of a colleague is passed over',
    tell(w) {
      const o = office(w, 2);
      const [who, event, date] = [person(w), `evt${hex(w, 10)}`, day(w)];
      return told(
        `Move the review with ${who.name} to ${date}, then book a room for it.`,
        o,
        {
          calendar_move_event: {
            run: () =>
              w.broken
                ? fail(
                    '403 Forbidden: requiredAccessLevel, calendar.events scope is missing',
                    'PermissionDenied',
                  )
                : { id: event, start: { date }, status: 'confirmed' },
          },
          book_meeting_room: {
            run: () =>
              w.broken
                ? fail(`Event ${event} does not take place on ${date}`, 'InvalidParams')
                : { room: 'Elbe 2', status: 'booked' },
          },
        },
        function* () {
          const input = { calendar: who.email, event, start: date };
          yield* ask('calendar_move_event', input, w.broken ? 'result' : undefined);
          yield* o.other();
          yield* insist('book_meeting_room', { event, date });
          return 'Moved.';
        },
      );
    },
  },
  {
    // Shown by: creating the folder failed, and the agent went on as if it were there. Right: the failed call.
    cause: 'swallowed error',
    name: 'a failed tool call is passed over',
    tell(w) {
      const o = office(w, 2);
      const [matter, path] = [`M-${w.int(1000, 9999)}`, `/clients/${w.word()}-${hex(w, 4)}`];
      return told(
        `Open the data room of matter ${matter} at ${path} and file the pleadings in it.`,
        o,
        {
          dms_create_folder: {
            run: () =>
              w.broken
                ? fail('Template "litigation" could not be applied; folder was not created')
                : { path, created: true },
          },
          dms_file_document: {
            run: () =>
              w.broken
                ? fail(`Path ${path} does not exist`, 'InvalidParams')
                : { path: `${path}/pleadings.pdf`, version: 1 },
          },
        },
        function* () {
          const input = { matter, path, template: 'litigation' };
          yield* ask('dms_create_folder', input, w.broken ? 'result' : undefined);
          yield* o.other();
          yield* insist('dms_file_document', { path, document: 'pleadings.pdf' });
          return 'Filed.';
        },
      );
    },
  },
  {
    // Shown by: the parser says `locale: en_US`, gives the raw text `1.234,50` beside its own figure of 1.2345 (a German hotel).
    cause: 'wrong locale',
    name: 'the parser of the expense report reads a comma as American',
    tell(w) {
      const o = office(w);
      const [k, rest, part] = [w.int(1, 9), w.int(100, 999), w.int(10, 99)];
      const [right, wrong] = [Number(`${k}${rest}.${part}`), Number(`${k}.${rest}${part}`)];
      const report = `EXP-${w.int(1000, 9999)}`;
      return told(
        `Pay the expense report ${report}.`,
        o,
        {
          parse_expense_report: {
            run: () => ({
              report,
              locale: w.broken ? 'en_US' : 'de_DE',
              merchant: 'Hotel Adler, Freiburg',
              raw_total: `${k}.${rest},${part} €`,
              total: w.broken ? wrong : right,
            }),
          },
          pay_expense: {
            run: ({ amount }) =>
              amount === right
                ? { payment: `PAY-${hex(w, 6)}` }
                : fail(`Amount ${amount} is not the total of the receipts of ${report}`, 'InvalidParams'),
          },
        },
        function* () {
          const parsed = yield* ask('parse_expense_report', { report }, w.broken ? 'result' : undefined);
          yield* o.other();
          yield* insist('pay_expense', { report, amount: parsed.total });
          return 'Paid.';
        },
      );
    },
  },
  {
    // Shown by: the time sheet counts minutes (`duration_minutes`), and the absence is written with the same figure as hours.
    cause: 'wrong unit',
    name: 'minutes of the time sheet are taken for hours',
    tell(w) {
      const o = office(w);
      const [who, minutes, request] = [person(w), w.int(2, 7) * 60, `ABS-${w.int(1000, 9999)}`];
      return told(
        `Turn the overtime of ${who.name} into time off and submit it.`,
        o,
        {
          get_overtime: { run: () => ({ employee: who.email, duration_minutes: minutes, approved: true }) },
          create_absence: { run: (input) => ({ request, ...input, state: 'draft' }) },
          submit_absence: {
            run: () =>
              w.broken
                ? fail(`${request} is longer than the overtime balance`, 'InvalidParams')
                : { request, state: 'submitted' },
          },
        },
        function* () {
          const { duration_minutes } = yield* ask('get_overtime', { employee: who.email });
          const hours = w.broken ? duration_minutes : duration_minutes / 60;
          const input = { employee: who.email, type: 'time_off_in_lieu', hours };
          yield* ask('create_absence', input, w.broken ? 'call' : undefined);
          yield* o.other();
          yield* insist('submit_absence', { request });
          return 'Submitted.';
        },
      );
    },
  },
];
