/**
 * Mutations of an agent between a recording and its replay: each is found, at its step, its pointer, with the plugin.
 *
 * The recorded run: two model calls with a tool call and two parallel calls between them, a state change, a clock, a random
 * number, a uuid, in two turns.
 */
import { Secrets, type SessionView } from '@chassis/journal';
import type { JsonObject } from '@chassis/types';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Fakes, fakeRegistry, says } from '../../test/support/fake-registry.ts';
import { newSession, surroundings } from '../../test/support/sessions.ts';
import { replay } from './replay.ts';
import { Session } from './session.ts';

type Agent = NonNullable<Fakes['agent']>;
type Ctx = Parameters<Agent>[1];

/** The agent as data: what a mutation changes. */
interface Plan {
  system: string;
  user(content: string): string;
  history(messages: JsonObject[]): JsonObject[];
  tools: JsonObject[];
  params: JsonObject;
  model: string | undefined;
  label: string | undefined;
  calls: { name: string; arguments: JsonObject | string; call_id?: string }[];
  parallel: { name: string; arguments: JsonObject }[];
  second: boolean;
  extra: ((ctx: Ctx) => Promise<unknown>) | undefined;
  state: JsonObject | null;
  values: string[];
  answer(text: string): string;
}

const plan = (): Plan => ({
  system: 'You answer about orders.',
  user: (content) => content,
  history: (messages) => messages,
  tools: [
    {
      name: 'orders',
      description: 'Reads orders.',
      parameters: { type: 'object', properties: { page: { type: 'integer' } } },
    },
    { name: 'rates', description: 'Reads rates.', parameters: { type: 'object' } },
  ],
  params: { temperature: 0, stop: ['END'] },
  model: undefined,
  label: undefined,
  calls: [
    { name: 'orders', arguments: { page: 1, filter: { since: '2026-05-01', states: ['paid', 'sent'] } } },
  ],
  parallel: [
    { name: 'rates', arguments: { of: 'EUR' } },
    { name: 'rates', arguments: { of: 'USD' } },
  ],
  second: true,
  extra: undefined,
  state: { seen: 3, last: 'USD' },
  values: ['now', 'random', 'uuid'],
  answer: (text) => text,
});

function agentOf(p: Plan): Agent {
  return async (input, ctx) => {
    const host = ctx as Ctx & { random(): Promise<number>; uuid(): Promise<string> };
    const { history } = (await ctx.call('session.context', {})) as { history: JsonObject[] };
    let messages: JsonObject[] = p.history([
      { role: 'system', content: p.system },
      ...history,
      { role: 'user', content: p.user(input.content) },
    ]);
    const generate = async () =>
      (await ctx.call('model.generate', {
        messages,
        tools: p.tools,
        params: p.params,
        ...(p.model === undefined ? {} : { model: p.model }),
        ...(p.label === undefined ? {} : { agent: p.label }),
      })) as { message: JsonObject };
    const first = await generate();
    for (const call of p.calls) {
      const { message } = (await ctx.call('tool.call', call)) as { message: JsonObject };
      messages = [...messages, message];
    }
    await Promise.all(p.parallel.map((call) => ctx.call('tool.call', call)));
    if (p.state !== null) await ctx.call('state.update', { name: 'progress', value: p.state });
    const values: Record<string, number | string> = {};
    for (const name of p.values) values[name] = await host[name as 'now']();
    messages = [...messages, first.message, { role: 'user', content: `values ${JSON.stringify(values)}` }];
    await p.extra?.(ctx);
    const last = p.second ? await generate() : first;
    return { answer: p.answer(last.message.content as string) };
  };
}

/** The registry of the other tests, and clocks of all three kinds for the agent. */
function registryOf(agent: Agent, digest = '0'.repeat(64)) {
  const fakes = fakeRegistry({
    tools: {
      orders: { run: () => ({ rows: [1, 2] }) },
      rates: { run: ({ of }) => `1 ${JSON.stringify(of)}` },
    },
    models: { p: () => says('the answer'), q: () => says('the answer') },
    agent,
  });
  const plugin = { name: 'fakes', version: digest.startsWith('0') ? '1.0.0' : '2.0.0', digest };
  return {
    ...fakes,
    plugins: () => [{ ...plugin, state: 'active' } as ReturnType<typeof fakes.plugins>[number]],
    resolveAgent: (name: string) => {
      const binding = fakes.resolveAgent(name);
      if ('cause' in binding) return binding;
      return {
        ...binding,
        invoke: async (invocation: Parameters<typeof binding.invoke>[0]) => {
          const { host, payload, ctx } = invocation;
          const desk = {
            call: (method: string, params: JsonObject) => host.call(method, params),
            now: async () => host.value('now'),
            random: async () => host.value('random'),
            uuid: async () => host.value('uuid'),
          };
          try {
            const data = await agent(payload.input as never, desk as never);
            return { code: 0, data: data as JsonObject, error: null, trace_id: ctx.trace_id };
          } catch (thrown) {
            return {
              code: -32603,
              data: null,
              error: { message: (thrown as Error).message },
              trace_id: ctx.trace_id,
            };
          }
        },
      };
    },
  };
}

let view: SessionView;

beforeAll(async () => {
  const around = { ...surroundings({}), registry: registryOf(agentOf(plan())) };
  const session = await Session.create(around, newSession({}));
  for (const words of ['How many orders?', 'And in May?'])
    expect(await session.prompt(words)).toMatchObject({ outcome: 'ok' });
  await session.close();
  view = session.view;
});

const again = (changed: Partial<Plan>, digest?: string) =>
  replay(
    view,
    registryOf(agentOf({ ...plan(), ...changed }), digest),
    new Secrets(),
    new AbortController().signal,
  );

test('the agent as it was replays', async () => {
  expect(await again({})).toMatchObject({ ok: true, turns: 2, steps: 12, plugins: [] });
});

const orders = plan().calls[0]!;
const call = (args: JsonObject | string): Partial<Plan> => ({ calls: [{ ...orders, arguments: args }] });
const [ordersTool, ratesTool] = plan().tools as [JsonObject, JsonObject];
const filter = { since: '2026-05-01', states: ['paid', 'sent'] };

const mutations: [string, Partial<Plan>, { step: number | null; path: string }][] = [
  [
    'one byte of the prompt',
    { system: 'You answer about 0rders.' },
    { step: 1, path: '/input/messages/0/content' },
  ],
  [
    'a space at the end of the prompt',
    { system: `${plan().system} ` },
    { step: 1, path: '/input/messages/0/content' },
  ],
  [
    'a character that only looks the same',
    { system: 'You аnswer about orders.' },
    { step: 1, path: '/input/messages/0/content' },
  ],
  [
    'another normal form of a letter',
    { user: (c) => `${c}e\u0301` },
    { step: 1, path: '/input/messages/1/content' },
  ],
  ['the words of the user', { user: (c) => c.toLowerCase() }, { step: 1, path: '/input/messages/1/content' }],
  ['a message left out', { history: (m) => m.slice(1) }, { step: 1, path: '/input/messages/0/role' }],
  [
    'a message too many',
    { history: (m) => [...m, { role: 'user', content: '?' }] },
    { step: 1, path: '/input/messages/2' },
  ],
  [
    'messages in another order',
    { history: (m) => m.toReversed() },
    { step: 1, path: '/input/messages/0/role' },
  ],
  [
    'another role',
    { history: (m) => m.map((one) => ({ ...one, role: 'user' })) },
    { step: 1, path: '/input/messages/0/role' },
  ],
  [
    'a member of a message',
    { history: (m) => m.map((one) => ({ ...one, name: 'x' })) },
    { step: 1, path: '/input/messages/0/name' },
  ],
  [
    'history of the turn before, forgotten',
    { history: (m) => [m[0]!, m.at(-1)!] },
    { step: 7, path: '/input/messages/1/content' },
  ],
  [
    'a parameter',
    { params: { temperature: 0.1, stop: ['END'] } },
    { step: 1, path: '/input/params/temperature' },
  ],
  ['a parameter more', { params: { ...plan().params, seed: 1 } }, { step: 1, path: '/input/params/seed' }],
  ['a parameter less', { params: { stop: ['END'] } }, { step: 1, path: '/input/params/temperature' }],
  [
    'a number that became a text',
    { params: { temperature: '0', stop: ['END'] } },
    { step: 1, path: '/input/params/temperature' },
  ],
  [
    'an item of a parameter',
    { params: { temperature: 0, stop: ['FIN'] } },
    { step: 1, path: '/input/params/stop/0' },
  ],
  ['a tool less on offer', { tools: [ordersTool] }, { step: 1, path: '/input/tools/1' }],
  ['tools in another order', { tools: [ratesTool, ordersTool] }, { step: 1, path: '/input/tools/0/name' }],
  [
    'the description of a tool',
    { tools: [{ ...ordersTool, description: 'Reads order.' }, ratesTool] },
    { step: 1, path: '/input/tools/0/description' },
  ],
  [
    'the schema of a tool',
    {
      tools: [
        { ...ordersTool, parameters: { type: 'object', properties: { page: { type: 'number' } } } },
        ratesTool,
      ],
    },
    { step: 1, path: '/input/tools/0/parameters/properties/page/type' },
  ],
  ['another model', { model: 'q' }, { step: 1, path: '/name' }],
  ['the label of the agent', { label: 'side' }, { step: null, path: '' }],
  ['an argument', call({ page: 2, filter }), { step: 2, path: '/input/page' }],
  [
    'an argument, deep inside',
    call({ page: 1, filter: { ...filter, states: ['paid', 'lost'] } }),
    { step: 2, path: '/input/filter/states/1' },
  ],
  [
    'items of an argument in another order',
    call({ page: 1, filter: { ...filter, states: ['sent', 'paid'] } }),
    { step: 2, path: '/input/filter/states/0' },
  ],
  ['an argument left out', call({ filter }), { step: 2, path: '/input/page' }],
  ['an argument that is null', call({ page: null, filter }), { step: 2, path: '/input/page' }],
  ['an argument of another type', call({ page: '1', filter }), { step: 2, path: '/input/page' }],
  ['an argument more', call({ page: 1, filter, limit: 10 }), { step: 2, path: '/input/limit' }],
  ['arguments that are no object', call('[1]'), { step: 2, path: '/input' }],
  ['another tool', { calls: [{ ...orders, name: 'rates' }] }, { step: 2, path: '/name' }],
  ['a call left out', { calls: [] }, { step: 2, path: '' }],
  ['a call twice', { calls: [orders, orders] }, { step: 3, path: '/name' }],
  ['a parallel call left out', { parallel: [plan().parallel[0]!] }, { step: 4, path: '' }],
  [
    'a parallel call changed',
    { parallel: [plan().parallel[0]!, { name: 'rates', arguments: { of: 'GBP' } }] },
    { step: 4, path: '/input/of' },
  ],
  ['a state change left out', { state: null }, { step: 5, path: '' }],
  ['what the state became', { state: { seen: 4, last: 'USD' } }, { step: 5, path: '/input/seen' }],
  ['the second model call left out', { second: false }, { step: 6, path: '' }],
  [
    'one call more at the end',
    { extra: (ctx) => ctx.call('tool.call', { name: 'rates', arguments: { of: 'CHF' } }) },
    { step: 6, path: '/kind' },
  ],
  [
    'one model call more',
    { extra: (ctx) => ctx.call('model.generate', { messages: [] }) },
    { step: 6, path: '/input/messages/0' },
  ],
  ['the clock read once more', { values: ['now', 'random', 'uuid', 'now'] }, { step: null, path: '/values' }],
  ['a uuid not read', { values: ['now', 'random'] }, { step: 6, path: '/input/messages/4/content' }],
  ['another answer', { answer: (text) => `${text}!` }, { step: null, path: '/answer' }],
];

describe(`${mutations.length} kinds of mutation`, () => {
  test.each(mutations)('%s', async (_what, changed, { step, path }) => {
    const report = await again(changed);
    expect(report.ok).toBe(false);
    expect(report.divergence).toMatchObject({
      step,
      path,
      plugin: { name: 'fakes', recorded: { version: '1.0.0' }, now: { version: '1.0.0' } },
    });
    expect(report.divergence?.message).not.toBe('');
  });
});

test('another version of the plugin is named with both, also where the run is the same', async () => {
  const other = 'a'.repeat(64);
  const same = await again({}, other);
  expect(same).toMatchObject({
    ok: true,
    plugins: [
      {
        name: 'fakes',
        path: '/version',
        recorded: { version: '1.0.0' },
        now: { version: '2.0.0', digest: other },
      },
    ],
  });
  const changed = await again({ system: 'Guess.' }, other);
  expect(changed.divergence?.plugin).toMatchObject({
    recorded: { version: '1.0.0' },
    now: { version: '2.0.0' },
  });
});

test('the nearest recording is the call that is most like the one that was asked for', async () => {
  const { divergence } = await again({
    parallel: [{ name: 'orders', arguments: { page: 1, filter: { ...filter, since: '2026-06-01' } } }],
  });
  expect(divergence).toMatchObject({
    step: 3,
    path: '/name',
    nearest: {
      step: 2,
      name: 'orders',
      path: '/input/filter/since',
      expected: '2026-05-01',
      actual: '2026-06-01',
    },
  });
});
