import { Secrets } from '@chassis/journal';
import type { JsonObject, ModelRequest } from '@chassis/types';
import { expect, test } from 'vitest';
import { type Fakes, fakeRegistry, says } from '../../test/support/fake-registry.ts';
import { newSession, surroundings, type TestOptions } from '../../test/support/sessions.ts';
import { replay } from './replay.ts';
import { type ForkRequest, Session } from './session.ts';

const agent: NonNullable<Fakes['agent']> = async (input, ctx) => {
  const { history } = (await ctx.call('session.context', {})) as { history: JsonObject[] };
  let messages: JsonObject[] = [
    { role: 'system', content: 'Be exact.' },
    ...history,
    { role: 'user', content: input.content },
  ];
  for (;;) {
    const reply = (await ctx.call('model.generate', { messages })) as { message: JsonObject };
    const calls = (reply.message.tool_calls ?? []) as { id: string; name: string; arguments: string }[];
    messages = [...messages, reply.message];
    if (calls.length === 0) return { answer: reply.message.content };
    for (const { id, name, arguments: args } of calls) {
      const { message } = (await ctx.call('tool.call', { call_id: id, name, arguments: args })) as {
        message: JsonObject;
      };
      messages = [...messages, message];
    }
  }
};

/** Calls `look` twice, then says what it was shown: instructions, temperature, question, results. */
const model =
  (name: string, seen: string[]) =>
  ({ messages, params }: ModelRequest) => {
    seen.push(name);
    const results = messages.filter((message) => message.role === 'tool').map(({ content }) => content);
    const current = messages.findLastIndex((message) => message.role === 'user');
    const asked = messages.slice(current).filter((message) => message.role === 'assistant').length;
    if (asked < 2) return says('', [[`c${messages.length}`, 'look', { at: asked }]]);
    return says(
      [
        name,
        messages[0]?.content,
        JSON.stringify(params.temperature ?? null),
        messages[current]?.content,
        results.join('+'),
      ].join(' | '),
    );
  };

async function recorded() {
  const seen: string[] = [];
  const looked: unknown[] = [];
  const options: TestOptions = {
    agent,
    tools: { look: { run: ({ at }) => `saw ${looked.push(at) && String(at as number)}` } },
    models: { p: model('p', seen), q: model('q', seen) },
  };
  const around = surroundings(options);
  const session = await Session.create(around, newSession(options));
  await session.prompt('How many?');
  await session.close();
  seen.length = 0;
  looked.length = 0;
  const forked = async (request: Omit<ForkRequest, 'parent'>) => {
    const fork = await Session.fork(around, { parent: session.id, ...request });
    const result = request.message === undefined ? await fork.resume() : await fork.prompt(request.message);
    await fork.close();
    const view = await (await around.store.reader(fork.id)).view();
    const again = await replay(view, fakeRegistry({ agent }), new Secrets(), new AbortController().signal);
    expect(again).toMatchObject({ ok: true });
    return { result, view, fork };
  };
  return { session, around, seen, looked, forked };
}

test('the recorded run, for comparison', async () => {
  const { session } = await recorded();
  expect(session.view.turns[0]?.answer).toBe('p | Be exact. | null | How many? | saw 0+saw 1');
});

test('an edited message: the step runs anew with it, what came before is from the record, later requests show it too', async () => {
  const { forked, seen, looked } = await recorded();
  const { result, view } = await forked({
    at: 3,
    edits: [{ step: 3, path: '/input/messages/1/content', value: 'How many, in words?' }],
  });
  expect(seen).toEqual(['p', 'p']);
  expect(looked).toEqual([1]);
  expect(result.answer).toBe('p | Be exact. | null | How many, in words? | saw 0+saw 1');
  expect(view.request(1).messages[1]?.content).toBe('How many?');
  for (const step of [3, 5]) expect(view.request(step).messages[1]?.content).toBe('How many, in words?');
});

test('an edited prompt and parameter', async () => {
  const { forked, seen } = await recorded();
  const { result } = await forked({
    at: 1,
    edits: [
      { step: 1, path: '/input/messages/0/content', value: 'Guess.' },
      { step: 1, path: '/input/params/temperature', value: 0.5 },
    ],
  });
  expect(seen).toHaveLength(3);
  expect(result.answer).toBe('p | Guess. | 0.5 | How many? | saw 0+saw 1');
});

test('another model and parameters hold from the fork on, in the turn that goes on', async () => {
  const { forked, seen } = await recorded();
  const { result, view } = await forked({
    at: 2,
    edits: [],
    model: { name: 'q', fallbacks: [], params: { temperature: 1 } },
  });
  expect(seen).toEqual(['q', 'q']);
  expect(result.answer).toBe('q | Be exact. | 1 | How many? | saw 0+saw 1');
  expect(view.steps.filter((step) => step.kind === 'model').map((step) => step.name)).toEqual([
    'p',
    'q',
    'q',
  ]);
});

test('edited arguments of a call: the tool runs with them', async () => {
  const { forked, looked } = await recorded();
  const { result } = await forked({ at: 2, edits: [{ step: 2, path: '/input/at', value: 7 }] });
  expect(looked).toEqual([7, 1]);
  expect(result.answer).toContain('saw 7+saw 1');
});

test('other words of the user: the turn begins anew with them', async () => {
  const { forked, seen } = await recorded();
  const { result, view } = await forked({ at: 4, edits: [], message: 'How few?' });
  expect(seen).toHaveLength(3);
  expect(result.answer).toContain('How few?');
  expect(view.turns.map((turn) => turn.input)).toEqual(['How few?']);
});

test('a fork of a fork keeps the edits of both', async () => {
  const { forked, around } = await recorded();
  const { fork } = await forked({
    at: 1,
    edits: [{ step: 1, path: '/input/messages/0/content', value: 'Guess.' }],
  });
  const second = await Session.fork(around, {
    parent: fork.id,
    at: 5,
    edits: [{ step: 5, path: '/input/messages/1/content', value: 'How few?' }],
  });
  const result = await second.resume();
  await second.close();
  expect(result.answer).toBe('p | Guess. | null | How few? | saw 0+saw 1');
  const again = await replay(
    second.view,
    fakeRegistry({ agent }),
    new Secrets(),
    new AbortController().signal,
  );
  expect(again).toMatchObject({ ok: true, steps: 5 });
});

test('a fork at the very step that its parent edited has the edit', async () => {
  const { forked, around } = await recorded();
  const { fork } = await forked({ at: 2, edits: [{ step: 2, path: '/output', value: 'edited' }] });
  const second = await Session.fork(around, { parent: fork.id, at: 2, edits: [] });
  expect(second.view.step(2)?.output).toBe('edited');
  expect((await second.resume()).answer).toBe('p | Be exact. | null | How many? | edited+saw 1');
  await second.close();
});

test.each([
  ['an input and an output at once', ['/input/messages/0/content', '/output'], 'runs anew'],
  ['a message more', ['/input/messages/-'], 'cannot add or remove'],
  ['a place that is not there', ['/input/messages/9/content'], ''],
  ['neither input nor output', ['/status'], '/input or /output'],
])('%s is refused', async (_what, paths, why) => {
  const { around, session } = await recorded();
  const value = { role: 'user', content: 'x' };
  const edits = paths.map((path) => ({ step: 3, path, value }));
  await expect(Session.fork(around, { parent: session.id, at: 3, edits })).rejects.toThrow(why);
});

test('a fork with another clock reads it from there on, in tools as in the agent; what is on record stays', async () => {
  const reading: NonNullable<Fakes['agent']> = async (_input, ctx) => {
    const times = [await ctx.now()];
    await ctx.call('tool.call', { name: 'look', arguments: { n: 1 } });
    times.push(await ctx.now());
    const { output } = (await ctx.call('tool.call', { name: 'look', arguments: { n: 2 } })) as {
      output: number;
    };
    return { answer: JSON.stringify([...times, output]) };
  };
  const options: TestOptions = {
    agent: reading,
    tools: { look: { run: (_input, ctx) => ctx.now() } },
    models: {},
  };
  const around = surroundings(options);
  const session = await Session.create(around, newSession(options));
  const first = JSON.parse((await session.prompt('go')).answer ?? '') as number[];
  await session.close();
  const clock = Date.parse('2001-02-03T04:05:06Z');
  const fork = await Session.fork(around, { parent: session.id, at: 1, edits: [], clock });
  const [start, ...later] = JSON.parse((await fork.resume()).answer ?? '') as number[];
  await fork.close();
  expect(start).toBe(first[0]);
  for (const time of later) expect(time - clock).toSatisfy((ms: number) => ms >= 0 && ms < 3_600_000);
  const again = await replay(
    fork.view,
    fakeRegistry({ agent: reading }),
    new Secrets(),
    new AbortController().signal,
  );
  expect(again).toMatchObject({ ok: true });
});
