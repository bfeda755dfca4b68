/**
 * Making room in a conversation without breaking it.
 *
 * Promise: a call and its results are one group and never parted; the system message stays first, byte for byte; what the
 * user said is kept word for word; a group with an open call is never summarised. The full past stays in the session's record.
 */

import { messageTokens } from '@chassis/analyze';
import type { Message } from '@chassis/types';

/** Messages that belong together: one message, or an assistant's calls with their results. */
export function groupsOf(messages: readonly Message[]): readonly (readonly Message[])[] {
  const groups: Message[][] = [];
  for (const message of messages) {
    if (message.role === 'tool') groups.at(-1)?.push(message);
    else groups.push([message]);
  }
  return groups;
}

/** Whether every call in the group has its result. */
function isClosed(group: readonly Message[]): boolean {
  const [head, ...results] = group;
  if (head?.role !== 'assistant') return true;
  const answered = new Set(results.map((result) => (result.role === 'tool' ? result.tool_call_id : '')));
  return (head.tool_calls ?? []).every((call) => answered.has(call.id));
}

export interface Cut {
  readonly system: readonly Message[];
  /** What is summarised. */
  readonly old: readonly Message[];
  /** What stays as it is. */
  readonly tail: readonly Message[];
}

/**
 * Where to cut when about `wanted` leading messages (after the system message) should go: at the last boundary of groups
 * that does not go beyond it.
 */
function cutAt(messages: readonly Message[], wanted: number): Cut {
  const first = messages[0]?.role === 'system' ? 1 : 0;
  const rest = messages.slice(first);
  let cut = 0;
  for (const group of groupsOf(rest)) {
    if (cut + group.length > wanted || !isClosed(group)) break;
    cut += group.length;
  }
  return { system: messages.slice(0, first), old: rest.slice(0, cut), tail: rest.slice(cut) };
}

/** The cut that leaves at most `tokens` in the tail, and at least the last group. */
export function cutToFit(messages: readonly Message[], tokens: number): Cut {
  const groups = groupsOf(messages[0]?.role === 'system' ? messages.slice(1) : messages);
  let kept = 0;
  let count = 0;
  for (const group of groups.toReversed()) {
    const size = group.reduce((sum, message) => sum + messageTokens(message), 0);
    if (count > 0 && kept + size > tokens) break;
    kept += size;
    count += group.length;
  }
  return cutAt(messages, groups.flat().length - count);
}

/** The conversation after a cut: system message, one message that stands for what was there, and the tail. */
export function joinCut(cut: Cut, summary: string): readonly Message[] {
  if (cut.old.length === 0) return [...cut.system, ...cut.tail];
  return [...cut.system, { role: 'user', content: summaryText(cut.old, summary) }, ...cut.tail];
}

/** Cut and join in one step: about `wanted` messages are replaced by the summary. */
export function compact(messages: readonly Message[], wanted: number, summary: string): readonly Message[] {
  return joinCut(cutAt(messages, wanted), summary);
}

const opening = 'Earlier messages of this conversation were summarised to make room.';
const said = 'What the user said in them, word for word:';

function summaryText(old: readonly Message[], summary: string): string {
  const quotes = old
    .filter((message) => message.role === 'user')
    .map(({ content }) =>
      content.startsWith(opening) ? quotedBefore(content) : `<user>\n${content}\n</user>`,
    )
    .filter((quote) => quote !== '');
  const words = quotes.length === 0 ? '' : `\n\n${said}\n${quotes.join('\n')}`;
  return `${opening}${words}\n\nSummary of the rest:\n${summary}`;
}

/** The user's words that an earlier summary holds already. */
function quotedBefore(content: string): string {
  return [...content.matchAll(/<user>\n[\s\S]*?\n<\/user>/g)].map(([quote]) => quote).join('\n');
}

/** A summary that needs no model: what was called and how it ended. */
export function plainSummary(old: readonly Message[]): string {
  return groupsOf(old)
    .flatMap((group) => group.map(line).filter((text) => text !== ''))
    .join('\n');
}

function line(message: Message): string {
  switch (message.role) {
    case 'assistant': {
      const calls = (message.tool_calls ?? []).map(
        (call) => `called ${call.name} ${head(call.arguments, 200)}`,
      );
      return [message.content === '' ? '' : `said: ${head(message.content, 400)}`, ...calls]
        .filter(Boolean)
        .join('\n');
    }
    case 'tool':
      return `${message.is_error ? 'failed' : 'result'}: ${head(message.content, 400)}`;
    default:
      return '';
  }
}

/** The first characters of a text, never half a character. */
function head(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
