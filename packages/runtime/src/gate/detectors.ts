/**
 * Runs that go round in circles, seen while they run: by the rules that `why` applies afterwards.
 *
 * Promise: only calls with the same result count; a call that brings something new, whatever its words, starts anew.
 */
import { ChassisError } from '@chassis/errors';
import { digestOf, type SessionView, type StepStatus } from '@chassis/journal';
import type { Json } from '@chassis/types';
import type { Ask, Outcome } from './ask.ts';

export interface Circle {
  readonly rule: 'repeated-call' | 'no-progress';
  readonly tool: string;
  /** How often it gave the same result. */
  readonly times: number;
}

/** How often the same call may give the same result when nothing else is set. */
const defaultRepeats = 8;

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

/** Where a recorded run went round in circles: the steps that the detector would have asked about. */
export function circlesIn(
  view: Pick<SessionView, 'steps'>,
  repeats: number,
): readonly (Circle & { readonly step: number })[] {
  const detectors = new Map<number, CircleDetector>();
  return view.steps.flatMap((step) => {
    if (step.kind !== 'tool' || step.seq.finished === undefined) return [];
    const detector = detectors.get(step.turn) ?? new CircleDetector(repeats);
    detectors.set(step.turn, detector);
    const ask = {
      kind: 'tool',
      name: step.name,
      input: step.input,
      agent: step.agent,
      turn: step.turn,
      parent: step.parent,
    } as const;
    const circle = detector.about(ask, step.digest);
    detector.seen(ask, step.digest, { ...step, step: step.number, status: step.status as StepStatus });
    return circle === null ? [] : [{ ...circle, step: step.number }];
  });
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
