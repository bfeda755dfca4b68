import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ErrorCode, exitCodeOf, isRetryable } from '@chassis/errors';
import type { Message, ModelResponse } from '@chassis/types';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fakeContext, fakeLoadContext } from '../../fake-context.ts';
import plugin from './index.ts';
import { play } from './play.ts';
import { parseScript, type Script } from './script.ts';
import { select } from './select.ts';

const user = (content: string): Message => ({ role: 'user', content });
const answer = (script: Script, messages: Message[], options = {}): Promise<ModelResponse> =>
  play(script, { messages, tools: [], params: {} }, fakeContext(options));

/** Plays a conversation: tools answer what `tools` says, until the script has no more calls. */
async function converse(
  script: Script,
  messages: Message[],
  tools: (name: string, args: string) => string,
): Promise<Message[]> {
  const all = [...messages];
  for (;;) {
    const { message } = await answer(script, all);
    all.push(message);
    if (message.tool_calls === undefined) return all;
    for (const call of message.tool_calls) {
      all.push({ role: 'tool', tool_call_id: call.id, content: tools(call.name, call.arguments) });
    }
  }
}

const orders = parseScript(
  `turns:
  - when: { contains: average }
    think: Pages first.
    call:
      - { name: fetch, arguments: { page: 1 } }
      - { name: fetch, arguments: { page: 2 } }
  - when: { tool: fetch, result_path: /rows/0, equals: broken }
    call:
      - { name: fetch, arguments: { page: 2 } }
  - when: { tool: fetch }
    call:
      - { name: stats, arguments: { amounts: "{{ results.fetch.rows }}" } }
  - when: { tool: stats, matches: '"average":\\s*\\d+' }
    say: "It is {{ results.stats[-1].average }}."
  - when: { tool: stats }
    say: It failed.
`,
  'orders.yaml',
);

describe('playing a script', () => {
  test('conditions choose, results are handed on, and a changed result takes another way', async () => {
    const good = await converse(orders, [user('the average, please')], (name, args) =>
      name === 'stats' ? `{"average": 3, "of": ${args}}` : `{"rows":[${JSON.parse(args).page}, 5]}`,
    );
    expect(good.at(-1)).toEqual({ role: 'assistant', content: 'It is 3.' });
    expect(good[4]).toEqual({
      role: 'assistant',
      content: '',
      tool_calls: [{ id: 'call_2_1', name: 'stats', arguments: '{"amounts":[1,5,2,5]}' }],
    });

    const fork = [...good.slice(0, 3), { ...good[3], content: '{"rows":["broken"]}' } as Message];
    expect((await answer(orders, fork)).message.tool_calls).toEqual([
      { id: 'call_2_1', name: 'fetch', arguments: '{"page":2}' },
    ]);
  });

  test('a turn is used up once it has played, and `repeat` is not', async () => {
    const script = parseScript(
      'turns:\n  - say: first\n  - when: { contains: again }\n    say: second\n  - repeat: true\n    say: more\n',
      's.yaml',
    );
    const messages: Message[] = [];
    for (const [said, heard] of [
      ['hello', 'first'],
      ['again', 'second'],
      ['again', 'more'],
      ['again', 'more'],
    ] as const) {
      messages.push(user(said));
      const { message } = await answer(script, messages);
      expect(message.content).toBe(heard);
      messages.push(message);
    }
  });

  test('what was used up is known from the conversation alone, in any order and any process', () => {
    const words = fc.constantFrom('a', 'b', 'ab', 'c');
    const turn = fc.record({ contains: fc.constantFrom('a', 'b', 'c'), repeat: fc.boolean() });
    fc.assert(
      fc.property(
        fc.array(turn, { minLength: 1, maxLength: 5 }),
        fc.array(words, { minLength: 1, maxLength: 6 }),
        (turns, said) => {
          const text = turns.map(
            (t, i) => `  - when: { contains: ${t.contains} }\n    say: "${i}"\n    repeat: ${t.repeat}\n`,
          );
          const script = parseScript(`turns:\n${text.join('')}`, 's.yaml');
          const used = new Set<number>();
          const messages: Message[] = [];
          for (const word of said) {
            messages.push(user(word));
            const expected = turns.findIndex((t, i) => word.includes(t.contains) && !used.has(i));
            const { turn: chosen } = select(script, messages);
            expect(chosen === undefined ? -1 : script.turns.indexOf(chosen)).toBe(expected);
            if (expected >= 0 && turns[expected]?.repeat === false) used.add(expected);
            messages.push({ role: 'assistant', content: String(expected) });
          }
        },
      ),
    );
  });

  test('all conditions must hold for one message; system messages do not count', async () => {
    const script = parseScript(
      'turns:\n  - when: { tool: a, contains: x }\n    say: both\n  - when: { contains: rules }\n    say: system\n  - when: { turn: 2 }\n    say: second\n  - say: else\n',
      's.yaml',
    );
    const calls = {
      role: 'assistant',
      content: '',
      tool_calls: [
        { id: '1', name: 'a', arguments: '{}' },
        { id: '2', name: 'b', arguments: '{}' },
      ],
    } as const;
    const history: Message[] = [{ role: 'system', content: 'rules' }, user('go')];
    expect((await answer(script, history)).message.content).toBe('else');
    const split: Message[] = [
      ...history,
      calls,
      { role: 'tool', tool_call_id: '1', content: 'y' },
      { role: 'tool', tool_call_id: '2', content: 'x' },
    ];
    expect((await answer(script, split)).message.content).toBe('second');
    const joined = split.map((m) =>
      m.role === 'tool' ? { ...m, content: m.tool_call_id === '1' ? 'x' : 'y' } : m,
    );
    expect((await answer(script, joined)).message.content).toBe('both');
  });

  test('no turn fits: the error names the script and the last message, and is not retried', async () => {
    const script = parseScript('turns:\n  - when: { contains: hi }\n    say: hello\n', '/p/s.yaml');
    const messages: Message[] = [user('hi'), { role: 'assistant', content: 'hello' }, user('hi again')];
    const error = await answer(script, messages).catch((e) => e);
    expect(error.message).toBe(
      '/p/s.yaml:1:1: no turn fits answer 2, after user: "hi again"; /p/s.yaml:2:5 would, but has been played already',
    );
    expect(error.code).toBe(ErrorCode.ModelError);
    expect(isRetryable(error)).toBe(false);
    expect(error.data).toMatchObject({ file: '/p/s.yaml', turn: 2, last_message: 'hi again' });
  });

  test('errors of a provider, for some attempts or for ever', async () => {
    const script = parseScript(
      'turns:\n  - when: { turn: 1 }\n    error: { status: 503, message: overloaded, times: 2 }\n    say: at last\n  - error: { status: 429, message: slow, retry_after_ms: 5 }\n',
      's.yaml',
    );
    const messages = [user('x')];
    for (const attempt of [1, 2]) {
      const error = await answer(script, messages, { attempt }).catch((e) => e);
      expect(error).toMatchObject({
        code: ErrorCode.ModelError,
        message: 'overloaded',
        data: { status: 503 },
      });
      expect(isRetryable(error)).toBe(true);
    }
    const { message } = await answer(script, messages, { attempt: 3 });
    expect(message.content).toBe('at last');
    const next = [...messages, message, user('y')];
    await expect(answer(script, next, { attempt: 99 })).rejects.toMatchObject({
      code: ErrorCode.RateLimited,
      data: { retry_after_ms: 5 },
    });
  });

  test('text streams in pieces of whole characters; calls and reasoning stream too', async () => {
    const script = parseScript(
      'turns:\n  - say: "a😀b日"\n    think: ab\n    chunk: 2\n    call: [{ name: f, id: x, arguments: "{\\"bad\\"" }]\n    finish: length\n    usage: { input: 7, output: 3 }\n',
      's.yaml',
    );
    const ctx = fakeContext();
    const response = await play(script, { messages: [user('x')], tools: [], params: {} }, ctx);
    expect(ctx.pieces).toEqual([
      { reasoning: 'ab' },
      { text: 'a😀' },
      { text: 'b日' },
      { tool_call: { index: 0, id: 'x', name: 'f', arguments: '{"bad"' } },
    ]);
    expect(response).toEqual({
      message: {
        role: 'assistant',
        content: 'a😀b日',
        reasoning: 'ab',
        tool_calls: [{ id: 'x', name: 'f', arguments: '{"bad"' }],
      },
      finish_reason: 'length',
      usage: { input: 7, cached: 0, output: 3, reasoning: 0 },
      model: 'scripted',
    });
  });

  test('estimated usage says that it is', async () => {
    const script = parseScript(
      'turns:\n  - say: 12345678\n    think: abcd\n'.replace('12345678', '"12345678"'),
      's.yaml',
    );
    expect((await answer(script, [user('123456789')])).usage).toEqual({
      input: 3,
      cached: 0,
      output: 3,
      reasoning: 1,
      estimated: true,
    });
  });

  test('call ids stay distinct when the count begins anew after a compaction', async () => {
    const script = parseScript('turns:\n  - repeat: true\n    call: [{ name: f }, { name: f }]\n', 's.yaml');
    const kept: Message[] = [
      user('summary'),
      { role: 'assistant', content: '', tool_calls: [{ id: 'call_2_1', name: 'f', arguments: '{}' }] },
      { role: 'tool', tool_call_id: 'call_2_1', content: '1' },
    ];
    const { message } = await answer(script, kept);
    expect(message.tool_calls?.map((call) => [call.id, call.arguments])).toEqual([
      ['call_2_1_2', '{}'],
      ['call_2_2', '{}'],
    ]);
  });

  test('an expression that fails names its turn; failed calls are seen as errors', async () => {
    const script = parseScript(
      'turns:\n  - when: { turn: 2 }\n    say: "{{ errors.f[0] }}"\n  - say: "{{ results.f }}"\n',
      's.yaml',
    );
    const call: Message = {
      role: 'assistant',
      content: '',
      tool_calls: [{ id: 'c', name: 'f', arguments: '{}' }],
    };
    const failed: Message = { role: 'tool', tool_call_id: 'c', content: 'no such page', is_error: true };
    expect((await answer(script, [user('x'), call, failed])).message.content).toBe('no such page');
    await expect(answer(script, [user('x')])).rejects.toMatchObject({
      code: ErrorCode.ModelError,
      message: 's.yaml:4:5: {{ results.f }} gave nothing: there are results and errors of no tool yet',
      data: { retryable: false },
    });
  });

  test('a cancelled turn stops where it is', async () => {
    const script = parseScript('turns:\n  - say: "0123456789"\n    chunk: 1\n    delay_ms: 1\n', 's.yaml');
    const controller = new AbortController();
    const ctx = fakeContext({
      signal: controller.signal,
      onProgress: ({ text }) => text === '3' && controller.abort(),
    });
    await expect(play(script, { messages: [user('x')], tools: [], params: {} }, ctx)).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect(ctx.pieces).toEqual(['0', '1', '2', '3'].map((text) => ({ text })));
  });
});

describe('the plugin', () => {
  test('loads the script relative to the project, and says what is missing', async () => {
    const project = await mkdtemp(join(tmpdir(), 'chassis-scripted-'));
    const ask = (): Promise<ModelResponse> =>
      plugin.models['*']({ messages: [user('x')], tools: [], params: {} }, fakeContext());
    try {
      await writeFile(join(project, 's.yaml'), 'turns:\n  - say: hi\n');
      await plugin.on_load({ script: './s.yaml' }, fakeLoadContext(project));
      expect((await ask()).message.content).toBe('hi');
      await expect(plugin.on_load({ script: 'none.yaml' }, fakeLoadContext(project))).rejects.toMatchObject({
        code: ErrorCode.InvalidParams,
        message: expect.stringContaining(join(project, 'none.yaml')),
      });
      await plugin.on_load({}, fakeLoadContext(project));
      const error = await ask().catch((e) => e);
      expect(error.message).toMatch(/--script FILE.*plugins\.scripted\.config\.script/);
      expect(exitCodeOf(error.code)).toBe(3);
    } finally {
      await plugin.on_load({}, fakeLoadContext(project));
      await rm(project, { recursive: true });
    }
  });
});
