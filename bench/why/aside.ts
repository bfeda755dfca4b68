/**
 * The tasks that are set aside: written after the rules, and not looked at since by anyone who changes a rule. Once they
 * have been, they belong to the opened ones, and new ones take their place.
 */
import { ask, fail, insist, isError, type Loose, type Scenario, type Told, type World } from './world.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const idle: Told['tools'] = {
  archive_card: {
    effects: 'read',
    run: ({ shelf }) => ({ shelf, title: `Volume ${String(shelf).length}`, lent: false }),
  },
  tide_table: { effects: 'read', run: ({ harbour }) => `${harbour}: high 04:12, low 10:31` },
};

const idling = (world: World) => {
  const start = world.int(100, 900);
  const word = world.word();
  return world.pick([
    () => world.wander('archive_card', (index) => ({ shelf: `${word}/${start + index}` })),
    () => world.wander('tide_table', (index) => ({ harbour: `${word}${start + index}` })),
  ]);
};

export const shapesAside: readonly Scenario[] = [
  {
    cause: 'truncation',
    name: 'a directory listing of which the end is missing',
    tell: (world) => {
      const idly = idling(world);
      const file = `${world.word()}-${world.int(2020, 2026)}.pdf`;
      const names = Array.from({ length: 8 }, (_, index) => `scan-${index}.pdf`);
      return {
        task: 'Print the newest report.',
        tools: {
          ...idle,
          ls: {
            effects: 'read',
            run: () =>
              world.broken
                ? { entries: names, truncated: true }
                : { entries: [...names, file], truncated: false },
          },
          print: {
            effects: 'external',
            run: ({ file: name }) =>
              name === file ? 'queued' : fail(`lp: ${name}: No such file or directory`),
          },
        },
        *talk() {
          const { entries } = yield* ask('ls', { dir: '/reports' }, 'result');
          yield* idly();
          yield* insist('print', {
            file: world.broken ? `report-${world.int(1000, 9999)}.pdf` : entries.at(-1),
          });
          return 'Printed.';
        },
      };
    },
  },
  {
    cause: 'truncation',
    name: 'a chat history that begins in the middle',
    tell: (world) => {
      const idly = idling(world);
      const address = `${world.word()} street ${world.int(10, 99)}`;
      return {
        task: 'Send the parcel to the address from the chat.',
        tools: {
          ...idle,
          chat_history: {
            effects: 'read',
            run: () => ({
              messages: world.broken ? ['See you then!'] : [`My address is ${address}.`, 'See you then!'],
              returned: world.broken ? 1 : 2,
              available: 2,
            }),
          },
          send_parcel: {
            effects: 'external',
            run: ({ to }) =>
              to === address ? { label: 1 } : fail(`cannot route to "${to}": unknown street`),
          },
        },
        *talk() {
          const { messages } = yield* ask('chat_history', { with: 'Kim' }, 'result');
          yield* idly();
          const to =
            /address is (.*)\./.exec(messages[0])?.[1] ?? `${world.word()} road ${world.int(100, 199)}`;
          yield* insist('send_parcel', { to, weight: 2 });
          return 'Sent.';
        },
      };
    },
  },
  {
    cause: 'wrong locale',
    name: 'one till reports with a decimal comma',
    tell: (world) => {
      const idly = idling(world);
      const takings = [0, 1, 2, 3].map(() => world.money(100, 800));
      return {
        task: 'Close the shop.',
        tools: {
          ...idle,
          till: {
            effects: 'read',
            run: ({ till }) => ({
              till,
              cash: world.broken && till === 1 ? String(takings[1]).replace('.', ',') : takings[Number(till)],
            }),
          },
          deposit: {
            effects: 'external',
            input: {
              type: 'object',
              properties: { bags: { type: 'array', items: { type: 'number' } } },
              required: ['bags'],
            },
            run: () => ({ ok: true }),
          },
        },
        *talk() {
          const bags: Loose[] = [];
          for (const till of [0, 1, 2, 3])
            bags.push((yield* ask('till', { till }, till === 1 ? 'result' : undefined)).cash);
          yield* idly();
          yield* insist('deposit', { bags });
          return 'Closed.';
        },
      };
    },
  },
  {
    cause: 'wrong locale',
    name: 'a birthday written the other way round',
    tell: (world) => {
      const idly = idling(world);
      const people = ['Ann', 'Bo', 'Cy', 'Di'];
      const day = world.int(13, 28);
      return {
        task: 'Enrol the children.',
        tools: {
          ...idle,
          registry: {
            effects: 'read',
            run: ({ child }) => ({
              child,
              born: world.broken && child === 'Cy' ? `05/${day}/2019` : `2019-05-${day}`,
            }),
          },
          enrol: {
            effects: 'write',
            run: ({ born }) =>
              /^\d{4}-\d\d-\d\d$/.test(born) ? { ok: true } : fail(`malformed date ${born}`),
          },
        },
        *talk() {
          const all: Loose[] = [];
          for (const child of people)
            all.push(yield* ask('registry', { child }, child === 'Cy' ? 'result' : undefined));
          yield* idly();
          for (const { child, born } of all) yield* insist('enrol', { child, born });
          return 'Enrolled.';
        },
      };
    },
  },
  {
    cause: 'stale read',
    name: 'a manifest that a tool rewrote behind the back',
    tell: (world) => {
      const idly = idling(world);
      const path = `deploy/${world.word()}.yaml`;
      const [old, now] = [`replicas: ${world.int(2, 4)}\n`, `replicas: ${world.int(5, 9)}\n`];
      return {
        task: 'Scale the service up by one.',
        tools: {
          ...idle,
          view_manifest: { effects: 'read', run: () => old },
          autoscale: {
            effects: 'write',
            run: (_, ctx) => {
              if (world.broken)
                ctx.effect({ kind: 'file', path, before: bytes(old), after: bytes(now) } as never);
              return { ran: true };
            },
          },
          apply_edit: {
            effects: 'write',
            run: () =>
              world.broken ? fail('edit does not apply: the original text is not there') : { ok: true },
          },
        },
        *talk() {
          const text = yield* ask('view_manifest', { path }, 'result');
          yield* ask('autoscale', { path });
          yield* idly();
          yield* insist('apply_edit', { path, original: text, replacement: 'replicas: 3\n' });
          return 'Scaled.';
        },
      };
    },
  },
  {
    cause: 'stale read',
    name: 'a seat map from before somebody else booked',
    tell: (world) => {
      const idly = idling(world);
      const seat = `${world.int(10, 40)}C`;
      return {
        task: 'Take the first free seat.',
        tools: {
          ...idle,
          seat_map: {
            effects: 'read',
            run: () => ({ free: [seat, '41D'], expired: world.broken, train: 'EC 8' }),
          },
          take_seat: {
            effects: 'external',
            run: ({ seat: wanted }) =>
              world.broken ? fail(`seat ${wanted} is no longer free`) : { taken: wanted },
          },
        },
        *talk() {
          const { free } = yield* ask('seat_map', { train: 'EC 8' }, 'result');
          yield* idly();
          yield* insist('take_seat', { train: 'EC 8', seat: free[0] });
          return 'Taken.';
        },
      };
    },
  },
  {
    cause: 'wrong tool result',
    name: "another patient's laboratory values",
    tell: (world) => {
      const idly = idling(world);
      const patient = `P${world.int(1000, 4999)}`;
      return {
        task: 'Put the value on the chart.',
        tools: {
          ...idle,
          lab: {
            effects: 'read',
            run: () => ({
              patient: world.broken ? `P${world.int(5000, 9999)}` : patient,
              potassium: world.int(310, 520) / 100,
            }),
          },
          chart: {
            effects: 'write',
            run: ({ potassium }) =>
              world.broken ? fail(`value ${potassium} contradicts the wrist band`) : { ok: true },
          },
        },
        *talk() {
          const { potassium } = yield* ask('lab', { patient }, 'result');
          yield* idly();
          yield* insist('chart', { patient, potassium });
          return 'Charted.';
        },
      };
    },
  },
  {
    cause: 'wrong tool result',
    name: 'one lookup that came back empty',
    tell: (world) => {
      const idly = idling(world);
      const parts = [1, 2, 3, 4].map((index) => `${world.word()}-${index}`);
      return {
        task: 'Order all parts from their vendors.',
        tools: {
          ...idle,
          vendors_of: {
            effects: 'read',
            run: ({ part }) => ({ vendors: world.broken && part === parts[2] ? [] : [`v-${part}`] }),
          },
          place_orders: {
            effects: 'external',
            run: ({ vendors }) => (vendors.length === 4 ? { ok: true } : fail('one part has no vendor')),
          },
        },
        *talk() {
          const vendors: Loose[] = [];
          for (const part of parts)
            vendors.push(
              ...(yield* ask('vendors_of', { part }, part === parts[2] ? 'result' : undefined)).vendors,
            );
          yield* idly();
          yield* insist('place_orders', { vendors });
          return 'Ordered.';
        },
      };
    },
  },
  {
    cause: 'fabricated value',
    name: 'a standard that does not exist',
    tell: (world) => {
      const idly = idling(world);
      const real = `EN ${world.int(10000, 49999)}`;
      const made = `EN ${world.int(50000, 99999)}`;
      return {
        task: 'Cite the standard of the data sheet.',
        tools: {
          ...idle,
          data_sheet: { effects: 'read', run: () => `Tested to ${real} by an independent body.` },
          cite: {
            effects: 'write',
            run: ({ standard }) => (standard === real ? { ok: true } : fail(`${standard}: no such standard`)),
          },
        },
        *talk() {
          yield* ask('data_sheet', { product: world.word() });
          yield* idly();
          yield {
            calls: [{ tool: 'cite', input: { standard: world.broken ? made : real }, fault: 'answer' }],
          };
          return 'Cited.';
        },
      };
    },
  },
  {
    cause: 'fabricated value',
    name: 'a parcel number in a plan, used much later',
    tell: (world) => {
      const idly = idling(world);
      const real = `TRK${world.int(1_000_000, 4_999_999)}`;
      const made = `TRK${world.int(5_000_000, 9_999_999)}`;
      return {
        task: 'Trace the parcel of the mail.',
        tools: {
          ...idle,
          read_mail: {
            effects: 'read',
            run: () => ({ from: 'shop', body: `Your parcel ${real} is on its way.` }),
          },
          plan: { effects: 'none', run: ({ steps }) => ({ planned: steps }) },
          trace: {
            effects: 'read',
            run: ({ parcel }) =>
              parcel === real ? { at: 'depot' } : fail(`${parcel} is not a valid parcel`),
          },
        },
        *talk() {
          yield* ask('read_mail', { id: 3 });
          const parcel = world.broken ? made : real;
          yield {
            calls: [{ tool: 'plan', input: { steps: [`trace ${parcel}`, 'answer'] }, fault: 'answer' }],
          };
          yield* idly();
          yield* insist('trace', { parcel });
          return 'At the depot.';
        },
      };
    },
  },
  {
    cause: 'loop',
    name: 'a page that is reloaded for ever',
    tell: (world) => {
      const idly = idling(world);
      return {
        task: 'Wait until the page shows the result.',
        limits: { steps: 20 + 3 * world.distance },
        tools: { ...idle, reload: { effects: 'read', run: () => (world.broken ? 'Loading…' : 'Result: 4') } },
        *talk() {
          yield* idly();
          for (let index = 0; ; index++) {
            const page = yield* ask('reload', { tab: 2 }, index === 0 ? 'call' : undefined);
            if (page.startsWith('Result')) return '4.';
          }
        },
      };
    },
  },
  {
    cause: 'loop',
    name: 'a key that does not fit, turned again',
    tell: (world) => {
      const idly = idling(world);
      return {
        task: 'Decrypt the file.',
        patience: 5,
        tools: {
          ...idle,
          decrypt: {
            effects: 'none',
            run: () => (world.broken ? fail('bad decrypt: padding is wrong') : { text: 'hi' }),
          },
        },
        *talk() {
          yield* idly();
          const input = { file: `${world.word()}.gpg`, key: `k-${world.int(100, 999)}` };
          const first = yield* ask('decrypt', input, 'call');
          if (isError(first)) yield* insist('decrypt', input);
          return 'hi.';
        },
      };
    },
  },
  {
    cause: 'swallowed error',
    name: 'a mailer that answers with its own trouble',
    tell: (world) => {
      const idly = idling(world);
      return {
        task: 'Send the invitation and count the replies.',
        tools: {
          ...idle,
          mail_out: {
            effects: 'external',
            run: () => (world.broken ? { success: false, queued: 0 } : { success: true, queued: 12 }),
          },
          count_replies: {
            effects: 'read',
            run: () => (world.broken ? fail('no invitation is known') : { replies: 3 }),
          },
        },
        *talk() {
          yield* ask('mail_out', { list: 'members', subject: `${world.word()} evening` }, 'result');
          yield* idly();
          yield* insist('count_replies', { list: 'members' });
          return '3.';
        },
      };
    },
  },
  {
    cause: 'swallowed error',
    name: 'a converter that writes its failure to stderr text',
    tell: (world) => {
      const idly = idling(world);
      const target = `${world.word()}.mp4`;
      return {
        task: 'Convert the film and upload it.',
        tools: {
          ...idle,
          convert: {
            effects: 'write',
            run: () => ({ stdout: '', stderr: world.broken ? 'fatal: codec not found' : '' }),
          },
          upload: {
            effects: 'external',
            run: ({ file }) => (world.broken ? fail(`${file} is empty`) : { url: 'x' }),
          },
        },
        *talk() {
          yield* ask('convert', { from: 'a.mov', to: target }, 'result');
          yield* idly();
          yield* insist('upload', { file: target });
          return 'Uploaded.';
        },
      };
    },
  },
  {
    cause: 'retry with changed payload',
    name: 'a reservation repeated for another day',
    tell: (world) => {
      const idly = idling(world);
      const day = `2026-06-${world.int(10, 18)}`;
      let tries = 0;
      let held = '';
      return {
        task: `Reserve the hall on ${day}.`,
        patience: 2,
        tools: {
          ...idle,
          reserve_hall: {
            effects: 'external',
            run: (input) => {
              if (world.broken && ++tries === 1) fail('upstream connection timed out');
              held = input.day;
              return { held: true };
            },
          },
          hall_plan: {
            effects: 'read',
            run: () => (held === day ? { ok: true } : fail('the hall is empty on the day of the concert')),
          },
        },
        *talk() {
          const first = yield* ask('reserve_hall', { hall: 'A', day, people: 80 });
          if (isError(first))
            yield* ask(
              'reserve_hall',
              { hall: 'A', day: `2026-06-${world.int(20, 28)}`, people: 80 },
              'call',
            );
          yield* idly();
          yield* insist('hall_plan', { hall: 'A' });
          return 'Reserved.';
        },
      };
    },
  },
  {
    cause: 'retry with changed payload',
    name: 'a publication repeated as a draft',
    tell: (world) => {
      const idly = idling(world);
      let tries = 0;
      let shown = false;
      return {
        task: 'Publish the article.',
        patience: 2,
        tools: {
          ...idle,
          publish_article: {
            effects: 'external',
            run: (input) => {
              if (world.broken && ++tries === 1) fail('rate limit, wait a moment', 'RateLimited');
              shown = input.visible;
              return { id: 8 };
            },
          },
          open_site: {
            effects: 'read',
            run: () => (shown ? { found: true } : fail('the front page does not show it')),
          },
        },
        *talk() {
          const article = { title: `${world.word()} news`, section: 'local', visible: true };
          const first = yield* ask('publish_article', article);
          if (isError(first)) yield* ask('publish_article', { ...article, visible: false }, 'call');
          yield* idly();
          yield* insist('open_site', { path: '/' });
          return 'Published.';
        },
      };
    },
  },
  {
    cause: 'late duplicate',
    name: 'a vote that was cast twice',
    tell: (world) => {
      const idly = idling(world);
      let votes = 0;
      return {
        task: 'Cast the vote and close the ballot.',
        patience: 2,
        tools: {
          ...idle,
          cast_vote: {
            effects: 'external',
            run: () => {
              votes++;
              if (world.broken && votes === 1) fail('no receipt within 3 s', 'ToolTimeout');
              return { receipt: votes };
            },
          },
          close_ballot: {
            effects: 'write',
            run: () => (votes === 1 ? { ok: true } : fail('more votes than voters')),
          },
        },
        *talk() {
          const vote = { ballot: 'b7', choice: world.word() };
          const first = yield* ask('cast_vote', vote);
          if (isError(first)) yield* ask('cast_vote', vote, 'result');
          yield* idly();
          yield* insist('close_ballot', { ballot: 'b7' });
          return 'Closed.';
        },
      };
    },
  },
  {
    cause: 'late duplicate',
    name: 'the reply to the former request arrives again',
    tell: (world) => {
      const idly = idling(world);
      const stars = ['Vega', 'Deneb', 'Altair'];
      const found = stars.map(() => ({ ra: world.int(100_000, 999_999), magnitude: world.money(0, 4) }));
      return {
        task: 'Point the telescope at the three stars in turn.',
        tools: {
          ...idle,
          catalogue: {
            effects: 'read',
            run: ({ star }) => found[world.broken && star === 'Altair' ? 1 : stars.indexOf(star)] as never,
          },
          point: {
            effects: 'external',
            run: ({ ra, star }) =>
              ra === found[stars.indexOf(star)]?.ra ? { ok: true } : fail(`no star of that name near ${ra}`),
          },
        },
        *talk() {
          const all: Loose[] = [];
          for (const star of stars)
            all.push({
              star,
              ...(yield* ask('catalogue', { star }, star === 'Altair' ? 'result' : undefined)),
            });
          yield* idly();
          for (const { star, ra } of all) yield* insist('point', { star, ra });
          return 'Seen.';
        },
      };
    },
  },
  {
    cause: 'missing permission',
    name: 'a bucket that refuses to be listed',
    tell: (world) => {
      const idly = idling(world);
      return {
        task: 'Restore the newest backup.',
        patience: 2,
        tools: {
          ...idle,
          list_bucket: {
            effects: 'read',
            run: () =>
              world.broken ? fail('AccessDenied: not authorized to list the bucket') : { newest: 'b-9' },
          },
          restore: {
            effects: 'write',
            run: ({ backup }) => (backup === 'b-9' ? { ok: true } : fail(`backup ${backup} is corrupt`)),
          },
        },
        *talk() {
          const found = yield* ask('list_bucket', { bucket: 'backups' }, 'result');
          yield* idly();
          yield* insist('restore', { backup: isError(found) ? `b-${world.int(100, 999)}` : found.newest });
          return 'Restored.';
        },
      };
    },
  },
  {
    cause: 'missing permission',
    name: 'a share that was granted in words only',
    tell: (world) => {
      const idly = idling(world);
      return {
        task: 'Let the auditor read the folder.',
        tools: {
          ...idle,
          grant: {
            effects: 'write',
            run: () =>
              world.broken
                ? { done: true, details: 'operation not permitted for guests' }
                : { done: true, details: '' },
          },
          try_open: {
            effects: 'read',
            run: () => (world.broken ? fail('the auditor sees an empty folder') : { files: 3 }),
          },
        },
        *talk() {
          yield* ask('grant', { folder: `/${world.word()}`, to: 'auditor' }, 'result');
          yield* idly();
          yield* insist('try_open', { as: 'auditor' });
          return 'Open.';
        },
      };
    },
  },
  {
    cause: 'wrong unit',
    name: 'one tank in gallons',
    tell: (world) => {
      const idly = idling(world);
      const tanks = ['T1', 'T2', 'T3', 'T4'];
      return {
        task: 'Order fuel for the tanks.',
        tools: {
          ...idle,
          tank: {
            effects: 'read',
            run: ({ tank }) => ({
              tank,
              room: world.int(400, 600),
              units: world.broken && tank === 'T3' ? 'gal' : 'l',
            }),
          },
          order_fuel: {
            effects: 'external',
            run: () => (world.broken ? fail('delivery does not fit the tanks') : { ok: true }),
          },
        },
        *talk() {
          let litres = 0;
          for (const tank of tanks)
            litres += (yield* ask('tank', { tank }, tank === 'T3' ? 'result' : undefined)).room;
          yield* idly();
          yield* insist('order_fuel', { litres });
          return 'Ordered.';
        },
      };
    },
  },
  {
    cause: 'wrong unit',
    name: 'grams written into a field of kilograms',
    tell: (world) => {
      const idly = idling(world);
      const grams = world.int(1200, 9800);
      return {
        task: 'Declare the shipment.',
        tools: {
          ...idle,
          scale: { effects: 'read', run: () => ({ item: 'crate', weight_g: grams }) },
          declare: {
            effects: 'external',
            run: ({ weight_kg }) =>
              weight_kg < 50
                ? { ok: true }
                : fail(`weight_kg ${weight_kg} exceeds what this service carries`),
          },
        },
        *talk() {
          const { weight_g } = yield* ask('scale', { item: 'crate' });
          yield* idly();
          yield {
            calls: [
              {
                tool: 'declare',
                input: { item: 'crate', weight_kg: world.broken ? weight_g : weight_g / 1000 },
                fault: 'call',
              },
            ],
          };
          return 'Declared.';
        },
      };
    },
  },
  {
    cause: 'dropped page',
    name: 'the third page was skipped',
    tell: (world) => {
      const idly = idling(world);
      const size = world.int(2, 5);
      return {
        task: 'Thank every donor.',
        tools: {
          ...idle,
          donors: {
            effects: 'read',
            run: ({ page_no }) =>
              Array.from({ length: size }, (_, i) => ({ donor: `d${Number(page_no) * 10 + i}` })) as never,
          },
          thank: {
            effects: 'external',
            run: ({ count }) => (count === size * 5 ? { ok: true } : fail('some donors were not thanked')),
          },
        },
        *talk() {
          let count = 0;
          for (const page_no of world.broken ? [1, 2, 4, 5] : [1, 2, 3, 4, 5])
            count += (yield* ask('donors', { page_no }, page_no === 4 ? 'call' : undefined)).length;
          yield* idly();
          yield* insist('thank', { count });
          return 'Thanked.';
        },
      };
    },
  },
  {
    cause: 'dropped page',
    name: 'a register that had a next page',
    tell: (world) => {
      const idly = idling(world);
      const next = `n${world.int(10_000, 99_999)}`;
      return {
        task: 'Check all licences.',
        tools: {
          ...idle,
          licences: {
            effects: 'read',
            run: ({ cursor }) =>
              cursor === next ? { licences: ['c'], next: null } : { licences: ['a', 'b'], next },
          },
          certify: {
            effects: 'write',
            run: ({ checked }) => (checked === 3 ? { ok: true } : fail('the register counts more licences')),
          },
        },
        *talk() {
          const first = yield* ask('licences', {}, 'result');
          let checked = first.licences.length;
          if (!world.broken) checked += (yield* ask('licences', { cursor: first.next })).licences.length;
          yield* idly();
          yield* insist('certify', { checked });
          return 'Certified.';
        },
      };
    },
  },
];
