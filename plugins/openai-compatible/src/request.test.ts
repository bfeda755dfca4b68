import type { Message } from '@chassis/types';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { historyProblem } from '../test/fake-provider.ts';
import { requestBody } from './request.ts';

const options = { model: 'm', passReasoning: false, params: {} };
const body = (messages: Message[], more: Partial<Parameters<typeof requestBody>[1]> = {}, params = {}) =>
  JSON.parse(requestBody({ messages, tools: [], params }, { ...options, ...more }));

describe('the request', () => {
  test('has the exact shape', () => {
    const request = {
      messages: [{ role: 'user', content: 'hi' }] as const,
      tools: [{ name: 'f', description: 'does f', parameters: { type: 'object' } }],
      params: { model: 'ignored-here', temperature: 0 },
    };
    expect(requestBody(request, { ...options, params: { temperature: 1, top_p: 0.5 } })).toBe(
      '{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f","description":"does f","parameters":{"type":"object"}}}],"stream":true,"stream_options":{"include_usage":true},"temperature":0,"top_p":0.5}',
    );
  });

  test('without tools there is no tools member; null removes a member', () => {
    expect(body([{ role: 'user', content: 'x' }], { params: { stream_options: null } })).toEqual({
      model: 'm',
      messages: [{ role: 'user', content: 'x' }],
      stream: true,
    });
  });

  test('numbers that no double holds stay as they were written', () => {
    const exact = {
      seed: (JSON as unknown as { rawJSON(text: string): number }).rawJSON('9007199254740993'),
    };
    const text = requestBody({ messages: [], tools: [], params: exact }, options);
    expect(text).toContain('"seed":9007199254740993');
  });

  test('reasoning goes back byte for byte to models that want it, never empty, never to others', () => {
    const call = { id: 'c', name: 'f', arguments: '{}' };
    const messages: Message[] = [
      { role: 'assistant', content: '', reasoning: ' a\r\n\u2028b ', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c', content: '1', is_error: true },
      { role: 'assistant', content: 'x' },
      { role: 'assistant', content: 'y', reasoning: '' },
    ];
    expect(
      body(messages, { passReasoning: true }).messages.map((m: object) => 'reasoning_content' in m),
    ).toEqual([true, false, false, false]);
    expect(body(messages, { passReasoning: true }).messages[0].reasoning_content).toBe(' a\r\n\u2028b ');
    expect(JSON.stringify(body(messages))).not.toContain('reasoning');
  });

  test('whatever a model wrote as call, a strict server takes the history', () => {
    const text = fc.oneof(
      fc.string(),
      fc.json(),
      fc.constantFrom('', '{"a":1', '[1]', '"x"', 'null', '{"a":"b\nc"}'),
    );
    fc.assert(
      fc.property(
        fc.array(fc.record({ name: fc.string(), arguments: text }), { minLength: 1, maxLength: 4 }),
        (calls) => {
          const tool_calls = calls.map((call, i) => ({ id: `c${i}`, ...call }));
          const messages: Message[] = [
            { role: 'user', content: 'go' },
            { role: 'assistant', content: '', tool_calls },
            ...tool_calls.map(({ id }) => ({ role: 'tool' as const, tool_call_id: id, content: 'x' })),
          ];
          expect(historyProblem(body(messages))).toBeUndefined();
        },
      ),
    );
  });

  test('arguments that are a JSON object are sent exactly as the model wrote them', () => {
    const args = ' {"b":1,  "a":9007199254740993} ';
    const messages: Message[] = [
      { role: 'assistant', content: '', tool_calls: [{ id: 'c', name: 'f', arguments: args }] },
    ];
    expect(body(messages).messages[0].tool_calls[0].function.arguments).toBe(args);
  });
});
