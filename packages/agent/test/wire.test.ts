import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Secrets } from '@chassis/journal';
import { replay } from '@chassis/runtime';
import type { AgentInput, InvokeContext } from '@chassis/sdk';
import type { ModelResponse } from '@chassis/types';
import { describe, expect, test } from 'vitest';
import {
  type FakeAnswer,
  type FakeProvider,
  startFakeProvider,
} from '../../../plugins/openai-compatible/test/fake-provider.ts';
import { fakeRegistry } from '../../runtime/test/support/fake-registry.ts';
import plugin from '../src/index.ts';
import { type LiveProject, liveProject } from './support/live-project.ts';

const wire = join(import.meta.dirname, '../../../plugins/openai-compatible/test/wire');
const sse = (name: string): FakeAnswer => ({ stream: readFileSync(join(wire, name), 'utf8') });
const expected = (name: string) => JSON.parse(readFileSync(join(wire, name), 'utf8'));

function project(provider: FakeProvider, second?: FakeProvider): LiveProject {
  return liveProject(`agent:
  use: default
  system: Answer briefly.
plugins:
  openai-compatible:
    config:
      models:
        thinker: { base_url: "${provider.url}", model: m-test, api_key_env: TEST_KEY, reasoning: deepseek }
        plain: { base_url: "${(second ?? provider).url}", model: m-plain, api_key_env: TEST_KEY }
`);
}

/** As the providers compare: a call's empty content may be "" or null. */
function comparable(messages: readonly { content: unknown; tool_calls?: unknown }[]) {
  return messages.map((message) =>
    message.tool_calls === undefined ? message : { ...message, content: message.content ?? '' },
  );
}

/** The strict replay of a session, with the agent's code and nothing else. */
async function replayed(live: LiveProject, id: string) {
  const agent = (input: AgentInput, ctx: unknown) => plugin.agents.default(input, ctx as InvokeContext);
  return live.process(async ({ around }) =>
    replay(
      await (await around.store.reader(id)).view(),
      fakeRegistry({ agent }),
      new Secrets(),
      new AbortController().signal,
    ),
  );
}

describe('reasoning that a thinking model wants back', () => {
  test.each([
    ['in one process', false],
    ['with the process ended and started again before each turn', true],
  ])('goes back byte for byte, %s', async (_how, restart) => {
    await using provider = await startFakeProvider();
    await using live = project(provider);
    provider.play(sse('a5_turn1.sse'), sse('a5_turn2.sse'), { stream: { text: 'At 12:05.' } });
    const id = await live.process(async ({ create }) => {
      const session = await create('thinker');
      expect(await session.prompt('High tide in Bergen?')).toMatchObject({
        outcome: 'ok',
        answer: 'At 11:42.',
      });
      if (!restart) await session.prompt('And Oslo?');
      await session.close();
      return session.id;
    });
    if (restart)
      await live.process(async ({ open }) => {
        const session = await open(id);
        expect(await session.prompt('And Oslo?')).toMatchObject({ outcome: 'ok', answer: 'At 12:05.' });
        await session.close();
      });
    expect(comparable(provider.requests[1]!.body.messages)).toEqual(
      comparable(expected('a5_expect_request2_messages.json')),
    );
    expect(comparable(provider.requests[2]!.body.messages)).toEqual(
      comparable(expected('a5_expect_request3_messages.json')),
    );
    expect(await replayed(live, id)).toMatchObject({ ok: true, turns: 2 });
  });

  test('is not sent to an ordinary model that takes over', async () => {
    await using provider = await startFakeProvider();
    await using live = project(provider);
    provider.play(sse('a5_turn1.sse'), sse('a5_turn2.sse'), { stream: { text: 'At 12:05.' } });
    await live.process(async ({ create }) => {
      const session = await create('thinker');
      await session.prompt('High tide in Bergen?');
      await session.prompt('And Oslo?', { name: 'plain', fallbacks: [], params: {} });
      expect(session.view.steps[0]?.usage).toMatchObject({ input: 40, output: 22, reasoning: 9 });
      await session.close();
    });
    expect(provider.requests[2]!.body.model).toBe('m-plain');
    expect(provider.requests[2]!.text).not.toContain('reasoning_content');
  });
});

async function oneTurn(...answers: FakeAnswer[]) {
  const provider = await startFakeProvider();
  const live = project(provider);
  provider.play(...answers);
  const done = await live.process(async ({ create }) => {
    const session = await create('plain');
    const result = await session.prompt('go');
    await session.close();
    return { result, view: session.view, id: session.id };
  });
  return {
    ...done,
    live,
    provider,
    ran: live.ran(),
    async [Symbol.asyncDispose]() {
      await provider.close();
      await live[Symbol.asyncDispose]();
    },
  };
}

const end: FakeAnswer = { stream: { text: 'done' } };

test('parallel calls that all carry index 0 are three calls', async () => {
  await using run = await oneTurn(sse('a1_same_index.sse'), end);
  expect(run.ran.toSorted()).toEqual([
    'put_note {"path":"alpha.txt","text":"1"}',
    'put_note {"path":"beta.txt","text":"2"}',
    'read_note {"path":"gamma.txt"}',
  ]);
  expect(run.view.steps.filter((step) => step.kind === 'tool').map((step) => step.call_id)).toEqual([
    'call_p',
    'call_q',
    'call_r',
  ]);
});

test('calls without an index, with an id on the first piece only, are two calls', async () => {
  await using run = await oneTurn(sse('a3_no_index.sse'), end);
  expect(run.ran.toSorted()).toEqual(['lookup {"q":"moon phase"}', 'lookup {"q":"tide table"}']);
});

test('a call with finish reason stop is run, and the model is asked again', async () => {
  await using run = await oneTurn(sse('a7_stop.sse'), end);
  expect(run.ran).toEqual(['read_note {"path":"x.txt"}']);
  expect(run.provider.requests).toHaveLength(2);
});

test.each(['a7_length_cut.sse', 'a7_length_valid_json.sse'])(
  'a call that the output limit cut is not run: %s',
  async (name) => {
    await using run = await oneTurn(sse(name), end);
    expect(run.ran).toEqual([]);
    expect(run.result).toMatchObject({ outcome: 'ok', answer: 'done' });
    const told = run.provider.requests[1]!.body.messages.at(-1);
    expect(told).toMatchObject({ role: 'tool' });
    expect(told?.content).toContain('output limit');
    const [call] = (run.view.steps[0]!.output as unknown as ModelResponse).message.tool_calls ?? [];
    expect(call?.arguments).toContain('{"path":');
  },
);

test.each(['', '_array', '_string', '_null', '_ctrl'])(
  'malformed arguments do not poison the session: a10_bad_args%s',
  async (variant) => {
    await using provider = await startFakeProvider();
    await using live = project(provider);
    provider.play(sse(`a10_bad_args${variant}.sse`), end, end);
    const id = await live.process(async ({ create }) => {
      const session = await create('plain');
      expect(await session.prompt('go')).toMatchObject({ outcome: 'ok' });
      expect(await session.prompt('again')).toMatchObject({ outcome: 'ok' });
      const [call] = (session.view.steps[0]!.output as unknown as ModelResponse).message.tool_calls ?? [];
      expect(() => {
        const value = JSON.parse(call?.arguments ?? '');
        if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('no object');
      }).toThrow();
      await session.close();
      return session.id;
    });
    provider.play(end);
    await live.process(async ({ open }) => {
      const session = await open(id);
      expect(await session.prompt('and after a restart')).toMatchObject({ outcome: 'ok' });
      await session.close();
    });
    expect(live.ran()).toEqual([]);
    expect(provider.requests.map((request) => request.refused)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    const errors = provider.requests.at(-1)!.body.messages.filter((message) => message.role === 'tool');
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatchObject({ tool_call_id: 'call_x' });
  },
);

describe('a failing provider after something has happened', () => {
  test('the fallback model goes on from there, and the effect happens once', async () => {
    await using first = await startFakeProvider();
    await using second = await startFakeProvider();
    await using live = project(first, second);
    first.play({ stream: { calls: [{ id: 'c1', name: 'append_line', arguments: '{}' }] } });
    first.play(
      ...Array.from({ length: 3 }, () => ({ status: 503, body: { error: { message: 'overloaded' } } })),
    );
    second.play({ stream: { text: 'finished by the other' } });
    const { id } = await live.process(async ({ create, events }) => {
      const session = await create('thinker', ['plain']);
      expect(await session.prompt('go')).toMatchObject({ outcome: 'ok', answer: 'finished by the other' });
      const failed = events.filter((event) => event.type === 'step.attempt').map((event) => event.data);
      expect(failed).toMatchObject([
        { model: 'thinker', attempt: 1 },
        { model: 'thinker', attempt: 2 },
        { model: 'thinker', attempt: 3, next_model: 'plain', error: { data: { status: 503 } } },
      ]);
      expect((session.view.steps[0]!.output as unknown as ModelResponse).model).toBe('m-test');
      expect((session.view.steps[2]!.output as unknown as ModelResponse).model).toBe('m-plain');
      await session.close();
      return session;
    });
    expect(live.ran()).toHaveLength(1);
    expect(second.requests[0]!.body.messages.map((message) => message.role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
    ]);
    expect(await replayed(live, id)).toMatchObject({ ok: true });
    expect(first.requests).toHaveLength(4);
  });

  test('a stream that breaks is not glued to its retry', async () => {
    await using run = await oneTurn(
      {
        stream: 'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"Hello wor"}}]}\n\n',
        ending: 'reset',
      },
      { stream: { text: 'Hello world' } },
    );
    expect(run.result).toMatchObject({ outcome: 'ok', answer: 'Hello world' });
    expect(run.view.steps[0]?.attempts).toHaveLength(2);
    expect(run.view.steps[0]?.attempts[0]).toMatchObject({ text: 'Hello wor' });
    expect(await replayed(run.live, run.id)).toMatchObject({ ok: true });
  });
});

test('a fork has its own ids, exactly the past up to its step, and leaves its source as it was', async () => {
  await using provider = await startFakeProvider();
  await using live = project(provider);
  const answer: FakeAnswer = { stream: { text: `an answer ${'of some length '.repeat(40)}`, usage: null } };
  provider.play(...Array.from({ length: 8 }, () => answer));
  await live.process(async ({ create, fork, around }) => {
    const session = await create('plain');
    for (const turn of [1, 2, 3, 4, 5, 6]) await session.prompt(`turn ${turn}`);
    await session.close();
    const log = async (id: string) => {
      const lines: string[] = [];
      for await (const line of (await around.store.reader(id)).lines()) lines.push(line);
      return lines;
    };
    const before = await log(session.id);
    const branch = await fork({ parent: session.id, at: 4, edits: [] });
    await branch.resume();
    await branch.prompt('another fifth turn');
    await branch.close();
    expect(await log(session.id)).toEqual(before);
    expect(branch.id).not.toBe(session.id);
    const twice = [
      await (await around.store.reader(branch.id)).view(),
      await (await around.store.reader(branch.id)).view(),
    ];
    for (const view of twice) {
      expect(view.turns.map((turn) => turn.input)).toEqual([
        'turn 1',
        'turn 2',
        'turn 3',
        'turn 4',
        'another fifth turn',
      ]);
      for (const step of view.steps)
        for (const cause of step.causes) expect(view.step(cause)?.number).toBe(cause);
    }
    expect(twice[0]?.steps).toEqual(twice[1]?.steps);
    const keys = (view: (typeof twice)[number]) =>
      view.steps.map((step) => step.attempts[0]?.idempotency_key);
    const source = await (await around.store.reader(session.id)).view();
    expect(keys(twice[0]!).slice(4)).not.toContain(keys(source)[4]);
  });
});
