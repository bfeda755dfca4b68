import { readFileSync } from 'node:fs';
import type { Message } from '@chassis/types';
import { expect, test } from 'vitest';
import { compact, cutToFit, joinCut } from './compaction.ts';

/** Strict pairing, as a provider checks it: calls are followed at once by exactly one result each, and no result stands alone. */
function problems(messages: readonly Message[], open: readonly string[] = []): string[] {
  const found: string[] = [];
  let expected: string[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') {
      if (!expected.includes(message.tool_call_id))
        found.push(`result ${message.tool_call_id} without a call at ${index}`);
      expected = expected.filter((id) => id !== message.tool_call_id);
      continue;
    }
    if (message.role === 'system' && index > 0) found.push('a system message that is not first');
    found.push(...expected.filter((id) => !open.includes(id)).map((id) => `no result for ${id}`));
    expected = message.role === 'assistant' ? (message.tool_calls ?? []).map((call) => call.id) : [];
  }
  return [...found, ...expected.filter((id) => !open.includes(id)).map((id) => `no result for ${id}`)];
}

/** The recorded history (chat-completions form) as ours. */
const history: Message[] = (
  JSON.parse(readFileSync(new URL('../test/cases/e1_history.json', import.meta.url), 'utf8')) as {
    role: string;
    content: string | null;
    tool_call_id?: string;
    tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  }[]
).map(({ role, content, tool_call_id, tool_calls }) => ({
  role,
  content: content ?? '',
  ...(tool_call_id === undefined ? {} : { tool_call_id }),
  ...(tool_calls === undefined
    ? {}
    : {
        tool_calls: tool_calls.map(({ id, function: f }) => ({ id, name: f.name, arguments: f.arguments })),
      }),
})) as Message[];

test('the history itself is sound', () => expect(problems(history)).toEqual([]));

test.each(Array.from({ length: history.length + 1 }, (_, k) => k))(
  'a cut wanted at %i never parts a call from its result',
  (k) => {
    const compacted = compact(history, k, 'what happened');
    expect(problems(compacted)).toEqual([]);
    if (history[0]?.role === 'system') expect(compacted[0]).toBe(history[0]);
    const tail = compacted.filter((message) => history.includes(message) && message.role !== 'system');
    expect(tail[0]?.role).not.toBe('tool');
  },
);

test('while a call of a parallel batch still runs, its group stays, and the late result has its call', () => {
  const call = history.findIndex(
    (message) => message.role === 'assistant' && (message.tool_calls?.length ?? 0) > 1,
  );
  const batch = history[call] as Message & { role: 'assistant' };
  const late = batch.tool_calls?.[1]?.id ?? '';
  const running = history
    .slice(0, call + 2)
    .filter((message) => message.role !== 'tool' || message.tool_call_id !== late);
  for (let k = 0; k <= running.length; k++) {
    const compacted = compact(running, k, 'what happened');
    expect(problems(compacted, [late])).toEqual([]);
    expect(problems([...compacted, { role: 'tool', tool_call_id: late, content: 'late' }])).toEqual([]);
  }
});

test('what the user said is kept word for word, through two compactions', () => {
  const messages: Message[] = [
    { role: 'system', content: 'P' },
    { role: 'user', content: 'Never write outside ./out.' },
    { role: 'assistant', content: 'Understood.' },
    { role: 'user', content: 'Now the second thing.' },
    { role: 'assistant', content: 'Done.' },
    { role: 'user', content: 'And the third.' },
  ];
  const once = compact(messages, 3, 'first summary');
  const twice = compact(
    [...once, { role: 'assistant', content: 'x' }, { role: 'user', content: 'last' }],
    3,
    'second summary',
  );
  expect(twice[0]).toBe(messages[0]);
  expect(twice[1]?.content).toContain('Never write outside ./out.');
  expect(twice[1]?.content).toContain('Now the second thing.');
  expect(twice[1]?.content.match(/Never write outside/g)).toHaveLength(1);
});

test('a cut to fit leaves at least the last group', () => {
  const cut = cutToFit(history, 1);
  expect(cut.tail.length).toBeGreaterThan(0);
  expect(problems(joinCut(cut, 's'))).toEqual([]);
});
