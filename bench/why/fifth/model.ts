/** The model went wrong by itself: values that nothing gave it, and turns that lead nowhere. */
import { pressing } from '../domains.ts';
import { ask, fail, isError, type Loose } from '../world.ts';
import { define, other, reads, writes } from './desk.ts';

export const fabricated = [
  define(
    'fabricated value',
    'an address of mail that no directory had',
    'Write to the three people on the incident and ask for a timeline.',
    'The directory gave three addresses, and the one that bounced is none of them, nor anywhere else before it was written.',
    ({ world, broken, give, refuse, beside }) => {
      const people = ['lena', 'omar', 'yuki'].map((who) => `${who}.${world.word()}@corp.test`);
      const [real] = people as [string, ...string[]];
      const to = broken ? `lena.${world.word()}son@corp-mail.test` : real;
      return {
        tools: {
          directory_find: reads(() =>
            give({ people: people.map((mail) => ({ mail, on_call: mail === real })) }),
          ),
          send_message: writes(({ to: given }) =>
            people.includes(given) ? { queued: true } : refuse('to', given),
          ),
        },
        *talk() {
          yield* ask('directory_find', { role: 'incident' });
          yield* beside();
          yield* pressing({
            tool: 'send_message',
            input: { to, subject: 'Timeline of the incident' },
            fault: 'call',
          });
        },
      };
    },
  ),
  define(
    'fabricated value',
    'a commit that no log had, first written into the plan',
    'Backport the fix to the release branch.',
    'The log has three commits; the one in the plan, which could not be picked later, is none of them.',
    ({ world, broken, beside }) => {
      const hex = (): string => world.int(0x1000000, 0xfffffff).toString(16);
      const log = [hex(), hex(), hex()];
      const picked = broken ? other(hex, log[1] ?? '') : (log[1] ?? '');
      return {
        tools: {
          git_log_main: reads(
            () =>
              `${log[0]} bump version\n${log[1]} fix: close the socket on abort\n${log[2]} docs: changelog\n`,
          ),
          write_plan: writes(() => ({ saved: 'BACKPORT.md' })),
          git_cherry_pick: writes(({ commit }) =>
            log.includes(commit) ? { exit_code: 0 } : fail(`fatal: bad object ${commit}`),
          ),
        },
        *talk() {
          yield* ask('git_log_main', { count: 3 });
          yield* ask(
            'write_plan',
            { file: 'BACKPORT.md', text: `1. cherry-pick ${picked}\n2. run the tests\n` },
            'call',
          );
          yield* beside();
          yield* pressing({ tool: 'git_cherry_pick', input: { commit: picked } });
        },
      };
    },
  ),
  define(
    'fabricated value',
    'a column that the schema does not have',
    'Build a weekly view of new customers.',
    'The schema was read and lists its columns; the view was saved with one more, which its refresh could not find.',
    ({ world, broken, beside }) => {
      const column = world.pick(['signup_channel', 'referrer_code', 'lifetime_value', 'churn_score']);
      const real = world.pick(['email_addr', 'created_on', 'country']);
      return {
        tools: {
          describe_table: reads(() => ({
            table: 'customer',
            columns: ['customer_id', 'email_addr', 'created_on', 'country'].map((name) => ({
              name,
              nullable: name === 'country',
            })),
          })),
          save_view: writes(() => ({ saved: true, validated: false })),
          refresh_view: writes(() =>
            broken ? fail(`ERROR: column "${column}" does not exist\nLINE 1`) : { rows: 88 },
          ),
        },
        *talk() {
          yield* ask('describe_table', { table: 'customer' });
          yield* ask(
            'save_view',
            {
              name: 'weekly_new',
              sql: `SELECT customer_id, ${broken ? column : real} FROM customer WHERE created_on > now() - 7`,
            },
            'call',
          );
          yield* beside();
          yield* pressing({ tool: 'refresh_view', input: { name: 'weekly_new' } });
        },
      };
    },
  ),
  define(
    'fabricated value',
    'a zone that the cloud does not offer',
    '将服务部署到北欧区域。',
    'The zones were listed, and the deployment names one that is not among them.',
    ({ world, broken, give, refuse, beside }) => {
      const zones = ['a', 'b', 'c'].map((letter) => `nordic-${world.int(1, 2)}${letter}`);
      const zone = broken ? `nordic-${world.int(4, 9)}d` : world.pick(zones);
      return {
        tools: {
          list_zones: reads(() => give({ zones: zones.map((name) => ({ name, 状态: '可用' })) })),
          deploy_service: writes(({ zone: given }) =>
            zones.includes(given) ? { deployed: true } : refuse('zone', given),
          ),
        },
        *talk() {
          yield* ask('list_zones', { continent: 'europe' });
          yield* beside();
          yield* pressing({
            tool: 'deploy_service',
            input: { service: '网关', replicas: 2, zone },
            fault: 'call',
          });
        },
      };
    },
  ),
  define(
    'fabricated value',
    'a date of birth that the guest never gave',
    'Check the guests of booking HX-20 in online.',
    'The guest has date_of_birth null in the record, and the form was sent with one.',
    ({ world, broken, give, refuse, beside }) => {
      const born = `19${world.int(60, 99)}-0${world.int(1, 9)}-${world.int(10, 28)}`;
      const guess = `19${world.int(60, 99)}-1${world.int(0, 2)}-${world.int(10, 28)}`;
      return {
        tools: {
          guest_list: reads(() =>
            give({
              guests: [{ name: 'A. Novak', passport: 'P80442', date_of_birth: broken ? null : born }],
            }),
          ),
          check_in_form: writes(({ date_of_birth: given }) =>
            given === born ? { boarding: true } : refuse('date_of_birth', given),
          ),
        },
        *talk() {
          yield* ask('guest_list', { booking: 'HX-20' });
          yield* beside();
          yield* pressing({
            tool: 'check_in_form',
            input: { passport: 'P80442', date_of_birth: broken ? guess : born },
            fault: 'call',
          });
        },
      };
    },
  ),
];

/** Rounds until the limit of steps ends the run; the first two are the answer: where it began and where it came round. */
function* round(n: number, calls: readonly [string, { [name: string]: Loose }][]) {
  const results: Loose[] = [];
  for (const [tool, input] of calls) results.push(yield* ask(tool, input, n < 2 ? 'call' : undefined));
  return results;
}

export const loops = [
  define(
    'loop',
    'two pages that send the browser to each other',
    'Pay for the basket in the shop.',
    'The same two addresses are opened in turn, with the same two pages as answers, until the limit of steps.',
    ({ world, broken, beside }) => {
      const basket = world.int(100, 999);
      return {
        endless: 50,
        tools: {
          browser_goto: reads(({ url }) => {
            if (!String(url).includes('login')) {
              return broken
                ? `<p>Please <a href="/login?next=/checkout/${basket}">sign in</a> to pay.</p>`
                : '<p>Thank you, your order is paid.</p>';
            }
            return `<p>You are signed in. <a href="/checkout/${basket}">Go on to checkout</a></p>`;
          }),
        },
        *talk() {
          yield* beside();
          for (let n = 0; n < (broken ? 100 : 1); n++)
            yield* round(n, [
              ['browser_goto', { url: `https://shop.test/checkout/${basket}` }],
              ...(broken
                ? ([['browser_goto', { url: `https://shop.test/login?next=/checkout/${basket}` }]] as [
                    string,
                    { [name: string]: Loose },
                  ][])
                : []),
            ]);
        },
      };
    },
  ),
  define(
    'loop',
    'one edit and its opposite, with the same failing test after each',
    'Make the rounding test pass.',
    'The same two edits take turns, each undoing the other, and the test fails in the same way after each.',
    ({ world, broken, beside }) => {
      const file = `lib/${world.word()}/round.ex`;
      return {
        endless: 70,
        tools: {
          edit_line: writes(({ put }) => ({ file, line: 14, now: put })),
          mix_test: reads(() =>
            broken
              ? {
                  exit_code: 2,
                  output: '1) test half is rounded to even\n  left: 3\n  right: 2\n1 test, 1 failure',
                }
              : { exit_code: 0, output: '1 test, 0 failures' },
          ),
        },
        *talk() {
          yield* beside();
          for (let n = 0; n < (broken ? 100 : 1); n++)
            yield* round(n, [
              ['edit_line', { file, put: n % 2 ? 'round(x, :half_up)' : 'round(x, :half_even)' }],
              ['mix_test', { file: 'test/round_test.exs' }],
            ]);
        },
      };
    },
  ),
  define(
    'loop',
    'a search in ever other words that finds nothing',
    'Encuentra el correo con la oferta de la imprenta.',
    'One search after another with the words in another order or spelling, all of them empty, and nothing else is tried.',
    ({ world, broken, give, beside }) => {
      const words = ['oferta imprenta', 'imprenta oferta', 'Oferta Imprenta', 'oferta de imprenta'];
      const more = [...words, 'ofertas imprenta', '"oferta imprenta"', 'imprenta: oferta', 'oferta+imprenta'];
      const first = world.int(0, 3);
      return {
        endless: 40,
        tools: {
          correo_buscar: reads(() =>
            give({ resultados: broken ? [] : [{ asunto: 'Oferta 2026' }], total: broken ? 0 : 1 }),
          ),
        },
        *talk() {
          yield* beside();
          for (let n = 0; n < (broken ? 100 : 1); n++)
            yield* round(n, [['correo_buscar', { texto: more[(n + first) % more.length] ?? '' }]]);
        },
      };
    },
  ),
  define(
    'loop',
    'a cursor that leads back to its own page',
    'Collect all comments of the thread.',
    'The cursor of the second page is the one it was asked with, and the same page is read with it until the limit of steps.',
    ({ world, broken, give, beside }) => {
      const [one, two] = [`k${world.int(1000, 4999)}`, `k${world.int(5000, 9999)}`];
      return {
        endless: 40,
        tools: {
          comments: reads(({ after }) =>
            after === one
              ? give({ comments: [{ by: 'ana', text: '+1' }], next: broken ? one : two })
              : give({
                  comments: [{ by: 'raj', text: after ? 'agreed' : 'first' }],
                  next: after ? null : one,
                }),
          ),
        },
        *talk() {
          yield* beside();
          yield* ask('comments', { thread: 31, after: null });
          for (let n = 0; n < (broken ? 100 : 1); n++)
            yield* round(n, [['comments', { thread: 31, after: one }]]);
          if (!broken) yield* ask('comments', { thread: 31, after: two });
        },
      };
    },
  ),
  define(
    'loop',
    'a call that fails as before whichever of two spellings it has',
    'Start the nightly import by hand.',
    'The same command is run with -v and without in turn, and fails in the same words each time.',
    ({ world, broken, beside }) => {
      const job = `import_${world.word()}`;
      return {
        endless: 40,
        patience: 300,
        tools: {
          run_command: writes(() =>
            broken ? fail(`${job}: lock file /var/lock/${job} is there, giving up`) : { exit_code: 0 },
          ),
        },
        *talk() {
          yield* beside();
          for (let n = 0; n < 100; n++) {
            const argv = n % 2 ? [job, '--now', '-v'] : [job, '--now'];
            const [result] = yield* round(n, [['run_command', { argv }]]);
            if (!isError(result)) return;
          }
        },
      };
    },
  ),
];
