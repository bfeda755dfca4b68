import type { Message } from '@chassis/types';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { equalJson, messageDelta } from './delta.ts';

const user = (content: string): Message => ({ role: 'user', content });

test('only what is new since the previous request is kept', () => {
  const before = [user('a'), user('b')];
  expect(messageDelta(null, before)).toEqual({ from: null, keep: 0, add: before });
  expect(messageDelta({ step: 3, messages: before }, [...before, user('c')])).toEqual({
    from: 3,
    keep: 2,
    add: [user('c')],
  });
  // A compacted conversation shares only its beginning.
  expect(messageDelta({ step: 3, messages: before }, [user('a'), user('short')])).toEqual({
    from: 3,
    keep: 1,
    add: [user('short')],
  });
});

test('messages that were rebuilt count as unchanged when they are equal', () => {
  const call = (): Message => ({
    role: 'assistant',
    content: '',
    tool_calls: [{ id: '1', name: 't', arguments: '{}' }],
  });
  expect(messageDelta({ step: 1, messages: [call()] }, [call()])).toEqual({ from: 1, keep: 1, add: [] });
});

test('keeping and adding gives the request again', () => {
  const conversation = fc.array(fc.constantFrom('a', 'b', 'c').map(user));
  fc.assert(
    fc.property(conversation, conversation, (previous, messages) => {
      const { keep, add } = messageDelta({ step: 1, messages: previous }, messages);
      expect([...previous.slice(0, keep), ...add]).toEqual(messages);
      expect(
        keep === previous.length || keep === messages.length || !equalJson(previous[keep], messages[keep]),
      ).toBe(true);
    }),
  );
});
