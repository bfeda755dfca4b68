/** What goes back to the provider on later requests. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Message } from '@chassis/types';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type FakeProvider, startFakeProvider } from './fake-provider.ts';
import { ask, KEY, load, unload } from './session.ts';

const wire = (name: string): string => readFileSync(join(import.meta.dirname, 'wire', name), 'utf8');

let provider: FakeProvider;
beforeEach(async () => {
  provider = await startFakeProvider();
  await load(provider, { deepseek: {}, ordinary: { model: 'm', api_key: KEY } });
});
afterEach(async () => {
  await unload();
  await provider.close();
});

describe('reasoning of a thinking model', () => {
  /** Plays the conversation; `between` may do something to the stored messages before each request. */
  async function conversation(
    lastModel = 'deepseek',
    between = (messages: Message[]): Message[] => messages,
  ): Promise<void> {
    provider.play(
      { stream: wire('a5_turn1.sse') },
      { stream: wire('a5_turn2.sse') },
      { stream: { text: 'Later.' } },
    );
    let messages: Message[] = [
      { role: 'system', content: 'Answer briefly.' },
      { role: 'user', content: 'High tide in Bergen?' },
    ];
    const first = (await ask(messages)).response;
    expect(first.usage).toMatchObject({ input: 40, output: 22, reasoning: 9 });
    messages = between([
      ...messages,
      first.message,
      { role: 'tool', tool_call_id: 'call_t1', content: '11:42' },
    ]);
    const second = (await ask(messages)).response;
    messages = between([...messages, second.message, { role: 'user', content: 'And Oslo?' }]);
    await ask(messages, { model: lastModel });
  }

  test('comes back byte for byte with each message of its own', async () => {
    await conversation();
    expect(provider.requests[1]?.body.messages).toEqual(JSON.parse(wire('a5_expect_request2_messages.json')));
    expect(provider.requests[2]?.body.messages).toEqual(JSON.parse(wire('a5_expect_request3_messages.json')));
  });

  test('also when the history was stored and read again', async () => {
    await conversation('deepseek', (messages) => JSON.parse(JSON.stringify(messages)));
    expect(provider.requests[1]?.body.messages).toEqual(JSON.parse(wire('a5_expect_request2_messages.json')));
    expect(provider.requests[2]?.body.messages).toEqual(JSON.parse(wire('a5_expect_request3_messages.json')));
  });

  test('is not sent to an ordinary model, nor when thinking is off', async () => {
    await conversation('ordinary');
    expect(provider.requests[2]?.text).not.toContain('reasoning_content');
    provider.play({ stream: { text: 'x' } }, { stream: { text: 'x' } }, { stream: { text: 'x' } });
    const history: Message[] = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'b', reasoning: 'thought' },
      { role: 'user', content: 'c' },
    ];
    await ask(history, { params: { thinking: { type: 'disabled' } } });
    await ask(history, { params: { model: 'deepseek-chat' } });
    await ask(history, { params: { model: 'deepseek-reasoner' } });
    expect(provider.requests.slice(3).map((r) => r.text.includes('"reasoning_content":"thought"'))).toEqual([
      false,
      false,
      true,
    ]);
    expect(provider.requests.slice(3).map((r) => r.body.model)).toEqual([
      'deepseek-flash',
      'deepseek-chat',
      'deepseek-reasoner',
    ]);
  });

  test('of answers that another model gave is sent empty only when the provider insists', async () => {
    const refusal = {
      status: 400,
      body: {
        error: { message: 'The `reasoning_content` in the thinking mode must be passed back to the API.' },
      },
    };
    provider.play(refusal, { stream: { text: 'ok' } });
    const { response, ctx } = await ask([
      { role: 'user', content: 'a' },
      { role: 'assistant', content: '', tool_calls: [{ id: 'x', name: 'f', arguments: '{}' }] },
      { role: 'tool', tool_call_id: 'x', content: '1' },
    ]);
    expect(response.message.content).toBe('ok');
    expect(provider.requests.map((r) => r.body.messages[1]?.reasoning_content)).toEqual([undefined, '']);
    expect(ctx.logged).toMatchObject([{ level: 'warn' }]);
  });
});

describe('a malformed call', () => {
  test.each([
    ['a10_bad_args.sse', '{"command": "echo \'hi}'],
    ['a10_bad_args_array.sse', '[1]'],
    ['a10_bad_args_string.sse', '"x"'],
    ['a10_bad_args_null.sse', 'null'],
    ['a10_bad_args_ctrl.sse', '{"command":"a\nb"}'],
  ])('%s is kept raw, and no later request is refused because of it', async (file, raw) => {
    provider.play(
      { stream: wire(file) },
      { stream: { text: 'sorry' } },
      { stream: { text: '2' } },
      { stream: { text: '3' } },
    );
    let messages: Message[] = [{ role: 'user', content: 'go' }];
    const { response } = await ask(messages);
    expect(response.message.tool_calls).toEqual([{ id: 'call_x', name: 'shell', arguments: raw }]);
    messages = [
      ...messages,
      response.message,
      { role: 'tool', tool_call_id: 'call_x', content: 'bad', is_error: true },
    ];
    for (const content of ['second', 'third', 'fourth']) {
      const next = (await ask(messages)).response;
      messages = [...messages, next.message, { role: 'user', content }];
    }
    expect(provider.requests).toHaveLength(4);
    expect(provider.requests.map((r) => r.refused)).toEqual([undefined, undefined, undefined, undefined]);
    expect(provider.requests[1]?.body.messages[1]?.tool_calls?.[0]?.function.arguments).toBe('{}');
  });
});
