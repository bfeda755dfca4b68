import { memoryStore, Secrets, type SessionView } from '@chassis/journal';
import { filesAt } from '@chassis/runtime';
import { describe, expect, test } from 'vitest';
import { type Fakes, fakeRegistry } from '../../runtime/test/support/fake-registry.ts';
import { openSession } from '../../runtime/test/support/sessions.ts';
import { approveSpec } from './approve.ts';
import { checkSession } from './check.ts';
import { draftSpec } from './draft.ts';
import { reporters, reportTests } from './report.ts';
import { runTest } from './run-test.ts';
import { type Expectations, formatSpec, parseSpec } from './spec.ts';

const agentThat =
  (...calls: [string, object][]): NonNullable<Fakes['agent']> =>
  async (_input, ctx) => {
    for (const [name, args] of calls) await ctx.call('tool.call', { name, arguments: args as never });
    return { answer: 'Done in 3.2 s, see /nowhere/out.txt.' };
  };

const usual = agentThat(['read', { at: 1 }], ['write', { to: 'out.txt' }]);

async function recorded(agent = usual): Promise<SessionView> {
  const { session } = await openSession({
    agent,
    store: memoryStore(),
    tools: {
      read: { run: () => 'rows' },
      write: {
        run: (_input, ctx) =>
          ctx.effect({ kind: 'file', path: 'out.txt', before: null, after: Buffer.from('rows') }),
      },
    },
  });
  await session.prompt('go');
  await session.close();
  return session.view;
}

const signal = () => new AbortController().signal;

test('a draft of a session is met by it, survives its file, and its replay passes', async () => {
  const view = await recorded();
  const spec = parseSpec(await formatSpec(draftSpec(view, 'a report', 'a.session.jsonl')), 'a.test.yaml');
  expect(spec).toEqual(draftSpec(view, 'a report', 'a.session.jsonl'));
  expect(spec.expect).toMatchObject({ outcome: 'ok', tools: { includes: ['read', 'write'], max_calls: 2 } });
  const result = await runTest(spec, 'a.test.yaml', view, fakeRegistry({ agent: usual }), signal());
  expect(result).toMatchObject({ ok: true, failures: [], steps: 2 });
});

describe('each expectation that is not met is named at its place', () => {
  test.each<[Expectations, string]>([
    [{ outcome: 'failed' }, '/expect/outcome'],
    [{ tools: { includes: ['read', 'mail'] } }, '/expect/tools/includes/1'],
    [{ tools: { forbids: ['write'] } }, '/expect/tools/forbids/0'],
    [{ tools: { order: ['write', 'read'] } }, '/expect/tools/order/1'],
    [{ tools: { max_calls: 1 } }, '/expect/tools/max_calls'],
    [{ files: { 'a/b.txt': null } }, '/expect/files/a~1b.txt'],
    [{ files: { 'out.txt': null } }, '/expect/files/out.txt'],
    [{ final: { equals: 'Done.' } }, '/expect/final/equals'],
    [{ final: { contains: ['Done', 'never'] } }, '/expect/final/contains/1'],
    [{ cost: { steps: 1 } }, '/expect/cost/steps'],
  ])('%j', async (expectations, path) => {
    const view = await recorded();
    const found = checkSession(view, { normalise: [], expect: expectations });
    expect(found.map((failure) => failure.path)).toEqual([path]);
  });
});

test('a run that went in circles and ended well all the same breaks the rule that forbids it', async () => {
  const circles = agentThat(...Array.from({ length: 5 }, (): [string, object] => ['read', { at: 1 }]));
  const view = await recorded(circles);
  expect(view.outcome).toBe('ok');
  const found = checkSession(view, { normalise: [], expect: { never: ['no-progress', 'repeated-call'] } });
  expect(found).toMatchObject([{ path: '/expect/never/1', actual: 'repeated-call' }]);
  expect(found[0]?.message).toContain('step 4');
  const three = agentThat(...Array.from({ length: 3 }, (): [string, object] => ['read', { at: 1 }]));
  expect(
    checkSession(await recorded(three), { normalise: [], expect: { never: ['repeated-call'] } }),
  ).toEqual([]);
});

test('folders, durations and ids do not count when they are normalised', async () => {
  const view = await recorded();
  const expectations = { final: { equals: 'Done in 12 min, see <workspace>/out.txt.' } };
  expect(checkSession(view, { normalise: [], expect: expectations })).toHaveLength(1);
  expect(checkSession(view, { normalise: ['paths', 'durations', 'ids'], expect: expectations })).toEqual([]);
});

test('an agent that asks for something else misses, with the nearest recording and the difference', async () => {
  const view = await recorded();
  const spec = draftSpec(view, 'a report', 'a.session.jsonl');
  const changed = agentThat(['read', { at: 2 }], ['write', { to: 'out.txt' }]);
  const result = await runTest(spec, 'a.test.yaml', view, fakeRegistry({ agent: changed }), signal());
  expect(result).toMatchObject({
    ok: false,
    failures: [{ path: 'replay', expected: 1, actual: 2 }],
    divergence: { step: 1, path: '/input/at', nearest: { step: 1, name: 'read' } },
  });
  expect(result.failures[0]?.message).toContain('nearest recording is step 1 (read) at /input/at');
});

test.each([
  ['name: x\nrecording: y\nexpect: { outcom: ok }\n', /a\.test\.yaml:3:\d+.*outcom/],
  ['name: x\nexpect: {}\n', /recording/],
  ['name: x\nrecording: y\nexpect: { cost: { usd: lots } }\n', /a\.test\.yaml:3/],
])('a mistake in the file is an error with its place: %j', (text, message) => {
  expect(() => parseSpec(text, 'a.test.yaml')).toThrow(message);
});

test('what a stranger said breaks no report', async () => {
  const view = await recorded();
  const name = 'a # "b" <c> & \u001b[31m\n::error::x % \ud800';
  const spec = { ...draftSpec(view, name, 'r'), expect: { final: { equals: ']]>\u0000\n...' } } };
  const result = await runTest(spec, 'dir,a:b.yaml', view, fakeRegistry({ agent: usual }), signal());
  for (const reporter of reporters) {
    const lines = reportTests([result], reporter);
    expect(lines.join('\n')).not.toContain('\u001b');
    expect(lines.join('\n')).not.toContain('\0');
    if (reporter === 'github') {
      expect(lines).toHaveLength(1);
      expect(lines[0]).toMatch(
        /^::error file=dir%2Ca%3Ab\.yaml,title=a # "b" <c> & .*%0A%3A%3Aerror%3A%3Ax %25 /,
      );
    }
    if (reporter === 'tap') expect(lines[2]).toMatch(/^not ok 1 - a \\# "b"/);
    if (reporter === 'junit') expect(lines.join('\n')).toContain('name="a # &quot;b&quot; &lt;c&gt; &amp; ');
  }
});

test('a redacted record replays without any secret being known', async () => {
  const secrets = new Secrets();
  secrets.add('TOKEN', 's3cr3t-value-1');
  const view = await recorded(agentThat(['read', { key: '{{secret:TOKEN}}' }]));
  const result = await runTest(
    draftSpec(view, 'x', 'r'),
    'f',
    view,
    fakeRegistry({ agent: agentThat(['read', { key: '{{secret:TOKEN}}' }]) }),
    signal(),
  );
  expect(result.ok).toBe(true);
});

test('approving replaces what no longer holds, and leaves the rest of the file to its author', async () => {
  const view = await recorded();
  const text = `# Our monthly report.
name:   a report
expect:
  final: {equals: "Done, once, in 3 s"}
  # A bound with room to move.
  cost: { steps: 9 }
  tools:
    max_calls: 1 # one was enough once
    forbids: [read]
    includes: [write]
  outcome: ok
  files: {out.txt: null}
recording: r.session.jsonl
`;
  const approved = await approveSpec(text, parseSpec(text, 'a.test.yaml'), view);
  expect(approved).toEqual({
    changed: ['/expect/tools/max_calls', '/expect/files/out.txt', '/expect/final/equals'],
    broken: ['/expect/tools/forbids/0'],
    text: text
      .replace('"Done, once, in 3 s"', '"Done in 3.2 s, see /nowhere/out.txt."')
      .replace('max_calls: 1', 'max_calls: 2')
      .replace('out.txt: null', `out.txt: ${filesAt(view, 2)[0]?.content}`),
  });
  const spec = parseSpec(approved.text, 'a.test.yaml');
  expect(checkSession(view, spec).map(({ path }) => path)).toEqual(['/expect/tools/forbids/0']);
  expect((await approveSpec(approved.text, spec, view)).text).toBe(approved.text);
});

test('approving keeps comments and the order of members where lists and members change', async () => {
  const view = await recorded();
  const text = `# Our monthly report.
expect:
  final:
    contains: [ Done, never said ]
  # A bound with room to move.
  cost: { steps: 9 }
  tools: { order: [ write, read ], max_calls: 9 }
  files: { out.txt: ${'ab'.repeat(32)}, gone.txt: ${'ab'.repeat(32)} }
name: a report
recording: r.session.jsonl
`;
  const approved = await approveSpec(text, parseSpec(text, 'a.test.yaml'), view);
  const content = filesAt(view, 2)[0]?.content ?? '';
  expect(approved.text).toBe(
    text
      .replace('contains: [ Done, never said ]', 'equals: Done in 3.2 s, see /nowhere/out.txt.')
      .replace('[ write, read ]', '[ read, write ]')
      .replace(/ {2}files: .*/, `  files: { out.txt: ${content} }`),
  );
  expect(checkSession(view, parseSpec(approved.text, 'a.test.yaml'))).toEqual([]);
});
