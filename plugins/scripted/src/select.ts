/**
 * Which turn plays.
 *
 * Promise: decided by the script and the conversation alone, never by what this process remembers, so that a
 * resumed, forked or replayed run goes the same way.
 *
 * The rule. For each answer that the conversation already holds, from the first, the turn is looked up that the
 * script would have played there: the first in file order that is not used up and whose conditions hold. That
 * turn is used up then, unless it repeats. (An answer for which no turn fits was somebody else's; it uses up
 * nothing.) Then the same look-up is made for the answer that is wanted now.
 *
 * Conditions of one turn must hold together for one of the newest messages, those after the previous answer;
 * `turn` counts answers. Once a history has been compacted, only the answers that are left count.
 */
import { isDeepStrictEqual } from 'node:util';
import { pointerKeys } from '@chassis/schema';
import type { Message } from '@chassis/types';
import { type Moment, momentsOf, type Seen } from './conversation.ts';
import type { Condition, Script, Turn } from './script.ts';

export interface Selection {
  /** The number of the wanted answer, from 1. */
  readonly number: number;
  /** undefined when no turn fits. */
  readonly turn: Turn | undefined;
  /** Turns whose conditions hold but that are used up. */
  readonly usedUp: readonly Turn[];
}

export function select(script: Script, messages: readonly Message[]): Selection {
  const used = new Set<Turn>();
  let selection: Selection = { number: 0, turn: undefined, usedUp: [] };
  for (const moment of momentsOf(messages)) {
    const fitting = script.turns.filter((turn) => holds(turn.when, moment));
    const turn = fitting.find((candidate) => !used.has(candidate));
    selection = { number: moment.turn, turn, usedUp: fitting.filter((candidate) => used.has(candidate)) };
    if (turn !== undefined && !turn.repeat) used.add(turn);
  }
  return selection;
}

function holds(when: Condition, moment: Moment): boolean {
  if (when.turn !== undefined && when.turn !== moment.turn) return false;
  const { contains, matches, tool, result_path: path } = when;
  if (contains === undefined && matches === undefined && tool === undefined && path === undefined)
    return true;
  return moment.newest.some((message) => fits(when, message));
}

function fits({ contains, matches, tool, result_path: path, equals }: Condition, message: Seen): boolean {
  if (contains !== undefined && !message.text.includes(contains)) return false;
  if (matches !== undefined && !matches.test(message.text)) return false;
  if (tool !== undefined && message.tool !== tool) return false;
  if (path === undefined) return true;
  if (message.tool === undefined) return false;
  const found = at(message.value, path);
  return found !== undefined && (equals === undefined || isDeepStrictEqual(found, equals));
}

/** The value at a JSON Pointer, or undefined. */
function at(value: unknown, pointer: string): unknown {
  let here = value;
  for (const key of pointerKeys(pointer)) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, key)) return undefined;
    if (Array.isArray(here) && !/^(0|[1-9]\d*)$/.test(key)) return undefined;
    here = (here as { [key: string]: unknown })[key];
  }
  return here;
}
