import { ErrorCode } from '@chassis/errors';
import type { Event } from '@chassis/journal';
import type { Json, JsonObject } from '@chassis/types';
import { describe, expect, test } from 'vitest';
import { type FakeTool, says, scripted } from '../../test/support/fake-registry.ts';
import { openSession, type TestOptions } from '../../test/support/sessions.ts';
import type { Unavailable } from '../capability.ts';

/** Runs one turn whose agent makes the given calls one after another and answers with their outcomes. */
async function calls(list: readonly [string, JsonObject][], options: Omit<TestOptions, 'agent'>) {
  const outcomes: JsonObject[] = [];
  const opened = await openSession({
    ...options,
    agent: async (_input, ctx) => {
      for (const [method, params] of list) outcomes.push((await ctx.call(method, params)) as JsonObject);
      return { answer: 'done' };
    },
  });
  const result = await opened.session.prompt('go');
  await opened.session.close();
  return { ...opened, result, outcomes };
}

function tool(name: string, args: JsonObject = {}): [string, JsonObject] {
  return ['tool.call', { name, arguments: args }];
}

function types(events: readonly Event[], step: number): string[] {
  return events.filter((event) => event.step === step).map((event) => event.type);
}

const add: FakeTool = {
  input: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
  },
  output: { type: 'number' },
  run: ({ a, b }) => (a as number) + (b as number),
};

describe('a tool call', () => {
  test('is on record as intent, dispatch and end, in this order', async () => {
    const { outcomes, events } = await calls([tool('add', { a: 2, b: 3 })], { tools: { add } });
    expect(outcomes[0]).toMatchObject({ step: 1, status: 'ok', output: 5 });
    expect(types(events, 1)).toEqual(['step.started', 'step.dispatched', 'step.finished']);
  });

  test('that throws an error which no JSON can hold ends as a recorded error all the same', async () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    const data = { gone: undefined, ratio: Number.NaN, retry: () => {}, cycle, kept: 1 };
    const { outcomes, events, result } = await calls([tool('add', { a: 1, b: 2 })], {
      tools: {
        add: {
          ...add,
          run: () => {
            throw Object.assign(new Error('no luck'), { code: -31999, data });
          },
        },
      },
    });
    expect(result.outcome).toBe('ok');
    const error = {
      code: -31999,
      message: 'no luck',
      data: { ratio: 'NaN', cycle: { self: '[circular]' }, kept: 1 },
    };
    expect(outcomes[0]).toMatchObject({ step: 1, status: 'error', error });
    expect(events.find((event) => event.type === 'step.finished')?.data).toMatchObject({
      status: 'error',
      error,
    });
  });

  test('whose arguments break the schema never reaches the tool, and the error says where', async () => {
    let ran = 0;
    const { outcomes, events } = await calls([tool('add', { a: 2, b: 'x' })], {
      tools: { add: { ...add, run: () => ++ran } },
    });
    expect(ran).toBe(0);
    expect(types(events, 1)).toEqual(['step.started', 'step.finished']);
    expect(outcomes[0]).toMatchObject({
      status: 'error',
      error: { code: ErrorCode.InvalidParams, data: { issues: [{ path: '/b' }] } },
    });
  });

  test('whose result breaks the output schema is stopped, and the result stays on record', async () => {
    const { outcomes, session } = await calls([tool('add', { a: 1, b: 1 })], {
      tools: { add: { ...add, run: () => 'two' } },
    });
    expect(outcomes[0]).toMatchObject({ status: 'error', error: { code: ErrorCode.InvalidOutput } });
    expect(session.view.step(1)?.output).toBe('two');
  });

  test('of a tool that is not there is an error the model can read, not a crash', async () => {
    const { outcomes } = await calls([tool('subtract')], { tools: { add } });
    expect(outcomes[0]).toMatchObject({ status: 'error', error: { code: ErrorCode.MethodNotFound } });
  });

  test('that does not answer in time is a timeout; the tool is told to stop', async () => {
    let told = false;
    const hang: FakeTool = {
      timeout_ms: 20,
      run: (_input, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            told = true;
            resolve('late');
          });
        }),
    };
    const { session } = await calls([tool('hang')], {
      tools: { hang },
      settings: { retry: { attempts: 1, base_ms: 1 } },
    });
    expect(told).toBe(true);
    expect(session.view.step(1)).toMatchObject({ status: 'ok', output: 'late' });
  });

  test('that ignores the deadline is given up', async () => {
    const deaf: FakeTool = { timeout_ms: 20, run: () => new Promise(() => {}) };
    const { outcomes } = await calls([tool('deaf')], {
      tools: { deaf },
      settings: { retry: { attempts: 1, base_ms: 1 } },
    });
    expect(outcomes[0]).toMatchObject({ status: 'timeout', error: { code: ErrorCode.ToolTimeout } });
  });

  test('with a file effect keeps the contents by hash', async () => {
    const write: FakeTool = {
      run: (_input, ctx) => {
        ctx.effect({ kind: 'file', path: 'a.txt', before: null, after: Buffer.from('hello') });
        return 'ok';
      },
    };
    const { session } = await calls([tool('write')], { tools: { write } });
    expect(session.view.step(1)?.effects).toEqual([
      {
        kind: 'file',
        op: 'create',
        path: 'a.txt',
        before: null,
        after: '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
      },
    ]);
  });
});

test('a tool whose plugin is being started again is waited for', async () => {
  const { around, session } = await openSession({
    tools: { add },
    agent: async (_input, ctx) => ctx.call('tool.call', { name: 'add', arguments: { a: 1, b: 2 } }),
  });
  const resolve = around.registry.resolveTool.bind(around.registry);
  let asked = 0;
  around.registry.resolveTool = (name) =>
    ++asked > 2
      ? resolve(name)
      : { ...(resolve('gone') as Unavailable), phase: 'runtime', retry_at: Date.now() + 5 };
  await session.prompt('go');
  await session.close();
  expect(session.view.step(1)).toMatchObject({ status: 'ok', output: 3 });
});

describe('permission', () => {
  const asks: FakeTool = { ...add, approval: 'ask' };
  const call = [tool('add', { a: 1, b: 1 })];

  test('without a person, what needs one is denied and does not run', async () => {
    let ran = 0;
    const { outcomes, events } = await calls(call, { tools: { add: { ...asks, run: () => ++ran } } });
    expect(ran).toBe(0);
    expect(outcomes[0]).toMatchObject({
      status: 'denied',
      error: { code: ErrorCode.ApprovalDenied, data: { by: 'nobody' } },
    });
    expect(types(events, 1)).toEqual([
      'step.started',
      'approval.requested',
      'approval.resolved',
      'step.finished',
    ]);
  });

  test('a person who allows it lets it run, and the answer is on record before the dispatch', async () => {
    const { outcomes, events } = await calls(call, {
      tools: { add: asks },
      approver: { ask: async () => ({ decision: 'allow', by: 'ada' }) },
    });
    expect(outcomes[0]).toMatchObject({ status: 'ok', output: 2 });
    expect(types(events, 1)).toEqual([
      'step.started',
      'approval.requested',
      'approval.resolved',
      'step.dispatched',
      'step.finished',
    ]);
  });

  test('the configuration may forbid a tool outright', async () => {
    const { outcomes } = await calls(call, { tools: { add }, settings: { approval: { add: 'never' } } });
    expect(outcomes[0]).toMatchObject({ status: 'denied', error: { code: ErrorCode.PermissionDenied } });
  });

  test('a limit that is reached refuses the next step and names itself', async () => {
    const { outcomes } = await calls([...call, ...call], {
      tools: { add },
      settings: { limits: { steps: 1 } },
    });
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['ok', 'denied']);
    expect(outcomes[1]).toMatchObject({
      error: { code: ErrorCode.BudgetExceeded, data: { limit: 'steps' } },
    });
  });
});

describe('a model call', () => {
  const ask: [string, JsonObject] = ['model.generate', { messages: [{ role: 'user', content: 'hi' }] }];

  test('that fails three times goes to the next model, with every attempt and the switch on record', async () => {
    const busy = () => {
      throw Object.assign(new Error('overloaded'), { code: ErrorCode.ModelError, data: { status: 503 } });
    };
    const { outcomes, events } = await calls([ask], {
      models: { p: busy, q: scripted(says('hello')) },
      fallbacks: ['q'],
    });
    expect(outcomes[0]).toMatchObject({ status: 'ok', message: { content: 'hello' } });
    const attempts = events
      .filter((event) => event.type === 'step.attempt')
      .map((event) => event.data as unknown as JsonObject);
    expect(attempts.map((data) => [data.attempt, data.model, data.next_model ?? null])).toEqual([
      [1, 'p', null],
      [2, 'p', null],
      [3, 'p', 'q'],
    ]);
    expect(types(events, 1).at(-1)).toBe('step.finished');
  });

  test('falls back at once when the first choice is not there at all', async () => {
    const { outcomes, session } = await calls([ask], {
      models: { q: scripted(says('hello')) },
      fallbacks: ['q'],
    });
    expect(outcomes[0]).toMatchObject({ status: 'ok' });
    expect(session.view.step(1)?.attempts[0]?.error?.message).toContain('no model p');
  });

  test('that is cut keeps what had come, superseded, and its usage', async () => {
    let attempt = 0;
    const cut = (_request: unknown, ctx: { progress(data: JsonObject): void }) => {
      ctx.progress({ text: attempt === 0 ? 'Hello wor' : 'Hello world' });
      if (attempt++ > 0) return says('Hello world');
      throw Object.assign(new Error('cut'), {
        code: ErrorCode.ModelError,
        data: {
          retryable: true,
          usage: { input: 50, cached: 0, output: 12, reasoning: 0, lower_bound: true },
        },
      });
    };
    const { outcomes, session } = await calls([ask], { models: { p: cut } });
    expect(outcomes[0]).toMatchObject({ message: { content: 'Hello world' } });
    expect(session.view.step(1)?.attempts).toMatchObject([
      { number: 1, text: 'Hello wor', usage: { input: 50, output: 12 } },
      { number: 2 },
    ]);
  });

  test('whose answer is no answer is InvalidOutput', async () => {
    const { outcomes } = await calls([ask], { models: { p: () => ({ text: 'hi' }) as never } });
    expect(outcomes[0]).toMatchObject({ status: 'error', error: { code: ErrorCode.InvalidOutput } });
  });
});

test('exact numbers in argument text reach the tool and the record as they were written', async () => {
  let received: Json = null;
  const big: FakeTool = {
    run: (input) => {
      received = JSON.stringify(input);
      return input;
    },
  };
  const { events } = await calls([['tool.call', { name: 'big', arguments: '{"id":9007199254740993}' }]], {
    tools: { big },
  });
  expect(received).toBe('{"id":9007199254740993}');
  const started = events.find((event) => event.type === 'step.started');
  expect(JSON.stringify(started?.data.input)).toBe('{"id":9007199254740993}');
});

describe('a tool that calls tools', () => {
  const outer: FakeTool = {
    run: async (_input, ctx) =>
      ((await ctx.call('tool.call', { name: 'add', arguments: { a: 1, b: 2 } })) as JsonObject).output,
  };

  test('does so in child steps', async () => {
    const { outcomes, session } = await calls([tool('outer')], { tools: { outer, add } });
    expect(outcomes[0]).toMatchObject({ status: 'ok', output: 3 });
    expect(session.view.steps.map(({ name, parent, causes }) => ({ name, parent, causes }))).toEqual([
      { name: 'outer', parent: null, causes: [] },
      { name: 'add', parent: 1, causes: [1] },
    ]);
  });

  test('but not without end', async () => {
    const endless: FakeTool = {
      run: async ({ n = 0 }, ctx) => {
        const more = { name: 'endless', arguments: { n: Number(n) + 1 } };
        return ((await ctx.call('tool.call', more)) as JsonObject).error ?? 'ended';
      },
    };
    const { session } = await calls([tool('endless')], { tools: { endless } });
    expect(session.view.steps).toHaveLength(18);
    expect(session.view.step(18)?.error?.message).toContain('16 are allowed');
  });

  test('nor round in a circle: it is refused where it closes, with the way there', async () => {
    const passing = (name: string): FakeTool => ({
      run: async (input, ctx) =>
        ((await ctx.call('tool.call', { name, arguments: input })) as JsonObject).error ?? 'ended',
    });
    const tools = { a: passing('b'), b: passing('c'), c: passing('a') };
    const { session } = await calls([tool('a', { x: 1 })], { tools });
    expect(session.view.steps.map(({ name, status }) => `${name} ${status}`)).toEqual([
      'a ok',
      'b ok',
      'c ok',
      'a error',
    ]);
    expect(session.view.step(4)?.error).toMatchObject({
      code: -32600,
      message: 'a goes round in a circle with the same arguments: a → b → c → a',
    });
  });
});
