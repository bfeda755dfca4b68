/** The same thing a second time: retries that say something else, and answers that came twice. */
import type { JsonObject } from '../../../packages/types/src/index.ts';
import { pressing } from '../domains.ts';
import { ask, fail, isError, type Loose, type ScenarioTool, type Talk } from '../world.ts';
import { define, other, reads, writes } from './desk.ts';

/** Fails once for a reason that passes, and then works. */
function second(message: string, done: Loose, more: Partial<ScenarioTool> = {}): ScenarioTool {
  let tries = 0;
  return writes(() => (++tries === 1 ? fail(message, 'Unavailable') : done), more);
}

/** Calls, and calls again when that failed: the second attempt is where a changed payload lies. */
function* twice(tool: string, first: JsonObject, again: JsonObject): Talk<void> {
  const result = yield* ask(tool, first);
  if (isError(result)) yield* ask(tool, again, 'call');
}

export const changedRetries = [
  define(
    'retry with changed payload',
    'fewer recipients in the second attempt',
    'Tell all tenants about the water cut.',
    'The first attempt had four recipients and failed with a time-out; the second, the same otherwise, has three.',
    ({ world, broken, beside }) => {
      const tenants = [0, 1, 2, 3].map((n) => `flat${n + 1}.${world.word()}@haus.test`);
      const gone = world.int(0, 3);
      const body = { subject: 'Water cut on Friday', to: tenants };
      return {
        tools: {
          notify: second('SMTP timeout after DATA', { queued: true }, { effects: 'external' }),
          close_notice: writes(() =>
            broken ? fail(`no delivery on file for ${tenants[gone]}`) : { closed: true },
          ),
        },
        *talk() {
          yield* twice('notify', body, broken ? { ...body, to: tenants.filter((_, n) => n !== gone) } : body);
          yield* beside();
          yield* pressing({ tool: 'close_notice', input: { notice: 'water' } });
        },
      };
    },
  ),
  define(
    'retry with changed payload',
    'a statement that lost its condition after a deadlock',
    'Mark the invoice as paid and run the monthly report.',
    'The first statement, which ended in a deadlock, has a WHERE, and the one sent after it has none.',
    ({ world, broken, beside }) => {
      const invoice = world.int(10_000, 99_999);
      const sql = "UPDATE invoice SET state = 'paid'";
      const whole = `${sql} WHERE no = ${invoice}`;
      return {
        tools: {
          execute_sql: second('deadlock detected, transaction rolled back', { command: 'UPDATE' }),
          monthly_report: reads(() =>
            broken ? fail('report: no invoice is open, expected at least 1') : { pages: 4 },
          ),
        },
        *talk() {
          yield* twice('execute_sql', { sql: whole }, { sql: broken ? sql : whole });
          yield* beside();
          yield* pressing({ tool: 'monthly_report', input: { month: '2026-02' } });
        },
      };
    },
  ),
  define(
    'retry with changed payload',
    'a dry run in the second attempt',
    'Upload the build and release it.',
    'The upload that failed with 503 was a real one, and the one after it has dry_run true.',
    ({ world, broken, give, beside }) => {
      const artifact = `app-${world.int(1, 9)}.${world.int(0, 20)}.0.tgz`;
      const upload = { artifact, channel: 'stable', dry_run: false };
      return {
        tools: {
          upload_artifact: second('503 backend is draining', give({ accepted: true, artifact })),
          release: writes(() =>
            broken ? fail(`there is no artifact ${artifact} in channel stable`) : { released: artifact },
          ),
        },
        *talk() {
          yield* twice('upload_artifact', upload, { ...upload, dry_run: broken });
          yield* beside();
          yield* pressing({ tool: 'release', input: { artifact, channel: 'stable' } });
        },
      };
    },
  ),
  define(
    'retry with changed payload',
    'a night later in the second attempt',
    'Riserva la camera per la conferenza e manda la conferma.',
    'Both attempts reserve the same room for the same guest, and the arrival moved by a day between them.',
    ({ world, broken, give, beside }) => {
      const day = world.int(10, 26);
      const stay = {
        camera: world.int(100, 400),
        ospite: 'Rossi',
        periodo: { arrivo: `2026-05-${day}`, notti: 2 },
      };
      const moved = { ...stay, periodo: { arrivo: `2026-05-${day + 1}`, notti: 2 } };
      return {
        tools: {
          riserva: second('servizio momentaneamente non disponibile', give({ stato: 'confermata' })),
          manda_conferma: writes(() =>
            broken ? fail('il periodo non coincide con la conferenza') : { inviata: true },
          ),
        },
        *talk() {
          yield* twice('riserva', stay, broken ? moved : stay);
          yield* beside();
          yield* pressing({ tool: 'manda_conferma', input: { ospite: 'Rossi' } });
        },
      };
    },
  ),
  define(
    'retry with changed payload',
    'another tag of the image in the second attempt',
    'Roll out the tested image to production.',
    'The image that failed to be pulled has a tag with a version, and the one of the second attempt has latest.',
    ({ world, broken, beside }) => {
      const version = `1.${world.int(2, 30)}.${world.int(0, 9)}`;
      const spec = (tag: string): Loose => ({
        spec: { template: { containers: [{ name: 'api', image: `registry.test/api:${tag}` }] }, replicas: 3 },
      });
      return {
        tools: {
          apply_manifest: second('i/o timeout while talking to the registry', { configured: true }),
          smoke_test: reads(() =>
            broken ? fail('expected the tested build, another one answered') : { passed: 14 },
          ),
        },
        *talk() {
          yield* twice('apply_manifest', spec(version), spec(broken ? 'latest' : version));
          yield* beside();
          yield* pressing({ tool: 'smoke_test', input: { host: 'api.test' } });
        },
      };
    },
  ),
];

export const duplicates = [
  define(
    'late duplicate',
    'a message of a queue that was delivered again',
    'Work through the refund queue and settle it.',
    'The third message has the identifier of an earlier one and a receive count of 2, and its refund was made again.',
    ({ world, broken, give, beside }) => {
      const ids = [0, 1, 2].map((n) => `msg-${world.int(1000, 9999)}${n}`);
      const sums = [0, 1, 2].map(() => world.int(10, 90));
      const again = world.int(0, 1);
      let taken = 0;
      const at = (n: number): number => (broken && n === 2 ? again : n);
      return {
        tools: {
          queue_receive: reads(() => {
            const n = taken++;
            return give({
              MessageId: ids[at(n)],
              Attributes: { ApproximateReceiveCount: at(n) === n ? 1 : 2 },
              Body: { order: `O-${ids[at(n)]?.slice(-5)}`, refund: sums[at(n)] },
            });
          }),
          refund_order: writes(({ order }) => ({ order, refunded: true })),
          settle_queue: writes(() =>
            broken ? fail(`order O-${ids[again]?.slice(-5)} has been refunded twice`) : { settled: 3 },
          ),
        },
        *talk() {
          for (const n of [0, 1, 2]) {
            yield* ask('queue_receive', { queue: 'refunds', max: 1 }, n === 2 ? 'result' : undefined);
            // The second refund is what an engineer may name as well: it was there that the repeat did harm.
            yield* ask(
              'refund_order',
              { order: `O-${ids[at(n)]?.slice(-5)}`, amount: sums[at(n)] ?? 0 },
              n === 2 ? 'call' : undefined,
            );
          }
          yield* beside();
          yield* pressing({ tool: 'settle_queue', input: { queue: 'refunds' } });
        },
      };
    },
  ),
  define(
    'late duplicate',
    'a case that was opened twice because the first answer was lost',
    'Open a case with the supplier and close the complaint.',
    'The first opening ended with an unknown outcome, the same was sent again and done, and two cases are there later.',
    ({ world, broken, beside }) => {
      const body = { supplier: 'Nordholz', about: `pallet ${world.int(100, 999)} arrived wet` };
      let tries = 0;
      return {
        tools: {
          case_open: writes(
            () => {
              if (++tries > 1) return { case: `C-${tries}` };
              // In the healthy run nothing had been sent, and to send it again is right.
              return broken
                ? fail('no answer within 30 s, the request had been sent', 'OutcomeUnknown')
                : fail('connection refused, nothing was sent', 'Unavailable');
            },
            { effects: 'external' },
          ),
          complaint_close: writes(() =>
            broken ? fail('two cases are linked to this complaint') : { closed: true },
          ),
        },
        *talk() {
          yield* ask('case_open', body);
          yield* ask('case_open', body, 'call');
          yield* beside();
          yield* pressing({ tool: 'complaint_close', input: { complaint: 'R-12' } });
        },
      };
    },
  ),
  define(
    'late duplicate',
    'the answer to an earlier question',
    'Get the three insurance quotes and buy the one for the van.',
    'The answer with the refused premium names in in_reply_to the request of the question before.',
    ({ world, broken, give, refuse, beside }) => {
      const what = ['bike', 'car', 'van'];
      const premiums = [0, 1, 2].map((n) => world.int(10, 30) + n * 40);
      const request = what.map((one) => `q-${one}-${world.int(100, 999)}`);
      const answered = (n: number): number => (broken && n === 2 ? 1 : n);
      return {
        tools: {
          quote: reads(({ request_id: id }) => {
            const n = answered(request.indexOf(id));
            return give({ in_reply_to: request[n], premium: premiums[n], valid_days: 14 });
          }),
          buy_policy: writes(({ premium }) =>
            premium === premiums[2] ? { policy: 'V-1' } : refuse('premium', premium),
          ),
        },
        *talk() {
          for (const [n, one] of what.entries())
            yield* ask('quote', { request_id: request[n] ?? '', what: one }, n === 2 ? 'result' : undefined);
          yield* beside();
          yield* pressing({
            tool: 'buy_policy',
            input: { what: 'van', premium: premiums[answered(2)] ?? 0 },
          });
        },
      };
    },
  ),
  define(
    'late duplicate',
    'a batch of readings with the number of the batch before',
    'Add up the power readings of the night and report them.',
    'Two of the batches have the same sequence number and the same readings, and the reported sum has both.',
    ({ world, broken, give, refuse, beside }) => {
      const start = world.int(100, 900);
      const batches = [0, 1, 2, 3].map((n) => ({
        seq: start + n,
        kwh: [world.int(1, 9), world.int(10, 30), world.int(1, 9)],
      }));
      const odd = world.int(2, 3);
      const sum = (list: typeof batches): number => list.flatMap(({ kwh }) => kwh).reduce((a, b) => a + b, 0);
      const got = batches.flatMap((batch, n) => (broken && n === odd ? [batches[n - 1] ?? batch] : [batch]));
      return {
        tools: {
          next_batch: reads(({ poll }) => give(got[Number(poll)])),
          report_sum: writes(({ kwh }) => (broken ? refuse('kwh', kwh) : { reported: kwh })),
        },
        *talk() {
          for (const poll of [0, 1, 2, 3])
            yield* ask('next_batch', { poll }, poll === odd ? 'result' : undefined);
          yield* beside();
          yield* pressing({ tool: 'report_sum', input: { night: '2026-03-02', kwh: sum(got) } });
        },
      };
    },
  ),
  define(
    'late duplicate',
    'a booking of the bank on two pages of its list',
    'Buche die Kontoumsätze der Woche und gleiche das Konto ab.',
    'The first entry of the second page has the identifier of the last one of the first, and both were booked.',
    ({ world, broken, give, beside }) => {
      const make = (): string => `TX${world.int(100_000, 999_999)}`;
      const entries = [0, 1, 2, 3].map(() => ({ id: make(), eur: world.int(5, 500) }));
      const next = other(make, entries[1]?.id ?? '');
      const pages = [
        entries.slice(0, 2),
        [broken ? (entries[1] as (typeof entries)[0]) : { id: next, eur: 12 }, ...entries.slice(2)],
      ];
      return {
        tools: {
          umsaetze: reads(({ seite }) =>
            give({ seite, seiten: 2, umsaetze: pages[Number(seite) - 1], anfang: '2026-03-02' }),
          ),
          buchen: writes(({ umsaetze }) => ({ gebucht: umsaetze.length })),
          abgleichen: writes(() =>
            broken ? fail(`Differenz von ${entries[1]?.eur},00 EUR`) : { differenz: 0 },
          ),
        },
        *talk() {
          yield* ask('umsaetze', { seite: 1 });
          yield* ask('umsaetze', { seite: 2 }, 'result');
          yield* ask('buchen', { umsaetze: pages.flat() });
          yield* beside();
          yield* pressing({ tool: 'abgleichen', input: { konto: 'Giro' } });
        },
      };
    },
  ),
];
