/**
 * The tasks that were set aside first: other trades, other tools, other shapes of data, other words. The rules were not
 * written with these in sight; since their first and only count they have been looked at, and are set aside no more.
 */
import {
  ask,
  askAll,
  fail,
  insist,
  isError,
  type Loose,
  type Scenario,
  type Talk,
  type Told,
  type World,
} from './world.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Three ways to be busy with something else. */
const busy: Told['tools'] = {
  weather_at: {
    effects: 'read',
    run: ({ station }) => `station ${station}: wind 3 m/s, visibility good`,
  },
  thesaurus: {
    effects: 'none',
    run: ({ entry }) => ({ entry, related: [`${entry}s`, `pre${entry}`] }),
  },
  ping_host: {
    effects: 'read',
    run: ({ host }) => [{ host, ms: String(host).length }] as never,
  },
};

function elsewhere(world: World): () => Talk<void> {
  const start = world.int(10, 80);
  const word = world.word();
  const ways = [
    () => world.wander('weather_at', (index) => ({ station: `ST${start + index}` })),
    () => world.wander('thesaurus', (index) => ({ entry: `${word}${start + index}` })),
    () => world.wander('ping_host', (index) => ({ host: `${word}-${start + index}.example` })),
  ];
  return world.pick(ways);
}

export const shapesOpened: readonly Scenario[] = [
  {
    cause: 'truncation',
    name: 'a query that stops at its row limit',
    tell: (world) => {
      const rest = elsewhere(world);
      const all = Array.from({ length: 9 }, (_, index) => `${world.word()}-${index}`);
      return {
        task: 'Give every vessel a berth.',
        tools: {
          ...busy,
          query_vessels: {
            effects: 'read',
            run: () => ({
              columns: ['name'],
              data: all.slice(0, world.broken ? 5 : 9).map((name) => [name]),
              limit_reached: world.broken,
            }),
          },
          publish_plan: {
            effects: 'write',
            run: ({ berths }) =>
              (berths as unknown[]).length === 9 ? { ok: true } : fail('vessels without a berth'),
          },
        },
        *talk() {
          const { data } = yield* ask('query_vessels', { port: 'Aarhus' }, 'result');
          yield* rest();
          yield* insist('publish_plan', {
            berths: data.map(([name]: [string], at: number) => ({ name, berth: at + 1 })),
          });
          return 'Planned.';
        },
      };
    },
  },
  {
    cause: 'truncation',
    name: 'JSON in text that stops in the middle',
    tell: (world) => {
      const rest = elsewhere(world);
      const keys = Array.from({ length: 6 }, (_, index) => `feature_${world.word()}_${index}`);
      const whole = JSON.stringify({ flags: keys.map((key) => ({ key, on: true })) });
      return {
        task: 'Switch off the last feature flag.',
        tools: {
          ...busy,
          dump_flags: { effects: 'read', run: () => (world.broken ? whole.slice(0, 90) : whole) },
          set_flag: {
            effects: 'write',
            run: ({ key }) => (keys.includes(String(key)) ? 'off' : fail(`no flag named ${key}`)),
          },
        },
        *talk() {
          const dump = yield* ask('dump_flags', { env: 'prod' }, 'result');
          yield* rest();
          const key =
            typeof dump === 'string' ? `feature_legacy_${world.int(10, 99)}` : dump.flags.at(-1).key;
          yield* insist('set_flag', { key, on: false });
          return 'Off.';
        },
      };
    },
  },
  {
    cause: 'truncation',
    name: 'a web page of which only the head came',
    tell: (world) => {
      const rest = elsewhere(world);
      const phone = `+45 ${world.int(20, 99)} ${world.int(10, 99)} ${world.int(10, 99)}`;
      const text = `About us. We repair boats since 1961. ${'Our yard lies by the sea. '.repeat(5)}`;
      return {
        task: 'Find the phone number of the yard and call it.',
        tools: {
          ...busy,
          fetch_page: {
            effects: 'read',
            run: () =>
              world.broken
                ? {
                    url: 'https://yard.example',
                    content_length: 9216,
                    received: 2048,
                    text: text.slice(0, 60),
                  }
                : {
                    url: 'https://yard.example',
                    content_length: 300,
                    received: 300,
                    text: `${text} Call ${phone}.`,
                  },
          },
          dial: {
            effects: 'external',
            run: ({ number }) => (number === phone ? 'answered' : fail('this number is not in service')),
          },
        },
        *talk() {
          const page = yield* ask('fetch_page', { url: 'https://yard.example' }, 'result');
          yield* rest();
          const number =
            /Call (.*)\.$/.exec(page.text)?.[1] ?? `+45 ${world.int(20, 99)} 00 ${world.int(10, 99)}`;
          yield* insist('dial', { number });
          return 'Called.';
        },
      };
    },
  },
  {
    cause: 'wrong locale',
    name: 'one sensor writes its value with a comma',
    tell: (world) => {
      const rest = elsewhere(world);
      const values = Array.from({ length: 5 }, () => (world.int(100, 299) / 10).toFixed(1));
      return {
        task: 'Average the greenhouse.',
        tools: {
          ...busy,
          read_sensor: {
            effects: 'read',
            run: ({ no }) => {
              const value = values[Number(no)] ?? '20.0';
              return { no, reading: { celsius: world.broken && no === 3 ? value.replace('.', ',') : value } };
            },
          },
          average: {
            run: ({ readings }) => {
              const bad = (readings as string[]).find((text) => Number.isNaN(Number(text)));
              return bad === undefined ? { mean: 20 } : fail(`could not convert string to float: '${bad}'`);
            },
          },
        },
        *talk() {
          const found = yield* askAll(
            [0, 1, 2, 3, 4].map((no) => ({
              tool: 'read_sensor',
              input: { no },
              ...(no === 3 ? { fault: 'result' as const } : {}),
            })),
          );
          yield* rest();
          yield* insist('average', { readings: found.map(({ reading }) => reading.celsius) });
          return 'Averaged.';
        },
      };
    },
  },
  {
    cause: 'wrong locale',
    name: 'dates of one branch are written the local way',
    tell: (world) => {
      const rest = elsewhere(world);
      const branches = ['Oslo', 'Turku', 'Wien', 'Gent'];
      const day = world.int(13, 28);
      return {
        task: 'Collect the inspection dates.',
        tools: {
          ...busy,
          branch_report: {
            effects: 'read',
            run: ({ branch }) => ({
              branch,
              inspections: [0, 1].map((index) => ({
                lift: `${branch}-${index}`,
                on: world.broken && branch === 'Wien' ? `${day + index}.04.2026` : `2026-04-${day + index}`,
              })),
            }),
          },
          register: {
            effects: 'write',
            input: {
              type: 'object',
              properties: {
                dates: { type: 'array', items: { type: 'string', pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' } },
              },
              required: ['dates'],
            },
            run: () => ({ ok: true }),
          },
        },
        *talk() {
          const dates: string[] = [];
          for (const branch of branches) {
            const report = yield* ask('branch_report', { branch }, branch === 'Wien' ? 'result' : undefined);
            dates.push(...report.inspections.map(({ on }: { on: string }) => on));
          }
          yield* rest();
          yield* insist('register', { dates });
          return 'Registered.';
        },
      };
    },
  },
  {
    cause: 'wrong locale',
    name: 'grouped thousands in one row of a text table',
    tell: (world) => {
      const rest = elsewhere(world);
      const rows = Array.from({ length: 5 }, () => world.int(1000, 9999));
      return {
        task: 'Book the donations.',
        tools: {
          ...busy,
          donations: {
            effects: 'read',
            run: ({ week }) => {
              const sum = rows[Number(week) - 1] ?? 0;
              return {
                week,
                sum: world.broken && week === 2 ? `${String(sum)[0]}.${String(sum).slice(1)},00` : sum,
              };
            },
          },
          post_entry: {
            effects: 'write',
            run: ({ amount }) =>
              typeof amount === 'number' ? { posted: true } : fail(`amount must be a number, got ${amount}`),
          },
        },
        *talk() {
          const sums: Loose[] = [];
          for (const week of [1, 2, 3, 4, 5])
            sums.push((yield* ask('donations', { week }, week === 2 ? 'result' : undefined)).sum);
          yield* rest();
          for (const amount of sums) yield* insist('post_entry', { account: 'donations', amount });
          return 'Booked.';
        },
      };
    },
  },
  {
    cause: 'stale read',
    name: 'a playlist that another call changed meanwhile',
    tell: (world) => {
      const rest = elsewhere(world);
      const id = `pl_${world.int(10000, 99999)}`;
      return {
        task: 'Put the new song at the end.',
        tools: {
          ...busy,
          get_playlist: { effects: 'read', run: () => ({ id, snapshot: 'AAA1', songs: 12 }) },
          remove_song: { effects: 'write', run: () => ({ removed: 1 }) },
          place_song: {
            effects: 'write',
            run: () => (world.broken ? fail('snapshot is outdated: the playlist has changed') : { ok: true }),
          },
        },
        *talk() {
          const list = yield* ask('get_playlist', { playlist: id }, 'result');
          if (world.broken) yield* ask('remove_song', { playlist: id, position: 3 });
          yield* rest();
          yield* insist('place_song', { playlist: id, snapshot: list.snapshot, position: list.songs });
          return 'Added.';
        },
      };
    },
  },
  {
    cause: 'stale read',
    name: 'an exchange rate of yesterday',
    tell: (world) => {
      const rest = elsewhere(world);
      const rate = world.int(10500, 11900) / 10000;
      return {
        task: 'Hedge the position.',
        tools: {
          ...busy,
          spot_rate: {
            effects: 'read',
            run: () => ({ pair: 'EURUSD', rate: world.broken ? rate - 0.05 : rate, stale: world.broken }),
          },
          place_order: {
            effects: 'external',
            run: ({ limit }) => (limit === rate ? { order: 1 } : fail(`limit ${limit} is outside the band`)),
          },
        },
        *talk() {
          const spot = yield* ask('spot_rate', { pair: 'EURUSD' }, 'result');
          yield* rest();
          yield* insist('place_order', { pair: 'EURUSD', limit: spot.rate });
          return 'Hedged.';
        },
      };
    },
  },
  {
    cause: 'stale read',
    name: 'a chapter rewritten after it was read',
    tell: (world) => {
      const rest = elsewhere(world);
      const path = `book/chapter-${world.int(2, 40)}.md`;
      const [old, fresh] = [`# The ${world.word()}\nIt rained.`, `# The ${world.word()}\nIt snowed.`];
      return {
        task: 'Polish the chapter.',
        tools: {
          ...busy,
          cat: { effects: 'read', run: () => old },
          spellcheck: {
            effects: 'write',
            run: (_, ctx) => {
              if (world.broken)
                ctx.effect({ kind: 'file', path, before: bytes(old), after: bytes(fresh) } as never);
              return { corrected: world.broken ? 1 : 0 };
            },
          },
          patch: {
            effects: 'write',
            run: ({ hunk }) => (world.broken ? fail(`hunk failed: ${hunk}`) : 'patched'),
          },
        },
        *talk() {
          const text = yield* ask('cat', { path }, 'result');
          yield* rest();
          yield* ask('spellcheck', { path });
          yield* insist('patch', { path, hunk: `-${text.split('\n')[1]}\n+It poured.` });
          return 'Polished.';
        },
      };
    },
  },
  {
    cause: 'wrong tool result',
    name: 'the timetable of another line',
    tell: (world) => {
      const rest = elsewhere(world);
      const line = `T${world.int(10, 49)}`;
      return {
        task: 'Announce the next tram.',
        tools: {
          ...busy,
          departures: {
            effects: 'read',
            run: () => ({
              line: world.broken ? `T${world.int(50, 99)}` : line,
              platform: world.int(1, 9),
              at: `${world.int(10, 19)}:${world.int(10, 59)}`,
            }),
          },
          announce: {
            effects: 'external',
            run: ({ at }) => (world.broken ? fail(`no ${line} leaves at ${at}`) : { done: true }),
          },
        },
        *talk() {
          const next = yield* ask('departures', { line }, 'result');
          yield* rest();
          yield* insist('announce', { line, at: next.at, platform: next.platform });
          return 'Announced.';
        },
      };
    },
  },
  {
    cause: 'wrong tool result',
    name: 'a blank where the others have a value',
    tell: (world) => {
      const rest = elsewhere(world);
      const plots = [1, 2, 3, 4, 5].map((index) => `${world.word()}-${index}`);
      return {
        task: 'Register the owners of the plots.',
        tools: {
          ...busy,
          plot: {
            effects: 'read',
            run: ({ plot }) => ({
              plot,
              owner: world.broken && plot === plots[2] ? null : { tax_no: world.int(100000, 999999) },
            }),
          },
          register_owners: {
            effects: 'write',
            input: {
              type: 'object',
              properties: { tax_nos: { type: 'array', items: { type: 'integer' } } },
              required: ['tax_nos'],
            },
            run: () => 'registered',
          },
        },
        *talk() {
          const tax_nos: Loose[] = [];
          for (const plot of plots)
            tax_nos.push(
              (yield* ask('plot', { plot }, plot === plots[2] ? 'result' : undefined)).owner?.tax_no ?? null,
            );
          yield* rest();
          yield* insist('register_owners', { tax_nos });
          return 'Registered.';
        },
      };
    },
  },
  {
    cause: 'wrong tool result',
    name: 'a recipe with an impossible oven',
    tell: (world) => {
      const rest = elsewhere(world);
      const heat = world.broken ? world.int(2100, 2390) : world.int(160, 230);
      return {
        task: 'Bake the bread.',
        tools: {
          ...busy,
          recipe: {
            effects: 'read',
            run: ({ dish }) => ({ dish, steps: ['knead', 'rest', 'bake'], oven: heat }),
          },
          set_oven: {
            effects: 'external',
            input: {
              type: 'object',
              properties: { degrees: { type: 'number', maximum: 300 } },
              required: ['degrees'],
            },
            run: () => ({ on: true }),
          },
        },
        *talk() {
          const { oven } = yield* ask('recipe', { dish: `${world.word()} bread` }, 'result');
          yield* rest();
          yield* insist('set_oven', { degrees: oven });
          return 'Baked.';
        },
      };
    },
  },
  {
    cause: 'fabricated value',
    name: 'a branch that is in no repository',
    tell: (world) => {
      const rest = elsewhere(world);
      const branches = ['main', `fix/${world.word()}`];
      const made = `release/${world.word()}-${world.int(2, 9)}`;
      return {
        task: 'Merge the open fix.',
        tools: {
          ...busy,
          git_branches: { effects: 'read', run: () => `* ${branches.join('\n  ')}` },
          git_merge: {
            effects: 'write',
            run: ({ branch }) =>
              branches.includes(String(branch))
                ? 'merged'
                : fail(`merge: ${branch} - not something we can merge`),
          },
        },
        *talk() {
          yield* ask('git_branches', {});
          yield* rest();
          yield {
            calls: [
              { tool: 'git_merge', input: { branch: world.broken ? made : branches[1]! }, fault: 'answer' },
            ],
          };
          return 'Merged.';
        },
      };
    },
  },
  {
    cause: 'fabricated value',
    name: 'a dose that no leaflet states',
    tell: (world) => {
      const rest = elsewhere(world);
      const dose = world.int(11, 19) * 25;
      return {
        task: 'Write the prescription as the leaflet says.',
        tools: {
          ...busy,
          leaflet: { effects: 'read', run: () => `Adults take ${dose} mg twice a day.` },
          prescribe: {
            effects: 'write',
            run: ({ dose_mg }) =>
              dose_mg === dose ? { id: 3 } : fail(`a dose of ${dose_mg} is not approved`),
          },
        },
        *talk() {
          const text = yield* ask('leaflet', { drug: world.word() });
          yield* rest();
          const dose_mg = world.broken ? dose * 2 + 37 : Number(/\d+/.exec(text)?.[0]);
          yield { calls: [{ tool: 'prescribe', input: { dose_mg, times: 2 }, fault: 'answer' }] };
          return 'Prescribed.';
        },
      };
    },
  },
  {
    cause: 'fabricated value',
    name: 'a quotation nobody wrote, carried through a draft',
    tell: (world) => {
      const rest = elsewhere(world);
      const said = `We shall open in ${world.word()} next spring`;
      const made = `The ${world.word()} deal is off the table`;
      let draft = '';
      return {
        task: 'Write the press note with a quotation from the interview.',
        tools: {
          ...busy,
          interview: { effects: 'read', run: () => ({ transcript: `Q: When? A: ${said}.` }) },
          save_draft: {
            effects: 'write',
            run: ({ body }) => {
              draft = body;
              return { saved: draft.length };
            },
          },
          read_draft: { effects: 'read', run: () => draft },
          check_quote: {
            run: ({ quote }) =>
              quote === said ? { ok: true } : fail(`quote not found in any source: "${quote}"`),
          },
        },
        *talk() {
          yield* ask('interview', { id: world.int(10, 99) });
          const quote = world.broken ? made : said;
          yield {
            calls: [{ tool: 'save_draft', input: { body: `She said: "${quote}".` }, fault: 'answer' }],
          };
          yield* rest();
          const body = yield* ask('read_draft', {});
          yield* insist('check_quote', { quote: /"(.*)"/.exec(body)?.[1] ?? '' });
          return 'Written.';
        },
      };
    },
  },
  {
    cause: 'loop',
    name: 'two tools in turn that send the agent to each other',
    tell: (world) => {
      const ticket = `Q${world.int(100, 999)}`;
      const times = 3 + Math.floor(world.distance / 4);
      return {
        task: 'Get the parking permit.',
        limits: { steps: 4 * times },
        tools: {
          office_a: {
            effects: 'read',
            run: () => (world.broken ? 'Please ask at counter B.' : 'Here is the permit.'),
          },
          office_b: { effects: 'read', run: () => 'Please ask at counter A.' },
        },
        *talk() {
          for (let index = 0; ; index++) {
            const a = yield* ask('office_a', { ticket }, index === 0 ? 'call' : undefined);
            if (a.includes('permit')) return 'Got it.';
            yield* ask('office_b', { ticket });
          }
        },
      };
    },
  },
  {
    cause: 'loop',
    name: 'a lift that stays where it is',
    tell: (world) => {
      const rest = elsewhere(world);
      const floor = world.int(3, 9);
      return {
        task: `Bring the lift to floor ${floor}.`,
        limits: { steps: 14 + 2 * world.distance },
        tools: {
          ...busy,
          call_lift: { effects: 'external', idempotent: true, run: () => ({ at: world.broken ? 1 : floor }) },
        },
        *talk() {
          yield* world.wander('ping_host', (index) => ({ host: `lift-${index}` }));
          if (!world.broken) yield* rest();
          for (let index = 0; ; index++) {
            const { at } = yield* ask('call_lift', { floor }, index === 0 ? 'call' : undefined);
            if (at === floor) return 'Arrived.';
          }
        },
      };
    },
  },
  {
    cause: 'loop',
    name: 'the same wrong query, mended in no way',
    tell: (world) => {
      const rest = elsewhere(world);
      const query = `select ${world.word()} form readings`;
      return {
        task: 'Read the highest value.',
        patience: 4,
        tools: {
          ...busy,
          sql: {
            effects: 'read',
            run: () => (world.broken ? fail('syntax error near "form"') : { rows: [[9]] }),
          },
        },
        *talk() {
          yield* rest();
          const first = yield* ask('sql', { query }, 'call');
          if (isError(first)) yield* insist('sql', { query });
          return '9.';
        },
      };
    },
  },
  {
    cause: 'swallowed error',
    name: 'a batch of which one part failed',
    tell: (world) => {
      const rest = elsewhere(world);
      const names = [1, 2, 3].map((index) => `${world.word()}${index}`);
      return {
        task: 'Deploy the three functions and smoke-test them.',
        tools: {
          ...busy,
          deploy_all: {
            effects: 'external',
            run: () => ({
              results: names.map((name, index) => ({
                name,
                status: world.broken && index === 1 ? 'failed' : 'deployed',
              })),
            }),
          },
          smoke_test: {
            run: () => (world.broken ? fail('one function answers with its old version') : { passed: 3 }),
          },
        },
        *talk() {
          yield* ask('deploy_all', { names }, 'result');
          yield* rest();
          yield* insist('smoke_test', { suite: 'functions' });
          return 'Deployed.';
        },
      };
    },
  },
  {
    cause: 'swallowed error',
    name: 'a stack trace in the text of a notebook cell',
    tell: (world) => {
      const rest = elsewhere(world);
      return {
        task: 'Train the model and evaluate it.',
        tools: {
          ...busy,
          run_cell: {
            effects: 'external',
            run: () => ({
              cell: 4,
              text: world.broken
                ? 'Traceback (most recent call last):\n  File "train.py", line 8\nKeyError: \'label\''
                : 'epoch 3 loss 0.12',
            }),
          },
          evaluate: {
            run: () => (world.broken ? fail('model file weights.bin is missing') : { accuracy: 0.93 }),
          },
        },
        *talk() {
          yield* ask('run_cell', { notebook: 'train.ipynb', cell: 4 }, 'result');
          yield* rest();
          yield* insist('evaluate', { set: `${world.word()}-test` });
          return '0.93.';
        },
      };
    },
  },
  {
    cause: 'swallowed error',
    name: 'an upload that says in passing that nothing was kept',
    tell: (world) => {
      const rest = elsewhere(world);
      const key = `scans/${world.word()}.tif`;
      return {
        task: 'Archive the scan and make its preview.',
        tools: {
          ...busy,
          put_object: {
            effects: 'external',
            run: () =>
              world.broken
                ? { key, etag: null, errors: [{ code: 'EntityTooLarge' }] }
                : { key, etag: 'f00', errors: [] },
          },
          make_preview: {
            effects: 'write',
            run: ({ source }) => (world.broken ? fail(`object ${source} does not exist`) : { made: true }),
          },
        },
        *talk() {
          yield* ask('put_object', { key, part: 1 }, 'result');
          yield* rest();
          yield* insist('make_preview', { source: key });
          return 'Archived.';
        },
      };
    },
  },
  {
    cause: 'retry with changed payload',
    name: 'a seat booked again in another row',
    tell: (world) => {
      const rest = elsewhere(world);
      const seat = `${world.int(10, 29)}A`;
      let tries = 0;
      let held = '';
      return {
        task: `Book seat ${seat}.`,
        patience: 2,
        tools: {
          ...busy,
          hold_seat: {
            effects: 'external',
            run: (input) => {
              if (world.broken && ++tries === 1) fail('gateway timeout (504)');
              held = String(input.seat);
              return { held };
            },
          },
          print_ticket: {
            run: ({ passenger }) =>
              held === seat ? { printed: true } : fail(`ticket of ${passenger} differs from the order`),
          },
        },
        *talk() {
          const passenger = `${world.word()} Holm`;
          const first = yield* ask('hold_seat', { passenger, seat, flight: 'SK12' });
          if (isError(first))
            yield* ask('hold_seat', { passenger, seat: `${world.int(30, 39)}F`, flight: 'SK12' }, 'call');
          yield* rest();
          yield* insist('print_ticket', { passenger });
          return 'Booked.';
        },
      };
    },
  },
  {
    cause: 'retry with changed payload',
    name: 'a firmware push repeated without its checksum',
    tell: (world) => {
      const rest = elsewhere(world);
      const sum = `crc${world.int(10000, 99999)}`;
      let tries = 0;
      let checked = false;
      return {
        task: 'Update the meter.',
        patience: 2,
        tools: {
          ...busy,
          push_firmware: {
            effects: 'external',
            run: (input) => {
              if (world.broken && ++tries === 1) fail('device temporarily unreachable', 'Unavailable');
              checked = input.checksum === sum;
              return { accepted: true };
            },
          },
          reboot: {
            effects: 'external',
            run: () => (checked ? { up: true } : fail('boot refused: image is not verified')),
          },
        },
        *talk() {
          const image = { device: 'm-4', image: '2.1.0', checksum: sum };
          const first = yield* ask('push_firmware', image);
          if (isError(first)) yield* ask('push_firmware', { device: 'm-4', image: '2.1.0' }, 'call');
          yield* rest();
          yield* insist('reboot', { device: 'm-4' });
          return 'Updated.';
        },
      };
    },
  },
  {
    cause: 'retry with changed payload',
    name: 'a transfer between pots, tried again the other way',
    tell: (world) => {
      const rest = elsewhere(world);
      let tries = 0;
      let moved = '';
      return {
        task: 'Move the stake from the savings pot to the travel pot.',
        patience: 2,
        tools: {
          ...busy,
          move_money: {
            effects: 'external',
            run: (input) => {
              if (world.broken && ++tries === 1) fail('deadline passed', 'ToolTimeout');
              moved = String(input.to);
              return { moved: input.amount as number };
            },
          },
          check_pot: {
            run: () => (moved === 'travel' ? { ok: true } : fail('the pot holds less than it should')),
          },
        },
        *talk() {
          const amount = world.int(50, 400);
          const first = yield* ask('move_money', { from: 'savings', to: 'travel', amount });
          if (isError(first)) yield* ask('move_money', { from: 'savings', to: 'holiday', amount }, 'call');
          yield* rest();
          yield* insist('check_pot', { pot: 'travel' });
          return 'Moved.';
        },
      };
    },
  },
  {
    cause: 'late duplicate',
    name: 'a pump started twice',
    tell: (world) => {
      const rest = elsewhere(world);
      let starts = 0;
      return {
        task: 'Fill the tank.',
        patience: 2,
        tools: {
          ...busy,
          run_pump: {
            effects: 'external',
            run: () => {
              starts++;
              if (world.broken && starts === 1) fail('controller did not answer', 'ToolTimeout');
              return { litres: 400 };
            },
          },
          tank_level: {
            effects: 'read',
            run: () => (starts === 1 ? { percent: 95 } : fail('overflow: level above 100 percent')),
          },
        },
        *talk() {
          const order = { tank: 'T2', litres: 400 };
          const first = yield* ask('run_pump', order);
          if (isError(first)) yield* ask('run_pump', order, 'result');
          yield* rest();
          yield* insist('tank_level', { tank: 'T2' });
          return 'Filled.';
        },
      };
    },
  },
  {
    cause: 'late duplicate',
    name: 'an answer to the question before',
    tell: (world) => {
      const rest = elsewhere(world);
      const bins = ['B1', 'B2', 'B3', 'B4'];
      const counts = bins.map((_, index) => ({
        pieces: world.int(100, 400) + index,
        counted_by: world.word(),
      }));
      return {
        task: 'Take stock.',
        tools: {
          ...busy,
          count_bin: {
            effects: 'read',
            run: ({ bin }) => counts[world.broken && bin === 'B3' ? 1 : bins.indexOf(String(bin))] as never,
          },
          post_stock: {
            effects: 'write',
            run: ({ pieces }) =>
              (pieces as number[])[2] === counts[2]?.pieces
                ? { ok: true }
                : fail('stock differs from the shelf labels'),
          },
        },
        *talk() {
          const pieces: number[] = [];
          for (const bin of bins)
            pieces.push((yield* ask('count_bin', { bin }, bin === 'B3' ? 'result' : undefined)).pieces);
          yield* rest();
          yield* insist('post_stock', { pieces });
          return 'Taken.';
        },
      };
    },
  },
  {
    cause: 'late duplicate',
    name: 'an alarm raised a second time',
    tell: (world) => {
      const rest = elsewhere(world);
      const zone = `${world.word()}-${world.int(1, 9)}`;
      let raised = 0;
      return {
        task: 'Raise the alarm for the zone and reset it.',
        tools: {
          ...busy,
          trigger_alarm: { effects: 'external', run: () => ({ raised: ++raised > 0, zone }) },
          reset_alarm: {
            effects: 'external',
            run: () => (raised === 1 ? { clear: true } : fail('alarm is still active')),
          },
        },
        *talk() {
          yield* ask('trigger_alarm', { zone, level: 2 });
          yield* rest();
          if (world.broken) yield* ask('trigger_alarm', { zone, level: 2 }, 'result');
          yield* insist('reset_alarm', { zone });
          return 'Reset.';
        },
      };
    },
  },
  {
    cause: 'missing permission',
    name: 'a calendar that may only be read',
    tell: (world) => {
      const rest = elsewhere(world);
      return {
        task: 'Invite the team.',
        patience: 2,
        tools: {
          ...busy,
          share_calendar: {
            effects: 'write',
            run: () =>
              world.broken
                ? fail('insufficient scope: calendar.write', 'PermissionDenied')
                : { shared: true },
          },
          invite: {
            effects: 'external',
            run: ({ who }) => (world.broken ? fail(`${who} cannot open the calendar`) : { sent: true }),
          },
        },
        *talk() {
          yield* ask('share_calendar', { calendar: 'team' }, 'result');
          yield* rest();
          yield* insist('invite', { who: `${world.word()}@example.org`, calendar: 'team' });
          return 'Invited.';
        },
      };
    },
  },
  {
    cause: 'missing permission',
    name: 'a copy that skipped what it may not read',
    tell: (world) => {
      const rest = elsewhere(world);
      const file = `${world.word()}.key`;
      return {
        task: 'Copy the configuration to the new host and start it.',
        tools: {
          ...busy,
          rsync: {
            effects: 'external',
            run: () => ({
              sent: world.broken ? 11 : 12,
              stderr: world.broken ? `skipping ${file}: EACCES` : '',
            }),
          },
          start_host: {
            effects: 'external',
            run: () => (world.broken ? fail('TLS handshake: no key') : { up: true }),
          },
        },
        *talk() {
          yield* ask('rsync', { from: '/etc/app', to: 'host2:/etc/app' }, 'result');
          yield* rest();
          yield* insist('start_host', { host: 'host2' });
          return 'Started.';
        },
      };
    },
  },
  {
    cause: 'missing permission',
    name: 'a payroll page behind a login',
    tell: (world) => {
      const rest = elsewhere(world);
      const hours = world.int(100, 160);
      return {
        task: 'Pay the hours of the month.',
        tools: {
          ...busy,
          open_page: {
            effects: 'read',
            run: () =>
              world.broken ? { status: 401, title: 'Sign in' } : { status: 200, title: `Hours: ${hours}` },
          },
          pay_hours: {
            effects: 'external',
            run: ({ hours: given }) =>
              given === hours ? { paid: true } : fail('hours do not match the time sheet'),
          },
        },
        *talk() {
          const page = yield* ask('open_page', { path: '/hours' }, 'result');
          yield* rest();
          yield* insist('pay_hours', { hours: Number(/\d+/.exec(page.title)?.[0] ?? 0) });
          return 'Paid.';
        },
      };
    },
  },
  {
    cause: 'wrong unit',
    name: 'seconds handed on as milliseconds',
    tell: (world) => {
      const rest = elsewhere(world);
      const seconds = world.int(31, 89);
      return {
        task: 'Set the timeout of the proxy to that of the backend.',
        tools: {
          ...busy,
          backend_config: { effects: 'read', run: () => ({ name: 'api', timeout_s: seconds }) },
          set_proxy: {
            effects: 'write',
            run: ({ timeout_ms }) =>
              Number(timeout_ms) >= 1000 ? { ok: true } : fail(`timeout ${timeout_ms} is too small`),
          },
        },
        *talk() {
          const { timeout_s } = yield* ask('backend_config', { name: 'api' });
          yield* rest();
          const timeout_ms = world.broken ? timeout_s : timeout_s * 1000;
          yield { calls: [{ tool: 'set_proxy', input: { route: '/api', timeout_ms }, fault: 'call' }] };
          return 'Set.';
        },
      };
    },
  },
  {
    cause: 'wrong unit',
    name: 'one field measured in feet',
    tell: (world) => {
      const rest = elsewhere(world);
      const fields = ['F1', 'F2', 'F3', 'F4'];
      const widths = fields.map(() => world.int(40, 90));
      return {
        task: 'Order the fence.',
        tools: {
          ...busy,
          survey: {
            effects: 'read',
            run: ({ field }) => {
              const index = fields.indexOf(String(field));
              const feet = world.broken && index === 2;
              return {
                field,
                width: feet ? Math.round((widths[index] ?? 0) * 3.281) : (widths[index] ?? 0),
                unit: feet ? 'ft' : 'm',
              };
            },
          },
          order_fence: {
            effects: 'external',
            run: ({ metres }) =>
              Number(metres) <= widths.reduce((a, b) => a + b, 0)
                ? { ok: true }
                : fail('more than the depot holds'),
          },
        },
        *talk() {
          let metres = 0;
          for (const field of fields)
            metres += (yield* ask('survey', { field }, field === 'F3' ? 'result' : undefined)).width;
          yield* rest();
          yield* insist('order_fence', { metres });
          return 'Ordered.';
        },
      };
    },
  },
  {
    cause: 'wrong unit',
    name: 'a share that was scaled to percent twice',
    tell: (world) => {
      const rest = elsewhere(world);
      const percent = world.int(111, 289) / 10;
      return {
        task: 'Set the discount that marketing decided.',
        tools: {
          ...busy,
          decision: { effects: 'read', run: () => ({ campaign: 'spring', discount_percent: percent }) },
          set_discount: {
            effects: 'write',
            run: ({ discount_percent }) =>
              Number(discount_percent) <= 100
                ? { ok: true }
                : fail(`discount_percent ${discount_percent} is out of range`),
          },
        },
        *talk() {
          const { discount_percent } = yield* ask('decision', { campaign: 'spring' });
          yield* rest();
          const given = world.broken ? Math.round(discount_percent * 1000) / 10 : discount_percent;
          yield {
            calls: [
              { tool: 'set_discount', input: { campaign: 'spring', discount_percent: given }, fault: 'call' },
            ],
          };
          return 'Set.';
        },
      };
    },
  },
  {
    cause: 'dropped page',
    name: 'an offset that jumped over one batch',
    tell: (world) => {
      const rest = elsewhere(world);
      const size = world.pick([10, 20, 25]);
      return {
        task: 'Number all graves of the cemetery map.',
        tools: {
          ...busy,
          graves: {
            effects: 'read',
            run: ({ offset }) => ({
              graves: Array.from({ length: 3 }, (_, i) => ({ no: Number(offset) + i })),
            }),
          },
          publish_map: {
            effects: 'write',
            run: ({ count }) => (count === 15 ? { ok: true } : fail('the map has a gap')),
          },
        },
        *talk() {
          let count = 0;
          const batches = [0, 1, 2, 3, 4].filter((index) => !world.broken || index !== 2);
          for (const index of batches)
            count += (yield* ask(
              'graves',
              { offset: index * size, limit: size },
              index === 3 ? 'call' : undefined,
            )).graves.length;
          yield* rest();
          yield* insist('publish_map', { count });
          return 'Numbered.';
        },
      };
    },
  },
  {
    cause: 'dropped page',
    name: 'a feed that had more',
    tell: (world) => {
      const rest = elsewhere(world);
      const pages = 3;
      return {
        task: 'Answer every open question of the feed.',
        tools: {
          ...busy,
          feed: {
            effects: 'read',
            run: ({ page }) => ({
              posts: [{ id: Number(page) * 7, open: true }],
              has_more: Number(page) < pages,
            }),
          },
          close_feed: {
            effects: 'write',
            run: ({ answered }) => (answered === pages ? { ok: true } : fail('open questions are left')),
          },
        },
        *talk() {
          let answered = 0;
          const last = world.broken ? 2 : 3;
          for (let page = 1; page <= last; page++)
            answered += (yield* ask('feed', { page }, page === last ? 'result' : undefined)).posts.length;
          yield* rest();
          yield* insist('close_feed', { answered });
          return 'Answered.';
        },
      };
    },
  },
  {
    cause: 'dropped page',
    name: 'a second sheet that nobody turned to',
    tell: (world) => {
      const rest = elsewhere(world);
      const token = `sheet-${world.int(1000, 9999)}`;
      return {
        task: 'Settle all claims in the workbook.',
        tools: {
          ...busy,
          read_claims: {
            effects: 'read',
            run: ({ page_token }) =>
              page_token === token
                ? { claims: [{ id: 4, sum: world.money() }], next_page_token: '' }
                : {
                    claims: [
                      { id: 1, sum: world.money() },
                      { id: 2, sum: world.money() },
                    ],
                    next_page_token: token,
                  },
          },
          settle: {
            effects: 'external',
            run: ({ count }) => (count === 3 ? { ok: true } : fail('the control sum is wrong')),
          },
        },
        *talk() {
          const first = yield* ask('read_claims', {}, 'result');
          let count = first.claims.length;
          if (!world.broken)
            count += (yield* ask('read_claims', { page_token: first.next_page_token })).claims.length;
          yield* rest();
          yield* insist('settle', { count });
          return 'Settled.';
        },
      };
    },
  },
];
