/**
 * Message deltas: a model request repeats the whole conversation, the log keeps only what is new since the same agent's
 * previous request. That is what makes a session's size grow with the run and not with its square.
 */
import type { Message } from '@chassis/types';
import type { MessageDelta } from './event.ts';

/**
 * What is new in `messages`.
 * @param previous the same agent's previous model step and its messages, or null for the first
 */
export function messageDelta(
  previous: { readonly step: number; readonly messages: readonly Message[] } | null,
  messages: readonly Message[],
): MessageDelta {
  if (previous === null) return { from: null, keep: 0, add: [...messages] };
  const limit = Math.min(previous.messages.length, messages.length);
  let keep = 0;
  while (keep < limit && equalJson(previous.messages[keep], messages[keep])) keep++;
  return { from: previous.step, keep, add: messages.slice(keep) };
}

/** Whether two JSON values are equal; the order of members does not matter. */
export function equalJson(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every(
    (key) =>
      Object.hasOwn(b, key) &&
      equalJson((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
  );
}
