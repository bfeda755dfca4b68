/**
 * Hidden sources of chance in an agent's own code: what it asks the harness for is recorded, what it reads behind its back
 * shows as a divergence as soon as it reaches a request. One test each, both ways.
 */
import { Secrets } from '@chassis/journal';
import type { JsonObject } from '@chassis/types';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type Fakes, fakeRegistry, says } from '../../test/support/fake-registry.ts';
import { newSession, openSession, surroundings } from '../../test/support/sessions.ts';
import { replay } from './replay.ts';
import { Session } from './session.ts';

type Agent = NonNullable<Fakes['agent']>;

/** Sends one value of its own to the model. */
const sending =
  (read: (ctx: Parameters<Agent>[1]) => unknown): Agent =>
  async (_input, ctx) => {
    const content = String(await read(ctx));
    const reply = (await ctx.call('model.generate', { messages: [{ role: 'user', content }] })) as {
      message: JsonObject;
    };
    return { answer: reply.message.content };
  };

async function recordedWith(agent: Agent, tools: Fakes['tools'] = {}) {
  const { session } = await openSession({ agent, tools, models: { p: () => says('ok') } });
  expect(await session.prompt('go')).toMatchObject({ outcome: 'ok' });
  await session.close();
  return session.view;
}

const run = (view: Awaited<ReturnType<typeof recordedWith>>, agent: Agent) =>
  replay(view, fakeRegistry({ agent }), new Secrets(), new AbortController().signal);

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const content = '/input/messages/0/content';

describe('read behind the back of the harness', () => {
  const counter = { n: 0 };
  const sources: [string, () => unknown, () => void][] = [
    ['the time', () => Date.now(), () => void vi.useFakeTimers({ now: 86_400_000, toFake: ['Date'] })],
    ['a random number', () => Math.random(), () => void vi.spyOn(Math, 'random').mockReturnValue(0.5)],
    ['a uuid', () => crypto.randomUUID(), () => {}],
    ['the environment', () => process.env.ORDERS_REGION, () => vi.stubEnv('ORDERS_REGION', 'eu-west')],
    [
      'the locale',
      () => (1234.5).toLocaleString(process.env.ORDERS_LOCALE ?? 'en'),
      () => vi.stubEnv('ORDERS_LOCALE', 'de'),
    ],
    [
      'the format of a float',
      () => (0.1 + 0.2).toFixed(Number(process.env.ORDERS_DIGITS ?? 2)),
      () => vi.stubEnv('ORDERS_DIGITS', '17'),
    ],
    [
      'the order of a Map that is filled as things arrive',
      () => {
        const arrived = counter.n++ % 2 === 0 ? ['a', 'b'] : ['b', 'a'];
        return JSON.stringify([...new Map(arrived.map((key) => [key, key.length])).keys()]);
      },
      () => {},
    ],
    [
      'the time zone',
      () => new Date(0).toLocaleTimeString('en', { timeZone: process.env.ORDERS_ZONE ?? 'UTC' }),
      () => vi.stubEnv('ORDERS_ZONE', 'Asia/Tokyo'),
    ],
  ];
  test.each(sources)('%s is a divergence at the request that it reached', async (_what, read, change) => {
    const agent = sending(read);
    const view = await recordedWith(agent);
    change();
    const report = await run(view, agent);
    expect(report).toMatchObject({ ok: false, divergence: { step: 1, path: content } });
  });
});

describe('asked of the harness', () => {
  test('the time is recorded', async () => {
    const agent = sending((ctx) => ctx.now());
    const view = await recordedWith(agent);
    vi.useFakeTimers({ now: 0, toFake: ['Date'] });
    expect(await run(view, agent)).toMatchObject({ ok: true, coverage: { recorded: { now: 1 } } });
  });

  test.each(['random', 'uuid'] as const)('%s is recorded', async (name) => {
    const registry = (agent: Agent) => {
      const fakes = fakeRegistry({ agent, models: { p: () => says('ok') } });
      return {
        ...fakes,
        resolveAgent: (of: string) => {
          const binding = fakes.resolveAgent(of);
          if ('cause' in binding) return binding;
          return {
            ...binding,
            invoke: async ({ host, payload, ctx }: Parameters<typeof binding.invoke>[0]) => {
              const desk = { call: host.call.bind(host), draw: () => host.value(name) };
              const data = (await agent(payload.input as never, desk as never)) as JsonObject;
              return { code: 0 as const, data, error: null, trace_id: ctx.trace_id };
            },
          };
        },
      };
    };
    const agent = sending((ctx) => (ctx as unknown as { draw(): Promise<unknown> }).draw());
    const session = await Session.create({ ...surroundings({}), registry: registry(agent) }, newSession({}));
    expect(await session.prompt('go')).toMatchObject({ outcome: 'ok' });
    await session.close();
    const report = await replay(session.view, registry(agent), new Secrets(), new AbortController().signal);
    expect(report).toMatchObject({ ok: true, coverage: { recorded: { [name]: 1 } } });
  });

  test('what a plugin makes up by itself is recorded with its answer', async () => {
    const agent = sending(async (ctx) =>
      JSON.stringify(await ctx.call('tool.call', { name: 'dice', arguments: {} })),
    );
    const view = await recordedWith(agent, { dice: { run: () => Math.random() } });
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    const report = await run(view, agent);
    expect(report).toMatchObject({ ok: true, steps: 2 });
    // It is said that its code read more than the record shows.
    expect(report.coverage.outside).toMatchObject([
      { plugin: 'fakes', step: null, what: expect.stringContaining('Math.random') as string },
      { plugin: 'fakes', step: 1 },
    ]);
  });

  test('an order in which parallel answers come is recorded', async () => {
    const agent = sending(async (ctx) => {
      const arrived: unknown[] = [];
      await Promise.all(
        [1, 2, 3].map(async (n) => {
          await ctx.call('tool.call', { name: 'wait', arguments: { n } });
          arrived.push(n);
        }),
      );
      return arrived.join();
    });
    const wait = (n: number) => new Promise((resolve) => setTimeout(resolve, (4 - n) * 10));
    const view = await recordedWith(agent, { wait: { run: async ({ n }) => wait(n as number) } });
    expect(view.request(4).messages[0]?.content).toBe('3,2,1');
    expect(await run(view, agent)).toMatchObject({ ok: true });
  });
});
