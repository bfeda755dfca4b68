import { memoryStore, Secrets } from '@chassis/journal';
import type { JsonObject, ModelRequest } from '@chassis/types';
import { describe, expect, test } from 'vitest';
import { type Fakes, type FakeTool, fakeRegistry, says } from '../../test/support/fake-registry.ts';
import { newSession, openSession, surroundings, type TestOptions } from '../../test/support/sessions.ts';
import { type MixedRequest, replayMixed } from './mixed-replay.ts';
import { replay } from './replay.ts';
import { Session } from './session.ts';

/** One model call, the tool it names, one read of the clock, and a second model call. */
const agent: NonNullable<Fakes['agent']> = async (input, ctx) => {
  const messages: JsonObject[] = [{ role: 'user', content: input.content }];
  for (;;) {
    const reply = (await ctx.call('model.generate', { messages })) as { message: JsonObject };
    const calls = (reply.message.tool_calls ?? []) as { id: string; name: string; arguments: string }[];
    if (calls.length === 0) return { answer: `${reply.message.content as string} at ${await ctx.now()}` };
    messages.push(reply.message);
    for (const { id, name, arguments: args } of calls) {
      const { message } = (await ctx.call('tool.call', { call_id: id, name, arguments: args })) as {
        message: JsonObject;
      };
      messages.push(message);
    }
  }
};

interface World {
  readonly ran: string[];
  readonly options: TestOptions;
}

/** The same world twice, except for what its parts say: `then` is what was recorded, `now` is what runs today. */
function world(age: 'then' | 'now', store = memoryStore()): World {
  const ran: string[] = [];
  const tool = (name: string, more: Partial<FakeTool> = {}): FakeTool => ({
    run: () => {
      ran.push(name);
      return { from: name, age };
    },
    ...more,
  });
  const p = ({ messages }: ModelRequest) => {
    ran.push('p');
    const results = messages.filter((message) => message.role === 'tool').map((message) => message.content);
    if (results.length > 0) return says(`${age}: ${results.join(' ')}`);
    return says('', [
      ['c1', 'price', { item: 1 }],
      ['c2', 'read_file', { path: 'a' }],
    ]);
  };
  return {
    ran,
    options: { agent, store, tools: { price: tool('price'), read_file: tool('read_file') }, models: { p } },
  };
}

async function recorded(options = world('then').options) {
  const { session } = await openSession(options);
  await session.prompt('go');
  await session.close();
  return session.view;
}

const go = (live: string[], more: Partial<MixedRequest> = {}): MixedRequest => ({
  live,
  signal: new AbortController().signal,
  ...more,
});

describe('the matrix', () => {
  const modes = ['recorded', 'live'] as const;
  const cases = modes.flatMap((model) =>
    [...modes, 'dry' as const].flatMap((tools) => modes.map((files) => ({ model, tools, files }))),
  );
  test.each(cases)('model $model, tools $tools, files $files', async ({ model, tools, files }) => {
    const view = await recorded();
    const now = world('now');
    const live = [
      ...(model === 'live' ? ['model'] : []),
      ...(tools === 'live' ? ['tools'] : []),
      ...(files === 'live' ? ['read_file'] : []),
    ];
    const except = files === 'recorded' && tools !== 'recorded' ? ['read_file'] : [];
    const dry = tools === 'dry' ? ['tools'] : [];
    const report = await replayMixed(view, surroundings(now.options), go(live, { dry, except }));
    // A tool that only reads runs in a dry run, too.
    const ran = tools !== 'recorded';
    expect(report.divergence).toBeUndefined();
    expect(report).toMatchObject({ ok: true, made: null });
    expect(new Set(now.ran)).toEqual(
      new Set([
        ...(model === 'live' ? ['p'] : []),
        ...(ran ? ['price'] : []),
        ...(files === 'live' ? ['read_file'] : []),
      ]),
    );
    expect(report.view.step(2)?.output).toEqual({ from: 'price', age: ran ? 'now' : 'then' });
    expect(report.view.step(3)?.output).toEqual({
      from: 'read_file',
      age: files === 'live' ? 'now' : 'then',
    });
    expect(report.steps).toEqual({
      recorded: (model === 'live' ? 0 : 2) + (ran ? 0 : 1) + (files === 'live' ? 0 : 1),
      live: (model === 'live' ? 2 : 0) + (ran ? 1 : 0) + (files === 'live' ? 1 : 0),
    });
    // The clock is the record's in every case; the answer is the model's own words.
    const clock = JSON.stringify(view.values[0]?.value);
    expect(report.turns[0]?.answer).toContain(`at ${clock}`);
    expect(report.turns[0]?.answer?.startsWith(model === 'live' ? 'now' : 'then')).toBe(true);
    // What was made is a session of its own that replays.
    const again = await replay(
      report.view,
      fakeRegistry({ agent }),
      new Secrets(),
      new AbortController().signal,
    );
    expect(again).toMatchObject({ ok: true, steps: 4 });
  });
});

test('nothing is written, unless it is saved as a session that says what it was made of', async () => {
  const store = memoryStore();
  const before = world('then', store);
  const view = await recorded(before.options);
  const lines = async () => Array.fromAsync((await store.reader(view.header.id)).lines());
  const original = await lines();
  const around = surroundings(world('now', store).options);
  await replayMixed(view, around, go(['tools']));
  expect(await Array.fromAsync(store.list())).toHaveLength(1);
  const { made } = await replayMixed(view, around, go(['tools'], { save: true }));
  expect(await lines()).toEqual(original);
  const saved = await (await store.reader(made ?? '')).view();
  expect(saved.header.settings).toMatchObject({ made_of: { session: view.header.id, live: ['tools'] } });
  expect(saved.notes[0]?.text).toContain(view.header.id);
  expect(saved.outcome).toBe('ok');
  // A step from the record never left for anywhere.
  expect(saved.steps.map((step) => step.seq.dispatched !== undefined)).toEqual([false, true, true, false]);
});

test('a live model that asks for a call which is not on record is told what is nearest', async () => {
  const view = await recorded();
  const { options } = world('now');
  const asks = () => says('', [['c1', 'price', { item: 2 }]]);
  const report = await replayMixed(view, surroundings({ ...options, models: { p: asks } }), go(['model']));
  expect(report).toMatchObject({
    ok: false,
    divergence: {
      step: 2,
      path: '/input/item',
      expected: 1,
      actual: 2,
      nearest: { step: 2, name: 'price', path: '/input/item' },
    },
  });
  expect(report.divergence?.message).toContain('--live price');
});

test('a recorded model that is asked something else than a live tool explains is a divergence', async () => {
  const view = await recorded();
  const { options } = world('now');
  const other: typeof agent = (input, ctx) => agent({ ...input, content: 'go!' }, ctx);
  const report = await replayMixed(view, surroundings({ ...options, agent: other }), go(['tools']));
  expect(report).toMatchObject({
    ok: false,
    divergence: { step: 1, path: '/input/messages/0/content', expected: 'go', actual: 'go!' },
  });
});

test('a tool that changes something does not do it a second time without a word', async () => {
  const writes: string[] = [];
  const put: FakeTool = { effects: 'write', run: () => void writes.push('put') };
  const p = ({ messages }: ModelRequest) =>
    messages.some((message) => message.role === 'tool') ? says('done') : says('', [['c', 'put', {}]]);
  const options = { agent, tools: { put }, models: { p } };
  const view = await recorded(options);
  expect(writes).toHaveLength(1);
  const refused = await replayMixed(view, surroundings(options), go(['tools']));
  expect(writes).toHaveLength(1);
  expect(refused.view.step(2)?.status).toBe('denied');
  await replayMixed(view, surroundings(options), go(['tools'], { approve: ['put'] }));
  expect(writes).toHaveLength(2);
});

test('a dry tool that changes something is answered from the record for the same call, and refused for another', async () => {
  const writes: unknown[] = [];
  const put: FakeTool = {
    effects: 'external',
    run: (input) => {
      writes.push(input);
      return { put: input };
    },
  };
  const asks =
    (amounts: readonly number[]) =>
    ({ messages }: ModelRequest) => {
      const told = messages.filter((message) => message.role === 'tool');
      const amount = amounts[told.length];
      return amount === undefined
        ? says(told.map(({ content }) => content).join(' / '))
        : says('', [[`c${told.length}`, 'put', { amount }]]);
    };
  const options = (amounts: readonly number[]) => ({ agent, tools: { put }, models: { p: asks(amounts) } });
  const view = await recorded(options([1]));
  expect(writes).toHaveLength(1);
  const report = await replayMixed(view, surroundings(options([1, 2])), go(['model'], { dry: ['tools'] }));
  expect(writes).toHaveLength(1);
  expect(report.divergence).toBeUndefined();
  expect(report.view.steps.map(({ name, status }) => [name, status])).toEqual([
    ['p', 'ok'],
    ['put', 'ok'],
    ['p', 'ok'],
    ['put', 'denied'],
    ['p', 'ok'],
  ]);
  expect(report.view.step(4)?.error?.message).toContain('put was not run: this is a dry run');
  expect(report.view.header.title).toContain('model live, tools dry');
  await expect(replayMixed(view, surroundings(options([1])), go([], { dry: ['model'] }))).rejects.toThrow(
    /no dry run/,
  );
});

test('a name that is nobody is refused, and the steps asked for are the last', async () => {
  const view = await recorded();
  const around = surroundings(world('now').options);
  await expect(replayMixed(view, around, go(['prise']))).rejects.toThrow(/prise is neither/);
  const report = await replayMixed(view, around, go(['tools'], { until: 2 }));
  expect(report.view.steps.map((step) => step.name)).toEqual(['p', 'price']);
  expect(report.ok).toBe(true);
});

test('each turn of a conversation is run again with its own words', async () => {
  const { options } = world('then');
  const around = surroundings(options);
  const session = await Session.create(around, newSession(options));
  for (const words of ['go', 'again']) await session.prompt(words);
  await session.close();
  const report = await replayMixed(session.view, surroundings(world('now').options), go(['tools']));
  expect(report.turns.map((turn) => turn.outcome)).toEqual(['ok', 'ok']);
  expect(report.view.turns.map((turn) => turn.input)).toEqual(['go', 'again']);
});

test('a run that failed on record and fails the same way again is no finding', async () => {
  const options = (message: string): TestOptions => ({
    ...world('then').options,
    tools: { price: { run: () => ({ from: 'price' }) }, read_file: { run: () => 'text' } },
    agent: async (input, ctx) => {
      await agent(input, ctx);
      throw new Error(message);
    },
  });
  const { session } = await openSession(options('no price'));
  expect(await session.prompt('go')).toMatchObject({ outcome: 'failed' });
  await session.close();
  const request = { live: ['tools'], signal: new AbortController().signal };
  const same = await replayMixed(session.view, surroundings(options('no price')), request);
  expect(same).toMatchObject({ ok: true, turns: [{ outcome: 'failed' }] });
  const other = await replayMixed(session.view, surroundings(options('no file')), request);
  expect(other).toMatchObject({ ok: false, turns: [{ outcome: 'failed' }] });
});
