/**
 * What a script can see of a conversation.
 *
 * Promise: pure. A tool's result is its parsed JSON, or its text when it is no JSON; a number that a double
 * cannot hold passes through exactly.
 */
import type { Message } from '@chassis/types';

/** A message as conditions look at it. */
export interface Seen {
  readonly text: string;
  /** Which tool's result it is. */
  readonly tool?: string;
  /** The result; undefined for other messages. */
  readonly value?: unknown;
}

/** The moment before the assistant's n-th answer. */
export interface Moment {
  /** n, from 1. */
  readonly turn: number;
  /** What is newer than the previous answer, without system messages. */
  readonly newest: readonly Seen[];
}

/** What expressions see. */
export interface Facts {
  readonly results: { readonly [tool: string]: readonly unknown[] };
  readonly errors: { readonly [tool: string]: readonly unknown[] };
  readonly messages: readonly object[];
  readonly turn: number;
}

/** The moments of all answers so far, in order, and as last one the moment now. */
export function momentsOf(messages: readonly Message[]): Moment[] {
  const moments: Moment[] = [];
  const tools = new Map<string, string>();
  let newest: Seen[] = [];
  for (const message of messages) {
    if (message.role === 'assistant') {
      moments.push({ turn: moments.length + 1, newest });
      newest = [];
      for (const call of message.tool_calls ?? []) tools.set(call.id, call.name);
    } else if (message.role === 'tool') {
      const tool = tools.get(message.tool_call_id) ?? '';
      newest.push({ text: message.content, tool, value: parsed(message.content) });
    } else if (message.role === 'user') {
      newest.push({ text: message.content });
    }
  }
  return [...moments, { turn: moments.length + 1, newest }];
}

export function factsOf(messages: readonly Message[], turn: number): Facts {
  const results: { [tool: string]: unknown[] } = {};
  const errors: { [tool: string]: unknown[] } = {};
  const tools = new Map<string, string>();
  for (const message of messages) {
    if (message.role === 'assistant')
      for (const call of message.tool_calls ?? []) tools.set(call.id, call.name);
    if (message.role !== 'tool') continue;
    const tool = tools.get(message.tool_call_id);
    if (tool === undefined) continue;
    const into = message.is_error === true ? errors : results;
    if (!Object.hasOwn(into, tool)) into[tool] = [];
    into[tool]?.push(parsed(message.content));
  }
  return { results, errors, messages, turn };
}

/** JSON as a value, anything else as the text that it is. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text, exact as (key: string, value: unknown) => unknown);
  } catch {
    return text;
  }
}

const { rawJSON } = JSON as unknown as { rawJSON(this: void, text: string): object };

/** Keeps the digits of a number that would lose some. */
function exact(_: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== 'number' || source === undefined) return value;
  return digits(source) === digits(String(value)) ? value : rawJSON(source);
}

/** A number's significant digits and exponent, so that `1.50`, `1.5` and `15e-1` are the same. */
function digits(number: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(number) ?? [];
  const all = (whole + fraction).replace(/^0+/, '');
  const kept = all.replace(/0+$/, '');
  if (kept === '') return '0';
  return `${sign}${kept}e${Number(exponent) - fraction.length + (all.length - kept.length)}`;
}
