import { Secrets } from '@chassis/journal';
import type { JsonObject } from '@chassis/types';
import { expect, test } from 'vitest';
import { type Fakes, type FakeTool, fakeRegistry } from '../../test/support/fake-registry.ts';
import { openSession, type TestOptions } from '../../test/support/sessions.ts';
import { replay } from '../session/replay.ts';

type Agent = NonNullable<Fakes['agent']>;

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const slow: FakeTool = {
  run: async ({ ms }) => {
    await wait(ms as number);
    return ms;
  },
};
const tools = { slow, echo: { run: (input: JsonObject) => input } satisfies FakeTool };

const call = (name: string, args: JsonObject) => ['tool.call', { name, arguments: args }] as const;

async function record(agent: Agent, options: Omit<TestOptions, 'agent'> = {}) {
  const { session } = await openSession({ tools, ...options, agent });
  const result = await session.prompt('go');
  await session.close();
  return { view: session.view, result };
}

function replayWith(view: Awaited<ReturnType<typeof record>>['view'], agent: Agent) {
  return replay(view, fakeRegistry({ agent }), new Secrets(), new AbortController().signal);
}

const threeInParallel: Agent = async (_input, ctx) => {
  const arrived: number[] = [];
  await Promise.all(
    [60, 1, 30].map(async (ms) => {
      await ctx.call(...call('slow', { ms }));
      arrived.push(ms);
    }),
  );
  return { answer: arrived.join(',') };
};

test('parallel answers arrive in the recorded order, without running anything', async () => {
  const { view, result } = await record(threeInParallel);
  expect(result.answer).toBe('1,30,60');
  for (let run = 0; run < 20; run++) {
    const report = await replayWith(view, threeInParallel);
    expect(report).toMatchObject({ ok: true, steps: 3, turns: 1, incomplete: false });
  }
});

const twoCalls =
  (first: JsonObject, second: JsonObject, answer = 'done'): Agent =>
  async (_input, ctx) => {
    await ctx.call(...call('echo', first));
    await ctx.call(...call('echo', second));
    return { answer };
  };

const only =
  (name: string): Agent =>
  async (_input, ctx) => {
    await ctx.call(...call(name, { a: 1 }));
    return { answer: 'done' };
  };

test.each<[string, Agent, object]>([
  [
    'a changed argument',
    twoCalls({ a: 1 }, { a: { b: [1, 3] } }),
    { step: 2, path: '/input/a/b/1', expected: 2, actual: 3 },
  ],
  ['a call that is left out', only('echo'), { step: 2 }],
  [
    'one call too many',
    async (_i, ctx) => {
      for (const a of [{ a: 1 }, { a: { b: [1, 2] } }, { a: 1 }])
        await ctx.call(...call('echo', a as JsonObject));
      return { answer: 'done' };
    },
    { step: null, actual: { name: 'echo' } },
  ],
  ['another order', twoCalls({ a: { b: [1, 2] } }, { a: 1 }), { step: 1 }],
  ['another tool', only('slow'), { step: 1, path: '/name' }],
  [
    'another answer',
    twoCalls({ a: 1 }, { a: { b: [1, 2] } }, 'other'),
    { step: null, path: '/answer', expected: 'done', actual: 'other' },
  ],
  [
    'a clock that was not read',
    async (_i, ctx) => {
      await ctx.now();
      return { answer: 'done' };
    },
    {},
  ],
])('%s is found at its place', async (_what, changed, expected) => {
  const { view } = await record(twoCalls({ a: 1 }, { a: { b: [1, 2] } }));
  const report = await replayWith(view, changed);
  expect(report.ok).toBe(false);
  expect(report.divergence).toMatchObject(expected);
});

test('a divergence that the agent swallows is still one', async () => {
  const { view } = await record(twoCalls({ a: 1 }, { a: 2 }));
  const report = await replayWith(view, async (_input, ctx) => {
    for (const a of [1, 3]) await ctx.call(...call('echo', { a })).catch(() => {});
    return { answer: 'done' };
  });
  expect(report).toMatchObject({
    ok: false,
    divergence: { step: 2, path: '/input/a', expected: 2, actual: 3 },
  });
});

test('the clock is read from the record', async () => {
  const clock: Agent = async (_input, ctx) => ({ answer: String(await ctx.now()) });
  const { view } = await record(clock);
  expect(await replayWith(view, clock)).toMatchObject({ ok: true });
});

test('a secret in a result is masked on record, and its replay still fits', async () => {
  const secrets = new Secrets();
  secrets.add('TOKEN', 's3cr3t-value-1');
  const agent: Agent = async (_input, ctx) => {
    const got = (await ctx.call(
      ...call('echo', { text: 'the key is s3cr3t-value-1, and {{secret:X}} is only text' }),
    )) as JsonObject;
    await ctx.call(...call('echo', { again: got.output ?? null }));
    return { answer: 'done' };
  };
  const { view } = await record(agent, { secrets });
  expect(JSON.stringify(view.steps.map((step) => [step.input, step.output]))).not.toContain('s3cr3t');
  const seen = (view.steps[0]!.input as { text: string }).text;
  const fromRecord: Agent = async (_input, ctx) => {
    const got = (await ctx.call(...call('echo', { text: seen }))) as JsonObject;
    await ctx.call(...call('echo', { again: got.output ?? null }));
    return { answer: 'done' };
  };
  expect(await replayWith(view, fromRecord)).toMatchObject({ ok: true, steps: 2 });
});
