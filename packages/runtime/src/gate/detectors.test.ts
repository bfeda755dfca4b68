import { ErrorCode } from '@chassis/errors';
import { Secrets } from '@chassis/journal';
import type { JsonObject } from '@chassis/types';
import { expect, test } from 'vitest';
import { type Fakes, fakeRegistry, says } from '../../test/support/fake-registry.ts';
import { openSession, type TestOptions } from '../../test/support/sessions.ts';
import { replay } from '../session/replay.ts';

type Agent = NonNullable<Fakes['agent']>;

/** Calls a tool again and again, also when it is told to stop; the harness is what ends it. */
const stubborn =
  (times: number, args: (n: number) => JsonObject = () => ({})): Agent =>
  async (_input, ctx) => {
    for (let n = 0; n < times; n++) await ctx.call('tool.call', { name: 'look', arguments: args(n) });
    return { answer: 'done' };
  };

async function run(
  agent: Agent,
  options: Omit<TestOptions, 'agent'>,
  answers: ('allow' | 'deny')[] | null = null,
) {
  const ran: number[] = [];
  const asked: string[] = [];
  const { session, events } = await openSession({
    agent,
    tools: { look: { run: () => (ran.push(1) > 0 ? 'nothing' : '') } },
    ...(answers === null
      ? {}
      : {
          approver: {
            ask: async ({ reason }) => {
              asked.push(reason);
              return { decision: answers.shift() ?? 'deny', by: 'a person' };
            },
          },
        }),
    ...options,
  });
  const result = await session.prompt('go');
  await session.close();
  const again = await replay(
    session.view,
    fakeRegistry({ agent }),
    new Secrets(),
    new AbortController().signal,
  );
  expect(again).toMatchObject({ ok: true });
  return { ran: ran.length, asked, result, view: session.view, events };
}

const limits = (more: object) => ({ settings: { limits: { steps: 200, repeats: 3, ...more } } });

test('the same call with the same result stops where nobody can be asked, and nothing runs after that', async () => {
  const { ran, view, events } = await run(stubborn(8), limits({}));
  expect(ran).toBe(3);
  expect(view.steps.slice(3).map((step) => [step.status, step.error?.code])).toEqual(
    Array.from({ length: 5 }, () => ['denied', ErrorCode.BudgetExceeded]),
  );
  expect(view.steps[3]?.error).toMatchObject({ data: { rule: 'repeated-call', used: 3, by: 'nobody' } });
  expect(events.filter((event) => event.type === 'approval.requested')).toHaveLength(1);
  expect(events.filter((event) => event.type === 'approval.resolved')).toHaveLength(1);
});

test('a person who lets it go on is asked again only after as many more', async () => {
  const { ran, asked, view } = await run(stubborn(8), limits({}), ['allow', 'deny']);
  expect(ran).toBe(6);
  expect(asked).toHaveLength(2);
  expect(asked[0]).toContain('look gave the same result to the same arguments 3 times');
  expect(view.approvals).toMatchObject([
    { tool: 'go on', step: 4, resolved: { decision: 'allow' } },
    { tool: 'go on', step: 7, resolved: { decision: 'deny' } },
  ]);
});

test('other words with the same result, time after time, are no progress', async () => {
  const { ran, view } = await run(
    stubborn(9, (n) => ({ n })),
    limits({}),
  );
  expect(ran).toBe(6);
  expect(view.steps[6]?.error).toMatchObject({ data: { rule: 'no-progress', used: 6 } });
});

test('calls that bring something new are left alone, however often they come', async () => {
  let n = 0;
  const { result } = await run(stubborn(30), { ...limits({}), tools: { look: { run: () => n++ } } });
  expect(result.outcome).toBe('ok');
});

const asking: Agent = async (_input, ctx) => {
  for (let n = 0; n < 6; n++) {
    const reply = (await ctx.call('model.generate', { messages: [{ role: 'user', content: `${n}` }] })) as {
      status: string;
    };
    if (reply.status !== 'ok') return { answer: `stopped after ${n}` };
  }
  return { answer: 'all' };
};
const usage = { input: 90, cached: 0, output: 10, reasoning: 0, cost_usd: 0.1 };
const models = { p: () => says('yes', [], { usage }) };

test.each([
  ['tokens', 250, 'stopped after 2'],
  ['cost_usd', 0.35, 'stopped after 3'],
  ['tokens', 300, 'stopped after 3'],
])('limits.%s of %d: the request that would go beyond it does not leave', async (limit, allowed, answer) => {
  const { result, view } = await run(asking, { models, ...limits({ [limit]: allowed }) });
  expect(result.answer).toBe(answer);
  expect(view.steps.at(-1)?.error).toMatchObject({
    code: ErrorCode.BudgetExceeded,
    data: { limit, allowed, by: 'nobody' },
  });
});

test('a budget that a person raises lasts as long again', async () => {
  const { result, asked } = await run(asking, { models, ...limits({ tokens: 250 }) }, ['allow', 'deny']);
  expect(result.answer).toBe('stopped after 5');
  expect(asked[0]).toBe(
    'limits.tokens is reached: 200 of 250, and the next request would take about 100. Go on?',
  );
});
