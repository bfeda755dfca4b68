/** The value is right but for how it is written or counted: locales and units. */
import { pressing } from '../domains.ts';
import { ask, askAll, fail } from '../world.ts';
import { cents, define, reads, writes } from './desk.ts';

const german = (value: number): string =>
  value.toLocaleString('de-DE', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

export const locales = [
  define(
    'wrong locale',
    'one export with semicolons and decimal commas',
    'Book the petty cash of the three branches.',
    'Two exports are separated by commas with decimal points, the one that the refused amount comes from by semicolons with decimal commas.',
    ({ world, broken, refuse, beside }) => {
      const branches = ['Utrecht', 'Leeds', 'Graz'];
      const sums = branches.map(() => cents(world.int(1100, 4800) + world.int(11, 99) / 100));
      const odd = 2;
      const csv = (n: number): string => {
        const sum = sums[n] ?? 0;
        return n === odd && broken
          ? `konto;text;betrag\n1600;Kasse ${branches[n]};${german(sum)}\n`
          : `account,text,amount\n1600,Cash ${branches[n]},${sum.toFixed(2)}\n`;
      };
      const written = (n: number): string =>
        n === odd && broken ? german(sums[n] ?? 0) : (sums[n] ?? 0).toFixed(2);
      return {
        tools: {
          export_csv: reads(({ branch }) => csv(branches.indexOf(branch))),
          book_entry: writes(({ amount }) =>
            /^\d+\.\d\d$/.test(amount) ? { entry: 1 } : refuse('amount', amount),
          ),
        },
        *talk() {
          for (const [n, branch] of branches.entries())
            yield* ask('export_csv', { branch }, n === odd ? 'result' : undefined);
          yield* beside();
          for (const n of [0, 1, odd])
            yield* pressing({ tool: 'book_entry', input: { account: '1600', amount: written(n) } });
        },
      };
    },
  ),
  define(
    'wrong locale',
    'a date with the day first among dates in ISO form',
    'Move the dentist appointments of the Silva family one week ahead.',
    'All appointments but one are dated in ISO form; that one is like 04/03/2026, and the refused date has its day and month the other way round.',
    ({ world, broken, give, refuse, beside }) => {
      const day = world.int(3, 9);
      const iso = (n: number): string => `2026-03-${String(day + n).padStart(2, '0')}`;
      const odd = world.int(1, 2);
      return {
        tools: {
          appointment: reads(({ person }) =>
            give({
              person,
              ...(person === odd && broken
                ? { date: `${String(day + odd).padStart(2, '0')}/03/2026` }
                : { date: iso(person) }),
              with: 'Dr. Okafor',
            }),
          ),
          reschedule: writes(({ from }) => (from === iso(odd) ? { moved: true } : refuse('from', from))),
        },
        *talk() {
          for (const person of [0, 1, 2, 3])
            yield* ask('appointment', { person }, person === odd ? 'result' : undefined);
          yield* beside();
          const from = broken ? `2026-${String(day + odd).padStart(2, '0')}-03` : iso(odd);
          yield* pressing({ tool: 'reschedule', input: { person: odd, from, weeks: 1 } });
        },
      };
    },
  ),
  define(
    'wrong locale',
    'a sheet whose thousands are set off by points',
    'Übertrage die Mieten aus den Tabellen in den Haushaltsplan.',
    'The sheet names the locale de_DE and shows 1.250 for a rent, which went into the plan as 1.25; the others are en_US.',
    ({ world, broken, give, beside }) => {
      const rents = [0, 1, 2].map(() => world.int(1101, 2999));
      const odd = world.int(0, 2);
      const shown = (n: number): string =>
        (rents[n] ?? 0).toLocaleString(n === odd && broken ? 'de-DE' : 'en-US');
      return {
        tools: {
          sheet_values: reads(({ sheet }) =>
            give({
              properties: { title: `Blatt ${sheet}`, locale: sheet === odd && broken ? 'de_DE' : 'en_US' },
              values: [
                ['Posten', 'Miete'],
                [`Haus ${sheet}`, shown(Number(sheet))],
              ],
            }),
          ),
          plan_rents: writes(({ rents: given }) =>
            broken ? fail(`a rent below 100 is not plausible: ${given[odd]}`) : { planned: 3 },
          ),
        },
        *talk() {
          yield* askAll(
            [0, 1, 2].map((sheet) => ({
              tool: 'sheet_values',
              input: { sheet },
              ...(sheet === odd ? { fault: 'result' as const } : {}),
            })),
          );
          yield* beside();
          const given = rents.map((rent, n) => (n === odd && broken ? rent / 1000 : rent));
          yield* pressing({ tool: 'plan_rents', input: { year: 2026, rents: given } });
        },
      };
    },
  ),
  define(
    'wrong locale',
    'a statement in SQL that the model wrote with a decimal comma',
    'Ställ in det nya priset i databasen.',
    'The price was read as a number with a point, and the prepared statement that the model wrote has it with a comma.',
    ({ world, broken, give, beside }) => {
      const price = world.int(11, 89) + 0.75;
      const text = broken ? String(price).replace('.', ',') : String(price);
      return {
        tools: {
          price_list: reads(() => give({ sku: 'K-88', price, currency: 'SEK' })),
          sql_stage: writes(() => ({ staged: 1, checked: false })),
          sql_commit: writes(() =>
            broken ? fail('statement 1: syntax error at or near ","') : { committed: 1 },
          ),
        },
        *talk() {
          yield* ask('price_list', { sku: 'K-88' });
          yield* ask(
            'sql_stage',
            { statement: `UPDATE item SET price = ${text} WHERE sku = 'K-88'` },
            'call',
          );
          yield* beside();
          yield* pressing({ tool: 'sql_commit', input: { all: true } });
        },
      };
    },
  ),
  define(
    'wrong locale',
    'digits of full width in one of the records',
    '来客の電話番号を予約システムに登録してください。',
    'The refused number is written in full-width digits, and one record has it so; the numbers of the others are plain.',
    ({ world, broken, give, refuse, beside }) => {
      const numbers = [0, 1, 2].map(() => `0${world.int(3, 9)}0${world.int(10_000_000, 99_999_999)}`);
      const odd = world.int(0, 2);
      const wide = (text: string): string =>
        text.replace(/\d/g, (d) => String.fromCharCode(0xff10 + Number(d)));
      const shown = (n: number): string =>
        n === odd && broken ? wide(numbers[n] ?? '') : (numbers[n] ?? '');
      return {
        tools: {
          guest_card: reads(({ card }) =>
            give({ card, 氏名: `${world.pick(['森', '林', '原'])}様`, 電話: shown(Number(card)) }),
          ),
          register_phone: writes(({ phone }) =>
            /^[0-9]+$/.test(phone) ? { ok: true } : refuse('phone', phone),
          ),
        },
        *talk() {
          for (const card of [0, 1, 2])
            yield* ask('guest_card', { card }, card === odd ? 'result' : undefined);
          yield* beside();
          for (const n of [0, 1, 2].toSorted((a, b) => Number(a === odd) - Number(b === odd)))
            yield* pressing({ tool: 'register_phone', input: { phone: shown(n) } });
        },
      };
    },
  ),
];

export const units = [
  define(
    'wrong unit',
    'a payment in cents beside an order in euros',
    'Refund the order of Ms Haddad in full.',
    'The order has its total in euros, the payment says a hundred times as much, and that was sent for a refund.',
    ({ world, broken, give, refuse, beside }) => {
      const euros = cents(world.int(40, 300) + world.int(11, 99) / 100);
      const shown = broken ? Math.round(euros * 100) : euros;
      return {
        tools: {
          order_get: reads(({ order }) => give({ order, total: euros, currency: 'EUR', state: 'returned' })),
          payment_get: reads(({ order }) =>
            give({ order, payment: `pi_${order}`, amount: shown, currency: 'eur', captured: true }),
          ),
          refund: writes(({ amount }) => (amount === euros ? { refunded: true } : refuse('amount', amount))),
        },
        *talk() {
          yield* ask('order_get', { order: 'A1182' });
          yield* ask('payment_get', { order: 'A1182' }, 'result');
          yield* beside();
          yield* pressing({ tool: 'refund', input: { payment: 'pi_A1182', amount: shown } });
        },
      };
    },
  ),
  define(
    'wrong unit',
    'milliseconds where the other slots have seconds',
    'Book the boiler service for the first slot that suits.',
    'The starts of the other slots are seconds since 1970, that of the refused slot is a thousand times as great.',
    ({ world, broken, give, refuse, beside }) => {
      const starts = [0, 1, 2, 3].map((n) => 1_772_355_600 + n * 7200 + world.int(0, 9) * 600);
      const odd = world.int(1, 3);
      const shown = (n: number): number => (starts[n] ?? 0) * (n === odd && broken ? 1000 : 1);
      return {
        tools: {
          slot: reads(({ engineer }) => give({ engineer, starts_at: shown(Number(engineer)), length_h: 2 })),
          book_slot: writes(({ starts_at: at }) =>
            at === starts[odd] ? { booked: true } : refuse('starts_at', at),
          ),
        },
        *talk() {
          for (const engineer of [0, 1, 2, 3])
            yield* ask('slot', { engineer }, engineer === odd ? 'result' : undefined);
          yield* beside();
          yield* pressing({ tool: 'book_slot', input: { engineer: odd, starts_at: shown(odd) } });
        },
      };
    },
  ),
  define(
    'wrong unit',
    'a volume in MiB between volumes in GiB',
    'Set the quota of each project to the size of its volume.',
    'Each volume has its unit beside the size; the one with the refused size says MiB where the rest say GiB.',
    ({ world, broken, give, refuse, beside }) => {
      // At least 32 GiB, so that 1024 times as much is always above the limit.
      const sizes = [0, 1, 2].map(() => world.int(2, 40) * 16);
      const odd = world.int(0, 2);
      const size = (n: number): number => (sizes[n] ?? 0) * (n === odd && broken ? 1024 : 1);
      return {
        tools: {
          volume_show: reads(({ volume }) =>
            give({
              volume: { name: `vol-${volume}`, type: 'ssd', attachments: [] },
              capacity: { size: size(Number(volume)), unit: volume === odd && broken ? 'MiB' : 'GiB' },
            }),
          ),
          quota_set: writes(({ gib }) => (gib < 1024 ? { ok: true } : refuse('gib', gib))),
        },
        *talk() {
          yield* askAll(
            [0, 1, 2].map((volume) => ({
              tool: 'volume_show',
              input: { volume },
              ...(volume === odd ? { fault: 'result' as const } : {}),
            })),
          );
          yield* beside();
          yield* pressing({ tool: 'quota_set', input: { project: `p-${odd}`, gib: size(odd) } });
        },
      };
    },
  ),
  define(
    'wrong unit',
    'a weighing list in pounds by its head',
    'Declare the weight of the parcels to the carrier.',
    'The heads of the lists say weight (kg), but that of the list with the refused weight says weight (lb).',
    ({ world, broken, refuse, beside }) => {
      const kilos = [0, 1, 2].map(() => world.int(20, 180) / 10);
      const odd = world.int(1, 2);
      const shown = (n: number): string => ((kilos[n] ?? 0) * (n === odd && broken ? 2.2046 : 1)).toFixed(1);
      return {
        tools: {
          weighing_list: reads(
            ({ dock }) =>
              `parcel\tweight (${dock === odd && broken ? 'lb' : 'kg'})\tseal\nP${dock}\t${shown(Number(dock))}\tyes\n`,
          ),
          declare_weight: writes(({ kg }) =>
            kg === Number((kilos[odd] ?? 0).toFixed(1)) ? { ok: true } : refuse('kg', kg),
          ),
        },
        *talk() {
          for (const dock of [0, 1, 2])
            yield* ask('weighing_list', { dock }, dock === odd ? 'result' : undefined);
          yield* beside();
          yield* pressing({ tool: 'declare_weight', input: { parcel: `P${odd}`, kg: Number(shown(odd)) } });
        },
      };
    },
  ),
  define(
    'wrong unit',
    'hours that the model wrote into a member for minutes',
    'Plan the night shift and send it out.',
    'The shift was read as duration_hours, and the same number was written by the model as duration_min.',
    ({ world, broken, give, beside }) => {
      const hours = world.int(5, 19) / 2;
      return {
        tools: {
          shift_template: reads(() => give({ template: 'night', duration_hours: hours, crew: 3 })),
          plan_save: writes(() => ({ plan: 'N-7', state: 'draft' })),
          plan_send: writes(() =>
            broken ? fail('plan N-7: a shift has to last at least two hours') : { sent: 3 },
          ),
        },
        *talk() {
          yield* ask('shift_template', { name: 'night' });
          yield* ask('plan_save', { crew: 3, duration_min: broken ? hours : hours * 60 }, 'call');
          yield* beside();
          yield* pressing({ tool: 'plan_send', input: { plan: 'N-7' } });
        },
      };
    },
  ),
];
