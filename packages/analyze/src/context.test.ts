import { expect, test } from 'vitest';
import { Story } from '../test/build.ts';
import { context } from './context.ts';
import { messageTokens } from './tokens.ts';

function story(): Story {
  const told = new Story('Find the port.', 'You are careful.');
  told.call('read', { path: 'a.txt' }, { text: 'port 80' });
  told.model([], { content: 'It is 80.', usage: { input: 100, cached: 60, output: 5, reasoning: 0 } });
  return told;
}

test('the blocks are the request, with tokens, sources, and what is new', () => {
  const view = story().ok('It is 80.');
  const seen = context(view, 3);
  expect(seen.blocks.map(({ kind, isNew, source, name }) => [kind, isNew, source, name])).toEqual([
    ['system', false, undefined, undefined],
    ['user', false, undefined, undefined],
    ['assistant', true, 1, undefined],
    ['tool', true, 2, 'read'],
  ]);
  const { messages } = view.request(3);
  expect(seen.tokens.total).toBe(messages.reduce((sum, message) => sum + messageTokens(message), 0));
  expect(seen).toMatchObject({ previous: 1, dropped: [], difference: null });
});

test('what a cache held lies at the front', () => {
  const { blocks, tokens } = context(story().ok('It is 80.'), 3);
  expect(tokens).toMatchObject({ measured: 100, cached: 60 });
  expect(blocks.at(0)?.cached).toBe('whole');
  expect(blocks.at(-1)?.cached).toBe('none');
});

test('at its first request everything is new, and nothing is compared', () => {
  const seen = context(story().ok('It is 80.'), 1);
  expect(seen.previous).toBeNull();
  expect(seen.blocks.every(({ isNew }) => isNew)).toBe(true);
});

test('what a compaction took out is named, with its place in the request before', () => {
  const told = story();
  const whole = told.ok('It is 80.');
  const [system, user, , result] = whole.request(3).messages;
  const view = {
    ...whole,
    step: (number: number) => whole.step(number),
    request: (step: number) => ({
      ...whole.request(step),
      ...(step === 3 ? { messages: [system!, { role: 'user' as const, content: 'Summary.' }, result!] } : {}),
    }),
  };
  const seen = context(view, 3);
  expect(user?.role).toBe('user');
  expect(seen.dropped.map(({ kind, pointer }) => [kind, pointer])).toEqual([['user', '/input/messages/1']]);
  expect(seen.difference?.path).toBe('/input/messages/1/content');
});

test('a step that is no model step has no context', () => {
  expect(() => context(story().ok('x'), 2)).toThrow('only a model step has a context');
  expect(() => context(story().ok('x'), 9)).toThrow('no step 9');
});
