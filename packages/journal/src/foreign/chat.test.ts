import { expect, test } from 'vitest';
import { collect } from '../../test/build.ts';
import { chatImporter, importSessions, memoryStore, type Received, type Store } from '../index.ts';

const chats = chatImporter({ chassis: '0.1.0', folder: '/w' });

async function* from(lines: readonly object[]): AsyncGenerator<string> {
  for (const line of lines) yield JSON.stringify(line);
}

async function take(store: Store, lines: readonly object[]): Promise<Received[]> {
  return collect(importSessions(store, from(lines), [chats]));
}

const call = { id: 'c1', type: 'function', function: { name: 'average', arguments: '{"days":[1,2]}' } };
const conversation = [
  { role: 'system', content: 'You report figures.' },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'The average?' },
      { type: 'image_url', image_url: {} },
    ],
  },
  { role: 'assistant', content: null, tool_calls: [call] },
  { role: 'tool', tool_call_id: 'c1', content: '{"average":9007199254740993}' },
  { role: 'assistant', content: 'It is 42.' },
];

test('a chat becomes a session with its calls, what caused them, and what each request was', async () => {
  const store = memoryStore();
  const [taken] = await take(store, [
    {
      model: 'gpt-x',
      messages: conversation.slice(0, 4),
      tools: [{ type: 'function', function: { name: 'average', parameters: { type: 'object' } } }],
      response: {
        model: 'gpt-x-1',
        choices: [{ message: conversation[4] }],
        usage: { prompt_tokens: 30, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 10 } },
      },
    },
  ]);
  const { session } = taken as Received;
  const view = await (await store.reader(session)).view();
  expect(view.header).toMatchObject({ title: 'The average?', model: { name: 'gpt-x-1' }, workspace: '/w' });
  expect(view.turns).toMatchObject([
    { input: 'The average?\n[image_url]', outcome: 'ok', answer: 'It is 42.' },
  ]);
  expect(view.steps.map(({ kind, name, causes }) => [kind, name, causes])).toEqual([
    ['model', 'gpt-x-1', []],
    ['tool', 'average', [1]],
    ['model', 'gpt-x-1', [2]],
  ]);
  expect(view.steps[1]?.input).toEqual({ days: [1, 2] });
  // A number that a double cannot hold comes through as it was written.
  expect(JSON.stringify(view.steps[1]?.output)).toBe('{"average":9007199254740993}');
  expect(view.steps[2]?.usage).toEqual({ input: 30, cached: 10, output: 5, reasoning: 0 });
  expect(view.request(3).messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool']);
  expect(view.request(3).tools).toMatchObject([{ name: 'average' }]);
  expect(await store.verify(session)).toMatchObject({ ok: true });
});

test('one message a line is one session; taken in again it is there already', async () => {
  const store = memoryStore();
  const [first, ...more] = await take(store, [...conversation, { role: 'user', content: 'And now?' }]);
  expect(more).toEqual([]);
  expect(first?.fresh).toBe(true);
  const again = await take(store, [...conversation, { role: 'user', content: 'And now?' }]);
  expect(again).toEqual([{ session: first?.session, fresh: false }]);
  const { turns } = await (await store.reader(first?.session as string)).view();
  expect(turns).toMatchObject([{ answer: 'It is 42.' }, { input: 'And now?', outcome: 'interrupted' }]);
});

test('each line with messages is a session of its own', async () => {
  const store = memoryStore();
  const line = (content: string): object => ({ messages: [{ role: 'user', content }] });
  const taken = await take(store, [line('one'), line('two'), line('three')]);
  expect(new Set(taken.map(({ session }) => session)).size).toBe(3);
  expect(taken.every(({ fresh }) => fresh)).toBe(true);
});

test.each([
  [{ messages: [{ role: 'robot', content: 'hi' }] }, /^line 2: \/messages\/0: the role "robot" is unknown/],
  [{ messages: [{ role: 'user', content: 7 }] }, /^line 2: \/messages\/0: the content/],
  [{ messages: [{ role: 'assistant', tool_calls: [{}] }] }, /^line 2: \/messages\/0: a call/],
  [7 as never, /^line 2: this is no object/],
])('what is no chat is said with its line and place: %j', async (line, message) => {
  const first = { messages: [{ role: 'user', content: 'fine' }] };
  await expect(take(memoryStore(), [first, line])).rejects.toThrow(message);
});
