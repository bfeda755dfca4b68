import { ErrorCode } from '@chassis/errors';
import { memoryStore, Secrets, type Store } from '@chassis/journal';
import type { JsonObject } from '@chassis/types';
import { describe, expect, test } from 'vitest';
import { type Fakes, type FakeTool, says } from '../../test/support/fake-registry.ts';
import { newSession, surroundings, type TestOptions } from '../../test/support/sessions.ts';
import { conversationBefore } from './conversation.ts';
import { replay } from './replay.ts';
import { Session } from './session.ts';

/** The agent of these tests: one model call, then every tool it names at once, then a second model call. */
const agent: NonNullable<Fakes['agent']> = async (input, ctx) => {
  const { history } = (await ctx.call('session.context', {})) as { history: JsonObject[] };
  let messages: JsonObject[] = [...history, { role: 'user', content: input.content }];
  for (;;) {
    const reply = (await ctx.call('model.generate', { messages })) as {
      message?: JsonObject;
      error?: { message: string };
    };
    if (reply.message === undefined) throw new Error(reply.error?.message);
    const named = (reply.message.tool_calls ?? []) as { id: string; name: string; arguments: string }[];
    if (named.length === 0) return { answer: reply.message.content };
    const results = await Promise.all(
      named.map(async ({ id, name, arguments: text }) => {
        const result = (await ctx.call('tool.call', { name, arguments: text, call_id: id })) as {
          message: JsonObject;
        };
        return result.message;
      }),
    );
    messages = [...messages, reply.message, ...results];
  }
};

const model = (request: { messages: readonly { role: string; content: string }[] }) => {
  const last = request.messages.at(-1);
  if (last?.role === 'tool')
    return says(
      `done after: ${request.messages
        .filter((m) => m.role === 'tool')
        .map((m) => m.content)
        .join()}`,
    );
  if (last?.content === 'go on') return says('going on');
  return says('', [
    ['t1', 'look', { n: 1 }],
    ['t2', 'copy', { n: 2 }],
  ]);
};

class Killed extends Error {}

/** A session whose process "dies" while the tool `copy` runs: nothing after that is written. */
async function interrupted(store: Store, copy: Partial<FakeTool>) {
  let look = 0;
  let copies = 0;
  const options: TestOptions = {
    store,
    agent,
    models: { p: model },
    tools: {
      look: { effects: 'read', run: () => `looked ${++look}` },
      copy: { effects: 'write', run: () => `copied ${++copies}`, ...copy },
    },
  };
  const around = surroundings(options);
  let release = () => {};
  const hanging = new Promise((resolve) => {
    release = () => resolve('too late');
  });
  const dying = surroundings({
    ...options,
    tools: {
      ...options.tools,
      copy: { effects: 'write', ...copy, run: () => (copies++ < 0 ? null : hanging) },
    } as TestOptions['tools'] & object,
  });
  const session = await Session.create(dying, newSession(options));
  const running = session.prompt('start').catch(() => new Killed());
  while (copies === 0 || session.view.step(2)?.status !== 'ok')
    await new Promise((resolve) => setTimeout(resolve, 1));
  await session.close();
  release();
  await running;
  return { id: session.id, around, options, copies: () => copies };
}

describe.each(['look that can be repeated', 'idempotent write'])(
  'an interrupted call of a tool: %s',
  (kind) => {
    test('runs again under the same key, and the run reaches its answer', async () => {
      const keys: string[] = [];
      const copy: Partial<FakeTool> = {
        ...(kind === 'idempotent write' ? { idempotent: true } : { effects: 'read' as const }),
        run: (_input, ctx) => {
          keys.push(ctx.idempotency_key);
          return 'copied';
        },
      };
      const { id, around } = await interrupted(memoryStore(), copy);
      const session = await Session.open(around, id);
      const before = session.view.step(3)?.attempts[0]?.idempotency_key;
      const result = await session.resume();
      await session.close();
      expect(result).toMatchObject({ outcome: 'ok', answer: 'done after: looked 1,copied' });
      expect(keys).toEqual([before]);
      expect(session.view.step(3)?.attempts).toHaveLength(2);
    });
  },
);

describe('an interrupted call that writes', () => {
  test('is not repeated; the model is told that its outcome is unknown', async () => {
    const { id, around, copies } = await interrupted(memoryStore(), {});
    const session = await Session.open(around, id);
    const result = await session.resume();
    await session.close();
    expect(copies()).toBe(1);
    expect(result.outcome).toBe('ok');
    expect(result.answer).toContain('OutcomeUnknown: copy was interrupted');
    expect(session.view.step(3)).toMatchObject({
      status: 'unknown',
      error: { code: ErrorCode.OutcomeUnknown },
    });
  });

  test('is repeated when a person says so', async () => {
    const { id, around, copies } = await interrupted(memoryStore(), {});
    const asked: string[] = [];
    const approver = {
      ask: async ({ reason }: { reason: string }) => {
        asked.push(reason);
        return { decision: 'allow', by: 'ada' } as const;
      },
    };
    const session = await Session.open({ ...around, approver }, id);
    const result = await session.resume();
    await session.close();
    expect(asked).toHaveLength(1);
    expect(copies()).toBe(2);
    expect(result.answer).toBe('done after: looked 1,copied 2');
  });

  test('is closed as unknown when the user says something new instead, once, with every call answered', async () => {
    const { id, around, copies } = await interrupted(memoryStore(), {});
    const session = await Session.open(around, id);
    await session.prompt('go on');
    await session.close();
    const again = await Session.open(around, id);
    await again.prompt('go on');
    await again.close();
    expect(copies()).toBe(1);
    const request = again.view.request(again.view.steps.at(-1)?.number ?? 0).messages;
    expect(request.map((message) => message.role)).toEqual([
      'user',
      'assistant',
      'tool',
      'tool',
      'user',
      'assistant',
      'user',
    ]);
    expect(request[2]).toEqual({ role: 'tool', tool_call_id: 't1', content: 'looked 1' });
    expect(request[3]).toMatchObject({ tool_call_id: 't2', is_error: true });
    expect(request[3]?.content).toContain('unknown');
  });
});

test('a resumed session replays without running anything', async () => {
  const { id, around } = await interrupted(memoryStore(), { idempotent: true });
  const session = await Session.open(around, id);
  await session.resume();
  await session.close();
  const report = await replay(session.view, around.registry, new Secrets(), new AbortController().signal);
  expect(report).toMatchObject({ ok: true, steps: 4 });
});

test('an interrupted session can be followed to where its record ends', async () => {
  const { id, around } = await interrupted(memoryStore(), {});
  const view = await (await around.store.reader(id)).view();
  const report = await replay(view, around.registry, new Secrets(), new AbortController().signal);
  expect(report).toMatchObject({ ok: true, incomplete: true, steps: 2 });
});

test('a session that ended well has nothing to resume, and says what to do instead', async () => {
  const around = surroundings({ agent, models: { p: () => says('hi') } });
  const session = await Session.create(around, newSession({}));
  await session.prompt('hello');
  await expect(session.resume()).rejects.toThrow(/has ended: go on with chassis run --session/);
  await session.close();
});

test('a run that failed because the provider was down goes on when it is back', async () => {
  let down = true;
  const flaky = () => {
    if (down)
      throw Object.assign(new Error('overloaded'), { code: ErrorCode.ModelError, data: { status: 503 } });
    return says('back again');
  };
  const around = surroundings({ agent, models: { p: flaky } });
  const session = await Session.create(around, newSession({}));
  expect(await session.prompt('hello')).toMatchObject({ outcome: 'failed' });
  down = false;
  expect(await session.resume()).toMatchObject({ outcome: 'ok', answer: 'back again' });
  expect(session.view.steps).toHaveLength(1);
  expect(session.view.turns[0]).not.toHaveProperty('error');
  await session.close();
});

test('a run that ended because a tool was not approved goes on once it is', async () => {
  let ran = 0;
  const options: TestOptions = {
    agent: async (_input, ctx) => {
      const { error, output } = (await ctx.call('tool.call', { name: 'write', arguments: {} })) as {
        error?: { code: number };
        output?: string;
      };
      if (error !== undefined)
        throw Object.assign(new Error('denied'), { code: error.code, data: { step: 1 } });
      return { answer: output };
    },
    tools: { write: { effects: 'write', approval: 'ask', run: () => `written ${++ran}` } },
  };
  const around = surroundings(options);
  const session = await Session.create(around, newSession(options));
  expect(await session.prompt('go')).toMatchObject({ outcome: 'failed' });
  await session.close();
  const approver = { ask: async () => ({ decision: 'allow', by: 'ada' }) as const };
  const again = await Session.open({ ...around, approver }, session.id);
  expect(await again.resume()).toMatchObject({ outcome: 'ok', answer: 'written 1' });
  await again.close();
});

describe('a fork', () => {
  async function parent() {
    let looked = 0;
    const options: TestOptions = {
      agent,
      models: { p: model },
      tools: { look: { run: () => `looked ${++looked}` }, copy: { effects: 'write', run: () => 'copied' } },
    };
    const around = surroundings(options);
    const session = await Session.create(around, newSession(options));
    await session.prompt('start');
    await session.close();
    return { around, parent: session.id, looked: () => looked };
  }

  test('uses the past up to its step, with the edit, and goes on live', async () => {
    const { around, parent: id, looked } = await parent();
    const edits = [{ step: 2, path: '/output', value: 'edited' }];
    const fork = await Session.fork(around, { parent: id, at: 2, edits });
    const result = await fork.resume();
    await fork.close();
    expect(looked()).toBe(1);
    expect(result.answer).toBe('done after: edited,copied');
    expect(fork.view.header.parent).toMatchObject({ session: id, step: 2 });
    const view = await (await around.store.reader(fork.id)).view();
    expect(await replay(view, around.registry, new Secrets(), new AbortController().signal)).toMatchObject({
      ok: true,
    });
    const source = await (await around.store.reader(id)).view();
    expect(source.step(2)?.output).toBe('looked 1');
  });

  test.each([
    [9, '/output', 'has no step 9: it has steps 1 to 4'],
    [2, '/status', 'its path begins with /input or /output'],
    [2, '/output/rows/3/amount', '/output'],
    [1, '/output', "step 1 is a model's: the model's answer"],
  ])('at %i with an edit of %s is refused: %s', async (at, path, message) => {
    const { around, parent: id } = await parent();
    const edits = [{ step: at, path, value: 1 }];
    await expect(Session.fork(around, { parent: id, at, edits })).rejects.toThrow(message);
  });
});

test('the history of a later turn pairs each call with one result', async () => {
  const { id, around } = await interrupted(memoryStore(), {});
  const view = await (await around.store.reader(id)).view();
  const roles = conversationBefore(view, 2).map((message) => message.role);
  expect(roles).toEqual(['user', 'assistant', 'tool', 'tool']);
});
