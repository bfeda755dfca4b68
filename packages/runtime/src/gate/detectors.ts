/**
 * Runs that go round in circles, seen while they run: by the rules that `why` applies afterwards.
 *
 * Promise: only calls with the same result count; a call that brings something new, whatever its words, starts anew.
 */
import { ChassisError } from '@chassis/errors';
import { digestOf } from '@chassis/journal';
import type { Json } from '@chassis/types';
import type { Ask, Outcome } from './ask.ts';

export interface Circle {
  readonly rule: 'repeated-call' | 'no-progress';
  readonly tool: string;
  /** How often it gave the same result. */
  readonly times: number;
}

/** How often the same call may give the same result when nothing else is set. */
export const defaultRepeats = 8;

interface Same {
  result: string;
  times: number;
}

export class CircleDetector {
  readonly #repeats: number;
  /** By tool and arguments: the result, and how often it came. */
  readonly #calls = new Map<string, Same>();
  /** By tool: the latest result and how often it came in a row, whatever the arguments. */
  readonly #tools = new Map<string, Same>();

  constructor(repeats: number = defaultRepeats) {
    this.#repeats = repeats;
  }

  /** Whether the call that is about to be made has come to nothing new often enough. */
  about(ask: Ask, digest: string): Circle | null {
    if (ask.kind !== 'tool') return null;
    const same = this.#calls.get(`${ask.name} ${digest}`)?.times ?? 0;
    if (same >= this.#repeats) return { rule: 'repeated-call', tool: ask.name, times: same };
    const row = this.#tools.get(ask.name)?.times ?? 0;
    if (row >= this.#repeats * 2) return { rule: 'no-progress', tool: ask.name, times: row };
    return null;
  }

  seen(ask: Ask, digest: string, outcome: Outcome): void {
    if (ask.kind !== 'tool') return;
    const { status, output, error } = outcome;
    const end = error === undefined ? (output ?? null) : { code: error.code, message: error.message };
    const result = `${status} ${digestOf(end as Json)}`;
    count(this.#calls, `${ask.name} ${digest}`, result);
    count(this.#tools, ask.name, result);
  }

  /** Somebody said that it may go on: it is counted anew. */
  forget(ask: Ask, digest: string): void {
    this.#calls.delete(`${ask.name} ${digest}`);
    this.#tools.delete(ask.name);
  }
}

export function circleError({ rule, tool, times }: Circle): ChassisError {
  const what =
    rule === 'repeated-call'
      ? `${tool} gave the same result to the same arguments ${times} times`
      : `${tool} gave the same result ${times} times in a row, whatever it was asked`;
  return new ChassisError('BudgetExceeded', `the run goes round in circles: ${what}`, {
    data: {
      limit: 'repeats',
      rule,
      used: times,
      fix: 'allow more with --config limits.repeats=…, or fork before the first of them',
    },
  });
}

function count(map: Map<string, Same>, key: string, result: string): void {
  const known = map.get(key);
  if (known?.result === result) known.times++;
  else map.set(key, { result, times: 1 });
}
