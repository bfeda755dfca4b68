import type { Message } from '@chassis/types';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson, digestOf, digestOfRequest } from './digest.ts';
import { parseJson } from './json.ts';
import { Secrets } from './secrets.ts';

test('the order of members does not matter, that of items does', () => {
  expect(digestOf({ a: 1, b: [1, 2] })).toBe(digestOf({ b: [1, 2], a: 1 }));
  expect(digestOf({ a: [2, 1] })).not.toBe(digestOf({ a: [1, 2] }));
  expect(canonicalJson({ '\u{1f600}': 1, '\uffee': 2, a: 3 })).toBe('{"a":3,"\u{1f600}":1,"\uffee":2}');
});

test('a long text beside other members is written as each of them alone', () => {
  const long = '"\u2028\ud800'.repeat(200);
  fc.assert(
    fc.property(fc.dictionary(fc.string({ maxLength: 3 }), fc.oneof(fc.string(), fc.boolean())), (more) => {
      for (const object of [
        { ...more, text: long },
        { ...more, 10: long, 9: 'x', Z: '', _: true },
      ]) {
        const keys = Object.keys(object).sort();
        const members = keys.map(
          (key) => `${JSON.stringify(key)}:${JSON.stringify(object[key as keyof typeof object])}`,
        );
        expect(canonicalJson(object)).toBe(`{${members.join(',')}}`);
      }
    }),
  );
});

test('number literals count as they were written', () => {
  expect(canonicalJson(parseJson('[9007199254740993, -0, 0.1]'))).toBe('[9007199254740993,-0,0.1]');
  expect(digestOf(parseJson('9007199254740993'))).not.toBe(digestOf(parseJson('9007199254740992')));
});

test('the canonical text is the value again', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.parse(canonicalJson(value as never))).toEqual(value);
    }),
  );
});

test('what is no JSON is refused', () => {
  expect(() => digestOf({ a: undefined } as never)).toThrow();
  expect(() => digestOf([Number.NaN])).toThrow('NaN');
});

test('a secret and the mark it is recorded as have the same digest', () => {
  const secrets = new Secrets();
  secrets.add('KEY', 'very-secret-value');
  expect(digestOf({ q: 'x very-secret-value' }, secrets)).toBe(digestOf({ q: 'x {{secret:KEY}}' }, secrets));
});

const user = (content: string): Message => ({ role: 'user', content });

test('a request has the same digest however it was built up', () => {
  const messages = ['a', 'b', 'c', 'd'].map(user);
  const grown: Message[] = [];
  let last = '';
  for (const message of messages) {
    grown.push(message);
    last = digestOfRequest({ messages: grown, tools: [], params: {} });
  }
  expect(digestOfRequest({ messages: ['a', 'b', 'c', 'd'].map(user), tools: [], params: {} })).toBe(last);
  expect(
    digestOfRequest({
      messages: [...messages.slice(0, 2), user('X'), ...messages.slice(3)],
      tools: [],
      params: {},
    }),
  ).not.toBe(last);
  expect(digestOfRequest({ messages, tools: [], params: {} })).toBe(last);
});

test('requests that differ anywhere have different digests', () => {
  const base = { messages: [user('a')], tools: [], params: {} };
  const digests = [
    base,
    { ...base, params: { temperature: 0 } },
    { ...base, tools: [{ name: 't', description: '', parameters: {} }] },
    { ...base, messages: [user('a'), user('')] },
    { ...base, messages: [] },
  ].map((request) => digestOfRequest(request));
  expect(new Set(digests).size).toBe(digests.length);
});

test('a conversation that grows is not hashed again from its beginning', () => {
  let reads = 0;
  const messages: Message[] = [];
  for (let i = 0; i < 100; i++) {
    const message = { role: 'user' as const, content: '' };
    Object.defineProperty(message, 'content', {
      enumerable: true,
      get() {
        reads++;
        return `message ${i}`;
      },
    });
    messages.push(message);
    digestOfRequest({ messages: [...messages], tools: [], params: {} });
  }
  // Twice to hash it and once to freeze it; 100 growing requests would otherwise read 5,050 times and more.
  expect(reads).toBe(300);
});

test('the same messages under other secrets are digested anew', () => {
  const secrets = new Secrets();
  const request = { messages: [user('token-abcdef')], tools: [], params: {} };
  const before = digestOfRequest(request, secrets);
  secrets.add('T', 'token-abcdef');
  expect(digestOfRequest(request, secrets)).not.toBe(before);
});

test('what was digested cannot be changed afterwards', () => {
  const message = {
    role: 'assistant' as const,
    content: 'x',
    tool_calls: [{ id: '1', name: 't', arguments: '{}' }],
  };
  digestOfRequest({ messages: [message], tools: [], params: {} });
  expect(() => Object.assign(message, { content: 'y' })).toThrow(TypeError);
  expect(() => message.tool_calls.push({ id: '2', name: 't', arguments: '' })).toThrow(TypeError);
});
