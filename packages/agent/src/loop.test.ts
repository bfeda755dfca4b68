import { ErrorCode } from '@chassis/errors';
import { Secrets } from '@chassis/journal';
import { conversationBefore, replay, Session } from '@chassis/runtime';
import type { AgentInput, InvokeContext } from '@chassis/sdk';
import type { Message, ModelRequest, ModelResponse } from '@chassis/types';
import { describe, expect, test } from 'vitest';
import { type FakeTool, fakeRegistry, says, scripted } from '../../runtime/test/support/fake-registry.ts';
import { newSession, surroundings, type TestOptions } from '../../runtime/test/support/sessions.ts';
import plugin from './index.ts';

const agent: NonNullable<TestOptions['agent']> = (input: AgentInput, ctx) =>
  plugin.agents.default(input, ctx as InvokeContext);

const put: FakeTool = {
  effects: 'write',
  input: {
    type: 'object',
    properties: { path: { type: 'string' }, text: { type: 'string' } },
    required: ['path', 'text'],
  },
  run: () => 'written',
};

async function run(options: TestOptions, ...inputs: string[]) {
  const requests: ModelRequest[] = [];
  const models = Object.fromEntries(
    Object.entries(options.models ?? {}).map(([name, model]) => [
      name,
      (request: ModelRequest, ctx: Parameters<typeof model>[1]) => {
        requests.push(request);
        return model(request, ctx);
      },
    ]),
  );
  const around = surroundings({ ...options, agent, models });
  const session = await Session.create(around, newSession(options));
  const results = [];
  for (const input of inputs.length === 0 ? ['go'] : inputs) results.push(await session.prompt(input));
  await session.close();
  const again = await replay(
    session.view,
    fakeRegistry({ agent }),
    new Secrets(),
    new AbortController().signal,
  );
  return { session, around, requests, results, again };
}

test('results stand in the order of the calls, live and in replay, and the request is the same each time', async () => {
  const wait: FakeTool = {
    run: async ({ ms }) => {
      await new Promise((resolve) => setTimeout(resolve, ms as number));
      return `waited ${ms}`;
    },
  };
  const bodies = new Set<string>();
  for (let n = 0; n < 20; n++) {
    const { requests, again, session } = await run({
      tools: { wait },
      models: {
        p: scripted(
          says('', [
            ['c1', 'wait', { ms: 12 }],
            ['c2', 'wait', { ms: 1 }],
            ['c3', 'wait', { ms: 6 }],
          ]),
          says('done'),
        ),
      },
    });
    expect(requests[1]?.messages.slice(-3).map((m) => (m as { tool_call_id: string }).tool_call_id)).toEqual([
      'c1',
      'c2',
      'c3',
    ]);
    expect(again).toMatchObject({ ok: true, steps: 5 });
    expect(session.view.request(5).messages).toEqual(requests[1]?.messages);
    bodies.add(JSON.stringify(requests[1]));
  }
  expect(bodies.size).toBe(1);
});

describe('an answer that the output limit cut', () => {
  test.each([
    ['in the middle of the arguments', '{"path":"a.txt","te'],
    ['with arguments that parse but lack a member', '{"path":"a.txt"}'],
    ['with arguments that look whole', '{"path":"a.txt","text":"x"}'],
  ])('%s: nothing runs, the model is told, the raw text stays on record', async (_what, args) => {
    let ran = 0;
    const { results, requests, session, again } = await run({
      tools: { put: { ...put, run: () => ++ran } },
      models: {
        p: scripted(says('', [['call_x', 'put', args]], { finish_reason: 'length' }), says('gave up')),
      },
    });
    expect(ran).toBe(0);
    expect(results[0]).toMatchObject({ outcome: 'ok', answer: 'gave up' });
    const told = requests[1]?.messages.at(-1);
    expect(told).toMatchObject({ role: 'tool', tool_call_id: 'call_x', is_error: true });
    expect(told?.content).toContain('output limit');
    expect(
      (session.view.steps[0]!.output as unknown as ModelResponse).message.tool_calls?.[0]?.arguments,
    ).toBe(args);
    expect(again.ok).toBe(true);
  });

  test('as the final answer is a failure, not an answer', async () => {
    const { results } = await run({
      models: { p: scripted(says('The total is', [], { finish_reason: 'length' })) },
    });
    expect(results[0]).toMatchObject({
      outcome: 'failed',
      failed_step: 1,
      error: { code: ErrorCode.InvalidOutput },
    });
    expect(results[0]).not.toHaveProperty('answer');
  });
});

test.each(['{"path":"a', '[1,2]', '"text"', 'null', '{"path":"a\nb","text":"x"}'])(
  'arguments %j are refused once, and later requests carry the text of a JSON object',
  async (args) => {
    let ran = 0;
    const { requests, results, session } = await run(
      {
        tools: { put: { ...put, run: () => ++ran } },
        models: {
          p: scripted(says('', [['call_x', 'put', args]]), says('sorry'), says('second'), says('third')),
        },
      },
      'go',
      'again',
      'and again',
    );
    expect(ran).toBe(0);
    expect(results.map((result) => result.outcome)).toEqual(['ok', 'ok', 'ok']);
    expect(requests).toHaveLength(4);
    for (const { messages } of requests.slice(1)) {
      const calls = messages.flatMap((message) =>
        message.role === 'assistant' ? (message.tool_calls ?? []) : [],
      );
      for (const call of calls) expect(JSON.parse(call.arguments)).toEqual({});
      expect(messages.filter((message) => message.role === 'tool')).toHaveLength(1);
    }
    expect(
      (session.view.steps[0]!.output as unknown as ModelResponse).message.tool_calls?.[0]?.arguments,
    ).toBe(args);
  },
);

test('the run fails when its tools only fail, and names the step', async () => {
  const { results } = await run({
    tools: { put },
    models: { p: (request) => says('', [[`c${request.messages.length}`, 'put', { path: 1 }]]) },
    agentSettings: { max_tool_errors: 2 },
  });
  expect(results[0]).toMatchObject({
    outcome: 'failed',
    failed_step: 4,
    error: { code: ErrorCode.InvalidParams },
  });
  expect(results[0]?.error?.message).toContain('2 tool calls failed in a row');
});

test('a tool that needs a person where there is none ends the run as denied', async () => {
  const { results } = await run({
    tools: { put: { ...put, approval: 'ask' } },
    models: { p: scripted(says('', [['c', 'put', { path: 'a', text: 'b' }]])) },
  });
  expect(results[0]).toMatchObject({ outcome: 'failed', error: { code: ErrorCode.ApprovalDenied } });
});

test('reasoning goes back with its own message, byte for byte, also in a later turn', async () => {
  const answer = says('', [['c', 'put', { path: 'a', text: 'b' }]]);
  const thinking = { ...answer, message: { ...answer.message, reasoning: ' I should write.\n' } };
  const final = says('At 11:42.');
  const { requests } = await run(
    {
      tools: { put },
      models: {
        p: scripted(thinking, { ...final, message: { ...final.message, reasoning: 'Got it.' } }, says('ok')),
      },
    },
    'When?',
    'And Oslo?',
  );
  const reasonings = requests
    .at(-1)
    ?.messages.filter((m) => m.role === 'assistant')
    .map((m) => (m as { reasoning?: string }).reasoning);
  expect(reasonings).toEqual([' I should write.\n', 'Got it.']);
});

describe('compaction', () => {
  /** Six turns with long answers, so that the window fills. */
  const long = (request: ModelRequest) =>
    request.tools.length === 0 ? says('SUMMARY') : says(`answer ${'x'.repeat(1200)}`, [], { usage: null });
  const options: TestOptions = {
    system: 'P: be exact.',
    tools: { put, look: { run: () => 'seen' } },
    models: { p: long },
    agentSettings: { context_window: 1500 },
  };
  const inputs = ['Never write outside ./out.', 'two', 'three', 'four', 'five', 'six'];

  test('keeps system prompt, tools and the words of the user; the past stays on record; replay follows', async () => {
    const { requests, session, again } = await run(options, ...inputs);
    const summaries = session.view.steps.filter((step) => step.agent === 'main/compaction');
    expect(summaries.length).toBeGreaterThan(0);
    const last = requests.filter((request) => request.tools.length > 0).at(-1) as ModelRequest;
    expect(last.messages[0]).toEqual({ role: 'system', content: 'P: be exact.' });
    expect(last.tools).toEqual(requests[0]?.tools);
    expect(last.messages.some((message) => message.content.includes('Never write outside ./out.'))).toBe(
      true,
    );
    expect(
      session.view.steps.some((step) => step.kind === 'state' && step.name === 'context.compacted'),
    ).toBe(true);
    expect(session.view.request(1).messages.at(-1)?.content).toBe('Never write outside ./out.');
    expect(again).toMatchObject({ ok: true, turns: 6 });
  });

  test('is honoured in a fork, whose own turn stays within the window', async () => {
    const { session, around } = await run(options, ...inputs);
    const at = session.view.steps.findLast((step) => step.turn === 5)?.number ?? 0;
    const fork = await Session.fork(around, { parent: session.id, at, edits: [] });
    await fork.resume();
    await fork.prompt('one more');
    await fork.close();
    const request = fork.view.request(fork.view.steps.findLast((step) => step.agent === 'main')?.number ?? 0);
    expect(JSON.stringify(request.messages).length).toBeLessThan(6000);
    expect(request.messages.some((message) => message.content.includes('Summary of the rest'))).toBe(true);
    const again = await (await around.store.reader(fork.id)).view();
    expect(conversationBefore(again, 99)).toEqual(conversationBefore(fork.view, 99));
  });

  test('what cannot be made to fit is refused before a request leaves', async () => {
    const { results, requests } = await run(
      { ...options, agentSettings: { context_window: 6000 } },
      '的一是不了人我在'.repeat(1000),
    );
    expect(results[0]).toMatchObject({ outcome: 'failed', error: { code: ErrorCode.ContextTooLong } });
    expect(requests).toHaveLength(0);
  });
});

test('a run that is cancelled is recorded as cancelled, and nothing is left waiting', async () => {
  const hang: FakeTool = {
    run: (_input, { signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  };
  const around = surroundings({
    agent,
    tools: { hang },
    models: { p: scripted(says('', [['c', 'hang', {}]])) },
  });
  const session = await Session.create(around, newSession({}));
  const running = session.prompt('go');
  while (session.view.step(2)?.status !== 'dispatched')
    await new Promise((resolve) => setTimeout(resolve, 1));
  session.cancel();
  expect(await running).toMatchObject({ outcome: 'cancelled' });
  expect(session.view.step(2)?.status).toBe('cancelled');
  await session.close();
});

test('messages are never shared between the record and the agent', async () => {
  const { session } = await run({ models: { p: scripted(says('a'), says('b')) } }, 'one', 'two');
  const first = session.view.request(1).messages as Message[];
  expect(first.map((message) => message.content)).toEqual(['one']);
});
