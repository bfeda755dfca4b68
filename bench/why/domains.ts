/**
 * What tasks are made of: trades with their own words, languages and spellings, ways to wrap a result, ways to refuse a
 * value, and work that has nothing to do with the fault. All drawn by the seed of a run.
 */
import { ask, type Call, fail, isError, type Loose, type Talk, type Told, type World } from './world.ts';

/** A trade: the names of its tools and members, and the language its texts are in. */
export interface Domain {
  readonly language: 'en' | 'de' | 'zh' | 'fr' | 'es' | 'ja';
  readonly task: string;
  /** Tools: one that reads one record, one that lists, one that acts, one that changes. */
  readonly get: string;
  readonly list: string;
  readonly act: string;
  readonly change: string;
  /** Members: the key of a record, its number, its text, its rows. */
  readonly key: string;
  readonly amount: string;
  readonly label: string;
  readonly rows: string;
  readonly id: (world: World) => string;
  readonly text: (world: World) => string;
}

const code = (prefix: string, world: World): string => `${prefix}${world.int(10_000, 99_999)}`;

export const domains: readonly Domain[] = [
  {
    language: 'en',
    task: 'Settle the open claims of the week.',
    get: 'claim_detail',
    list: 'claims',
    act: 'settle_claim',
    change: 'amend_claim',
    key: 'claim_id',
    amount: 'payout',
    label: 'insured',
    rows: 'claims',
    id: (world) => code('CLM-', world),
    text: (world) => `${world.word()} ${world.word()} household`,
  },
  {
    language: 'de',
    task: 'Buche die offenen Rechnungen der Woche.',
    get: 'rechnung_lesen',
    list: 'rechnungen_auflisten',
    act: 'zahlung_ausfuehren',
    change: 'rechnung_korrigieren',
    key: 'rechnungsnummer',
    amount: 'betrag',
    label: 'empfaenger',
    rows: 'rechnungen',
    id: (world) => `R${world.int(2023, 2026)}/${world.int(1000, 9999)}`,
    text: (world) => `${world.word()} Söhne GmbH, Köln`,
  },
  {
    language: 'zh',
    task: '核对仓库的库存并下订单。',
    get: 'stock-lookup',
    list: 'stock-list',
    act: 'place-order',
    change: 'stock-adjust',
    key: '货号',
    amount: '数量值',
    label: '品名',
    rows: '清单',
    id: (world) => code('HW', world),
    text: (world) => `${world.pick(['红茶', '绿茶', '瓷杯', '竹盘', '茶壶'])}${world.int(10, 99)}号`,
  },
  {
    language: 'fr',
    task: 'Prépare les livraisons de demain.',
    get: 'lireColis',
    list: 'listerColis',
    act: 'expedierColis',
    change: 'modifierColis',
    key: 'numeroColis',
    amount: 'poids',
    label: 'destinataire',
    rows: 'colis',
    id: (world) => `FR ${world.int(100, 999)} ${world.int(100, 999)}`,
    text: (world) => `Éts ${world.word()}, Besançon`,
  },
  {
    language: 'es',
    task: 'Actualiza las reservas del hotel.',
    get: 'reserva_ver',
    list: 'reservas_listar',
    act: 'reserva_confirmar',
    change: 'reserva_cambiar',
    key: 'localizador',
    amount: 'importe',
    label: 'huesped',
    rows: 'reservas',
    id: (world) => `${world.pick(['QX', 'LM', 'ZT'])}${world.int(100, 999)}${world.pick(['A', 'K', 'P'])}`,
    text: (world) => `Señora ${world.word()} Muñoz`,
  },
  {
    language: 'ja',
    task: '来週の予約を確定してください。',
    get: 'getBooking',
    list: 'listBookings',
    act: 'confirmBooking',
    change: 'editBooking',
    key: 'bookingRef',
    amount: 'fee',
    label: 'guestName',
    rows: 'bookings',
    id: (world) => code('YO', world),
    text: (world) => `${world.pick(['佐藤', '鈴木', '高橋', '田中'])}様 ${world.int(1, 40)}号室`,
  },
  {
    language: 'en',
    task: 'Roll the fleet to the new firmware.',
    get: 'device_status',
    list: 'fleet_scan',
    act: 'flash_firmware',
    change: 'device_configure',
    key: 'serial',
    amount: 'battery_mv',
    label: 'site',
    rows: 'devices',
    id: (world) => `${world.pick(['a4', '7f', 'c0'])}:${world.int(10, 99)}:${world.int(10, 99)}:ee`,
    text: (world) => `${world.word()} tower, bay ${world.int(1, 30)}`,
  },
  {
    language: 'en',
    task: 'Merge the clinic’s lab results into the charts.',
    get: 'fetchSpecimen',
    list: 'listSpecimens',
    act: 'fileResult',
    change: 'relabelSpecimen',
    key: 'accession',
    amount: 'value',
    label: 'analyte',
    rows: 'specimens',
    id: (world) => `${world.int(24, 26)}-${world.int(100_000, 999_999)}`,
    text: (world) => `${world.word()} serum panel`,
  },
];

/** A result as some tool would wrap it. */
export type Wrap = (payload: Loose) => unknown;

/** One way for all results of a run, as a system has one. */
export function wrapping(world: World): Wrap {
  return world.pick<Wrap>([
    (payload) => payload,
    (payload) => payload,
    (payload) => ({ data: payload }),
    (payload) => ({ result: payload, meta: { request_id: 'r-7f3a', took: 12 } }),
    (payload) => JSON.stringify(payload),
    (payload) => ({ content: [{ type: 'text', text: JSON.stringify(payload) }] }),
    (payload) => ({ response: { body: payload, headers: { 'content-type': 'application/json' } } }),
  ]);
}

/** How the acting system refuses a value; three in ten do not say which. */
export function refusal(world: World, domain: Domain, field: string): (value: unknown) => string {
  const said: { readonly [language in Domain['language']]: (value: unknown) => string } = {
    en: (value) => `${field}: "${String(value)}" is not acceptable here`,
    de: (value) => `Ungültiger Wert für ${field}: „${String(value)}“`,
    zh: (value) => `${field} 的值“${String(value)}”无效`,
    fr: (value) => `${field} invalide : ${String(value)}`,
    es: (value) => `${field} no válido: ${String(value)}`,
    ja: (value) => `${field}「${String(value)}」は不正です`,
  };
  const silent = [
    'request refused (code 4711)',
    'HTTP 422 from upstream',
    'validation step rejected the request',
  ];
  return world.random() < 0.3 ? () => world.pick(silent) : said[domain.language];
}

/** Tools of the work beside the point: nested, long, in other languages, sometimes empty, sometimes failing at first. */
export function sideTools(world: World): { tools: Told['tools']; idle: () => Talk<void> } {
  const shaky = new Set<string>();
  const chosen = world.pick([0, 1, 2, 3]);
  const start = world.int(100, 900);
  const tools: Told['tools'] = {
    calendar_query: {
      effects: 'read',
      run: ({ week }) => ({
        week,
        events: Number(week) % 3 === 0 ? [] : [{ at: `T${week}:30`, with: ['Kim', 'Lê'] }],
      }),
    },
    wetter: {
      effects: 'read',
      run: ({ ort }) =>
        `Wetter in ${ort}: heiter, ${String(ort).length} °C, Wind aus Südwest. Vorhersage unverändert.`,
    },
    dictionary: {
      effects: 'read',
      run: ({ 词 }) => ({ 词, 释义: [{ 序: 1, 文: `${词}：一种常见的说法。` }], 例句: [] }),
    },
    sensor_csv: {
      effects: 'read',
      run: ({ station }) => {
        const rows = [0, 1, 2, 3].map((hour) => `${station},${hour}:00,${Number(station) + hour},ok`);
        return `station,time,level,quality\n${rows.join('\n')}\n`;
      },
    },
    ping_host: {
      effects: 'read',
      run: ({ host }) => {
        if (Number(String(host).slice(-1)) % 4 === 1 && !shaky.has(host)) {
          shaky.add(host);
          return fail('temporarily unavailable, try again', 'Unavailable');
        }
        return { host, alive: true, rtt_ms: String(host).length };
      },
    },
  };
  const names = ['calendar_query', 'wetter', 'dictionary', 'sensor_csv', 'ping_host'];
  const inputs: { [name: string]: (n: number) => { [name: string]: string | number } } = {
    calendar_query: (n) => ({ week: n % 53 }),
    wetter: (n) => ({ ort: `Ort${n}` }),
    dictionary: (n) => ({ 词: `词条${n}` }),
    sensor_csv: (n) => ({ station: n }),
    ping_host: (n) => ({ host: `node-${n}` }),
  };
  return {
    tools,
    *idle() {
      for (let done = 0, index = chosen; done < world.distance; index++) {
        const name = names[(index * 7 + chosen) % names.length] ?? 'wetter';
        const input = inputs[name]?.(start + index) ?? {};
        const result: Loose = yield* ask(name, input);
        done += 2;
        if (isError(result)) {
          yield* ask(name, input);
          done += 2;
        }
      }
    },
  };
}

/** Asks until it is answered or the run ends; patience is the run's business. */
export function* pressing(call: Call): Talk<Loose> {
  for (;;) {
    const [result] = yield { calls: [call] };
    if (!isError(result)) return result;
  }
}
