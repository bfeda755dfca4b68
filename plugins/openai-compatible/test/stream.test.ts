import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ErrorCode, isRetryable } from '@chassis/errors';
import type { Message } from '@chassis/types';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type FakeProvider, sse, startFakeProvider } from './fake-provider.ts';
import { addedUp, ask, KEY, load, problem, unload } from './session.ts';

const wire = (name: string): string => readFileSync(join(import.meta.dirname, 'wire', name), 'utf8');
const hello: Message[] = [{ role: 'user', content: 'hello' }];

let provider: FakeProvider;
beforeEach(async () => {
  provider = await startFakeProvider({ key: KEY });
  await load(provider);
});
afterEach(async () => {
  await unload();
  await provider.close();
});

describe('a streamed answer', () => {
  test('arrives in pieces that add up to it, cut at any byte, with comments before it', async () => {
    const turn = {
      reasoning: 'Zuerst: über 日本 nachdenken 😀',
      text: 'Grüße, 世界 👋🏽',
      calls: [{ id: 'call_1', name: 'f', arguments: '{"q":"é"}' }],
    };
    for (const [bytes, comments] of [
      [7, 3],
      [16, 0],
      [97, 1],
    ] as const) {
      provider.play({ stream: turn, bytes, comments });
      const { response, ctx } = await ask(hello);
      expect(response).toEqual({
        message: { role: 'assistant', content: turn.text, reasoning: turn.reasoning, tool_calls: turn.calls },
        finish_reason: 'tool_calls',
        usage: { input: 10, cached: 0, output: 5, reasoning: 0, cost_usd: (10 * 0.15 + 5 * 0.6) / 1e6 },
        model: 'deepseek-flash',
      });
      expect(addedUp(ctx.pieces)).toEqual(response.message);
      expect(ctx.pieces.length).toBeGreaterThan(3);
    }
  });

  test('CRLF, no space after the colon, other events, a missing [DONE] and a missing last blank line', async () => {
    const plain = sse({ text: 'fine' });
    for (const stream of [
      plain.replaceAll('\n', '\r\n'),
      plain.replaceAll('data: ', 'data:'),
      `event: ping\ndata: {}\n\nid: 7\nretry: 10\n\n${plain}`,
      plain.replace('data: [DONE]\n\n', ''),
      plain.replace('data: [DONE]\n\n', '').trimEnd(),
      `\uFEFF${plain}`,
    ]) {
      provider.play({ stream, bytes: 9 });
      const { response } = await ask(hello);
      expect(response.message.content).toBe('fine');
      expect(response.usage).toMatchObject({ input: 10, output: 5 });
    }
  });

  test('usage on the last chunk, on the finish chunk, and none', async () => {
    const chunk = (more: object): string =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'x' }, finish_reason: 'stop' }], ...more })}\n\n`;
    provider.play(
      { stream: chunk({ usage: { prompt_tokens: 3, completion_tokens: 1 } }) },
      { stream: chunk({ usage: null }) },
    );
    expect((await ask(hello)).response.usage).toMatchObject({ input: 3, output: 1 });
    expect((await ask(hello)).response).toMatchObject({ usage: null, model: 'deepseek-flash' });
  });

  test('unknown members, nulls, and an answer that is not streamed are no problem', async () => {
    provider.play(
      {
        stream: [
          { choices: null },
          { vendor: [1], choices: [] },
          { choices: [{ index: 1, delta: { content: 'another choice' } }] },
          { choices: [{ delta: null, logprobs: null }] },
          {
            choices: [
              { delta: { content: [{ type: 'text', text: 'o' }, { type: 'new' }], tool_calls: null } },
            ],
          },
          {
            choices: [{ index: 0, delta: { content: 'k', reasoning: 'r', x: 1 }, finish_reason: 'stop' }],
            usage: {},
          },
        ]
          .map((payload) => `data: ${JSON.stringify(payload)}\n\n`)
          .join(''),
      },
      {
        status: 200,
        body: {
          model: 'whole',
          choices: [{ message: { role: 'assistant', content: 'at once' }, finish_reason: 'stop' }],
          usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
        },
      },
    );
    expect((await ask(hello)).response.message).toEqual({ role: 'assistant', content: 'ok', reasoning: 'r' });
    expect((await ask(hello)).response).toMatchObject({
      message: { content: 'at once' },
      model: 'whole',
      usage: { input: 1, output: 2 },
    });
  });
});

describe('tool calls in pieces', () => {
  const expected = {
    'a1_same_index.sse': [
      ['call_p', 'put_note', '{"path":"alpha.txt","text":"1"}'],
      ['call_q', 'put_note', '{"path":"beta.txt","text":"2"}'],
      ['call_r', 'read_note', '{"path":"gamma.txt"}'],
    ],
    'a3_no_index.sse': [
      ['call_a', 'lookup', '{"q":"tide table"}'],
      ['call_b', 'lookup', '{"q":"moon phase"}'],
    ],
  };

  test.each(Object.entries(expected))('%s', async (file, calls) => {
    provider.play({ stream: wire(file) });
    const { response, ctx } = await ask(hello);
    expect(response.message.tool_calls?.map((call) => [call.id, call.name, call.arguments])).toEqual(calls);
    expect(response).toMatchObject({ finish_reason: 'tool_calls', usage: null, model: 'm-test' });
    expect(addedUp(ctx.pieces)).toEqual(response.message);
  });

  test('a call without an id gets one', async () => {
    const delta = { tool_calls: [{ index: 0, function: { name: 'f', arguments: '{}' } }] };
    provider.play({
      stream: `data: ${JSON.stringify({ choices: [{ delta, finish_reason: 'tool_calls' }] })}\n\n`,
    });
    const { response } = await ask(hello);
    expect(response.message.tool_calls).toEqual([
      { id: 'call_00000000-0000-4000-8000-000000000001', name: 'f', arguments: '{}' },
    ]);
  });
});

describe('why it stopped', () => {
  test('"stop" with tool calls is tool_calls; "length" stays length, and the raw text is kept', async () => {
    provider.play(
      ...['a7_stop.sse', 'a7_length_cut.sse', 'a7_length_valid_json.sse'].map((f) => ({ stream: wire(f) })),
    );
    expect((await ask(hello)).response).toMatchObject({
      finish_reason: 'tool_calls',
      raw_finish_reason: 'stop',
      message: { tool_calls: [{ id: 'call_s', name: 'read_note', arguments: '{"path":"x.txt"}' }] },
    });
    const cut = (await ask(hello)).response;
    expect(cut.finish_reason).toBe('length');
    expect(cut.raw_finish_reason).toBeUndefined();
    expect(cut.message.tool_calls?.[0]?.arguments).toBe('{"path":"notes.md","text":"line 1\\nli');
    expect((await ask(hello)).response).toMatchObject({
      finish_reason: 'length',
      message: { tool_calls: [{ id: 'call_v', arguments: '{"path":"notes.md"}' }] },
    });
  });

  test.each([
    ['content_filter', 'content_filter', undefined],
    ['max_tokens', 'length', 'max_tokens'],
    ['something_new', 'other', 'something_new'],
  ])('%s', async (finish, finish_reason, raw) => {
    provider.play({ stream: { text: 'x', finish } });
    const { response } = await ask(hello);
    expect(response.finish_reason).toBe(finish_reason);
    expect(response.raw_finish_reason).toBe(raw);
  });
});

describe('a stream that breaks off', () => {
  const cut = wire('i4_attempt1_cut.sse');

  test.each(['end', 'reset'] as const)(
    'by %s: a retryable error with what had arrived, its usage a lower bound',
    async (ending) => {
      // A reset may overtake bytes that were not read yet; the pause lets them through.
      provider.play({ stream: cut, delay_ms: 100, ending });
      const error = await problem(hello);
      expect(error.code).toBe(ErrorCode.ModelError);
      expect(isRetryable(error)).toBe(true);
      expect(error.data).toMatchObject({
        provider: 'deepseek',
        network: ending === 'end' ? 'ended' : expect.stringMatching(/ECONNRESET|UND_ERR_SOCKET/),
        partial: { role: 'assistant', content: 'par' },
        usage: { input: 50, cached: 0, output: 12, reasoning: 0, lower_bound: true },
      });

      provider.play({ stream: wire('i4_attempt2_ok.sse') });
      const { response } = await ask(hello, { context: { attempt: 2, secrets: { DEEPSEEK_API_KEY: KEY } } });
      expect(response.message.content).toBe('complete');
      expect(response.usage).toMatchObject({ input: 50, output: 30 });
      expect(response.usage?.lower_bound).toBeUndefined();
      expect(provider.requests).toHaveLength(2);
      expect(provider.requests[0]?.text).toBe(provider.requests[1]?.text);
    },
  );

  test('by the user: cancelled, with the usage known so far', async () => {
    provider.play({ stream: cut, ending: 'hang' });
    const controller = new AbortController();
    const error = await problem(hello, {
      context: {
        signal: controller.signal,
        secrets: { DEEPSEEK_API_KEY: KEY },
        onProgress: () => controller.abort(),
      },
    });
    expect(error.code).toBe(ErrorCode.Cancelled);
    expect(error.data).toMatchObject({
      partial: { content: 'par' },
      usage: { input: 50, output: 12, lower_bound: true },
    });
    expect(provider.requests).toHaveLength(1);
  });

  test('by the deadline: a time-out', async () => {
    provider.play({ stream: cut, ending: 'hang' });
    const error = await problem(hello, {
      context: { signal: AbortSignal.timeout(200), secrets: { DEEPSEEK_API_KEY: KEY } },
    });
    expect(error.code).toBe(ErrorCode.ToolTimeout);
  });

  test('by silence: a retryable error', async () => {
    await load(provider, { deepseek: {} }, { idle_timeout_ms: 100 });
    provider.play({ stream: cut, ending: 'hang' });
    const error = await problem(hello);
    expect(error.message).toContain('sent nothing for too long');
    expect(error.data).toMatchObject({
      network: 'UND_ERR_BODY_TIMEOUT',
      retryable: true,
      partial: { content: 'par' },
    });
  });

  test('in the middle of a piece, or with what is no JSON', async () => {
    const stream = sse({ text: 'partial' });
    provider.play({ stream: stream.slice(0, stream.indexOf('parti') + 3) });
    expect(isRetryable(await problem(hello))).toBe(true);
    provider.play({ stream: 'data: nonsense\n\n' });
    expect((await problem(hello)).message).toContain('no JSON object');
    provider.play({ stream: 'data: [DONE]\n\n' });
    expect((await problem(hello)).message).toContain('before the answer was complete');
  });

  test('after the finish reason: the answer is complete all the same', async () => {
    const stream = sse({ text: 'whole', usage: null }).replace('data: [DONE]\n\n', '');
    provider.play({ stream, delay_ms: 100, ending: 'reset' });
    expect((await ask(hello)).response).toMatchObject({ message: { content: 'whole' }, usage: null });
  });

  test('with an error object in mid-stream', async () => {
    const start = sse({ text: 'some' }).split(
      'data: {"id":"c1","object":"chat.completion.chunk","model":"fake-model","choices":[{"index":0,"delta":{},',
    )[0];
    const failing = (error: object): { stream: string } => ({
      stream: `${start}data: ${JSON.stringify({ error })}\n\n`,
    });
    provider.play(failing({ message: 'engine is down', type: 'server_error' }));
    const error = await problem(hello);
    expect(error).toMatchObject({
      code: ErrorCode.ModelError,
      message: 'deepseek broke off: engine is down',
      data: { retryable: true, partial: { content: 'some' }, usage: null },
    });
    provider.play(failing({ message: 'slow down', code: 429 }));
    expect((await problem(hello)).code).toBe(ErrorCode.RateLimited);
    provider.play(failing({ message: 'bad input', type: 'invalid_request_error' }));
    expect(isRetryable(await problem(hello))).toBe(false);
  });

  test('because the provider ran out of resources', async () => {
    provider.play({ stream: { text: 'half', finish: 'insufficient_system_resource' } });
    expect((await problem(hello)).data).toMatchObject({ retryable: true, partial: { content: 'half' } });
  });
});
