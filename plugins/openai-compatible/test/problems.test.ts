import { ErrorCode, exitCodeOf, isRetryable } from '@chassis/errors';
import type { Message } from '@chassis/types';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type FakeProvider, startFakeProvider } from './fake-provider.ts';
import { ask, KEY, load, problem, unload } from './session.ts';

const hello: Message[] = [{ role: 'user', content: 'hello' }];
let provider: FakeProvider;
beforeEach(async () => {
  provider = await startFakeProvider();
  await load(provider, {
    deepseek: {},
    plain: {},
    own: { model: 'm', api_key_env: 'MY_KEY', headers: { 'x-team': 'secret-team-token' } },
  });
});
afterEach(async () => {
  await unload();
  await provider.close();
});

describe('a provider that refuses', () => {
  test('401 and 403: Unauthorized, with its own words and without the key', async () => {
    for (const status of [401, 403]) {
      provider.play({
        status,
        body: { error: { message: `Your api key ${KEY} is invalid`, code: 'invalid_api_key' } },
      });
      const error = await problem(hello);
      expect(error).toMatchObject({
        code: ErrorCode.Unauthorized,
        message: `deepseek answered ${status}: Your api key [hidden] is invalid`,
        data: { status, provider: 'deepseek', fix: 'Check DEEPSEEK_API_KEY.' },
      });
      expect(exitCodeOf(error.code)).toBe(3);
      expect(JSON.stringify([error, error.record(), error.stack, String(error.cause)])).not.toContain(KEY);
    }
  });

  test('429: RateLimited, with the time to wait; its usage is unknown, not 0', async () => {
    provider.play(
      { status: 429, headers: { 'retry-after': '2' } },
      { status: 429, headers: { 'retry-after-ms': '150', 'retry-after': '1' } },
      {
        status: 429,
        headers: { date: 'Mon, 30 Nov 2026 00:00:00 GMT', 'retry-after': 'Mon, 30 Nov 2026 00:00:03 GMT' },
      },
      { status: 429, body: { error: { message: 'Rate limit reached' } } },
    );
    const errors = [await problem(hello), await problem(hello), await problem(hello), await problem(hello)];
    for (const error of errors) {
      expect(error.code).toBe(ErrorCode.RateLimited);
      expect(error.data).toMatchObject({ status: 429, usage: null });
    }
    const waits = errors.map((error) => (error.data as { retry_after_ms?: number }).retry_after_ms);
    expect(waits).toEqual([2000, 150, 3000, undefined]);
  });

  test('a used-up quota is not worth another try', async () => {
    provider.play({
      status: 429,
      body: { error: { message: 'You exceeded your quota', code: 'insufficient_quota' } },
    });
    expect(isRetryable(await problem(hello))).toBe(false);
    provider.play({ status: 402, body: { error: { message: 'Insufficient Balance' } } });
    expect(await problem(hello)).toMatchObject({
      code: ErrorCode.ModelError,
      message: 'deepseek answered 402: Insufficient Balance',
      data: { retryable: false },
    });
  });

  test('a conversation that is too long', async () => {
    for (const error of [
      { message: "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens" },
      { message: 'no matter', code: 'context_length_exceeded' },
      { message: 'prompt is too long: 210000 tokens > 200000 maximum' },
      { message: 'the request exceeds the available context size' },
    ]) {
      provider.play({ status: 400, body: { error } });
      expect(await problem(hello)).toMatchObject({ code: ErrorCode.ContextTooLong });
    }
    provider.play({ status: 400, body: { error: { message: 'temperature must be at most 2' } } });
    const other = await problem(hello);
    expect(other.code).toBe(ErrorCode.ModelError);
    expect(isRetryable(other)).toBe(false);
  });

  test('5xx is worth another try; whatever the body looks like, its words are shown', async () => {
    for (const [body, words] of [
      [{ error: { message: 'overloaded' } }, 'overloaded'],
      [{ error: 'overloaded' }, 'overloaded'],
      [{ detail: 'overloaded' }, 'overloaded'],
      [[{ error: { message: 'overloaded' } }], 'overloaded'],
      ['<html><head><style>x{}</style></head><h1>Bad  Gateway</h1></html>', 'Bad Gateway'],
      ['', 'no explanation'],
      [{ odd: 1 }, '{"odd":1}'],
      ['x'.repeat(1_000_000), 'x'.repeat(300)],
    ] as const) {
      provider.play({ status: 503, body });
      const error = await problem(hello);
      expect(error.message).toBe(`deepseek answered 503: ${words}`);
      expect(isRetryable(error)).toBe(true);
    }
  });

  test('a web page instead of an API', async () => {
    provider.play({ stream: '<html>log in</html>', headers: { 'content-type': 'text/html' } });
    expect((await problem(hello)).message).toContain('web page');
    provider.play({ status: 301, headers: { location: 'https://elsewhere' } });
    expect(await problem(hello)).toMatchObject({ data: { status: 301, retryable: false } });
  });
});

describe('a provider that is not there', () => {
  test('a dropped connection and a closed port are retryable and name the cause', async () => {
    provider.play({ drop: true });
    const dropped = await problem(hello);
    expect(dropped).toMatchObject({ code: ErrorCode.ModelError, data: { retryable: true, usage: null } });
    expect((dropped.data as { network: string }).network).toMatch(/UND_ERR_SOCKET|ECONNRESET/);
    await provider.close();
    const closed = await problem(hello);
    expect(closed).toMatchObject({
      code: ErrorCode.ModelError,
      data: { network: 'ECONNREFUSED', retryable: true },
    });
    expect(closed.message).toContain(provider.url.replace('http://', ''));
    expect(exitCodeOf(closed.code)).toBe(3);
  });

  test('a cancelled question is not sent', async () => {
    const error = await problem(hello, {
      context: { signal: AbortSignal.abort(), secrets: { DEEPSEEK_API_KEY: KEY } },
    });
    expect(error).toMatchObject({ code: ErrorCode.Cancelled, data: { usage: null } });
    expect(provider.requests).toEqual([]);
  });
});

describe('set-up', () => {
  test('no key: the variable is named, and how to set it', async () => {
    for (const secrets of [{}, { DEEPSEEK_API_KEY: ' ' }]) {
      const error = await problem(hello, { context: { secrets } });
      expect(error).toMatchObject({
        code: ErrorCode.Unavailable,
        message: 'no key for deepseek: DEEPSEEK_API_KEY is not set; set it with: export DEEPSEEK_API_KEY=…',
        data: { fix: expect.stringContaining('export DEEPSEEK_API_KEY=') },
      });
      expect(exitCodeOf(error.code)).toBe(3);
    }
    expect(provider.requests).toEqual([]);
  });

  test('a key of its own, a model of its own, headers of its own, no cost without prices', async () => {
    provider.play(
      { stream: { text: 'x' } },
      { stream: { text: 'x' } },
      { status: 500, body: { message: 'team secret-team-token' } },
    );
    const { response } = await ask(hello, { model: 'own', context: { secrets: { MY_KEY: `${KEY}\n` } } });
    expect(provider.requests[0]).toMatchObject({
      body: { model: 'm' },
      headers: { authorization: `Bearer ${KEY}`, 'x-team': 'secret-team-token' },
    });
    expect(response.usage).toEqual({ input: 10, cached: 0, output: 5, reasoning: 0 });
    await ask(hello, { model: 'plain', params: { model: 'any' }, context: { secrets: {} } });
    expect(provider.requests[1]?.headers.authorization).toBeUndefined();
    const error = await problem(hello, { model: 'own', context: { secrets: { MY_KEY: KEY } } });
    expect(error.message).toBe('own answered 500: team [hidden]');
  });

  test('prices of the configuration', async () => {
    await load(provider, { own: { model: 'm', api_key: KEY, prices: { input: 1, cached: 0.1, output: 2 } } });
    const usage = {
      prompt_tokens: 1000,
      completion_tokens: 100,
      prompt_tokens_details: { cached_tokens: 400 },
    };
    provider.play({ stream: { text: 'x', usage } });
    const { response } = await ask(hello, { model: 'own' });
    expect(response.usage?.cost_usd).toBeCloseTo((600 + 40 + 200) / 1e6, 12);
  });

  test('a base URL may be written with the path of the call', async () => {
    await load(`${provider.url}/v1/chat/completions/`, { own: { model: 'm', api_key: KEY } });
    provider.play({ stream: { text: 'x' } });
    expect((await ask(hello, { model: 'own' })).response.message.content).toBe('x');
  });

  test('a missing model id, base URL or model is said plainly', async () => {
    expect(await problem(hello, { model: 'plain' })).toMatchObject({
      code: ErrorCode.InvalidParams,
      message: 'plain needs a model id: plain/MODEL',
    });
    expect((await problem(hello, { model: 'toString' })).message).toContain(
      'there are deepseek, openai, ollama',
    );
    await expect(load('' as string, { broken: { base_url: undefined as never } })).rejects.toMatchObject({
      code: ErrorCode.InvalidParams,
      message: expect.stringContaining('models.broken: base_url is missing'),
    });
  });
});
