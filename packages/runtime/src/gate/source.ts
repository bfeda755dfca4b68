/**
 * Where answers come from. Live, replay, resume and fork differ in this and in nothing else.
 */
import type { Step } from '@chassis/journal';
import type { Json } from '@chassis/types';
import type { Ask, Outcome } from './ask.ts';

/** The record holds the answer; nothing runs and nothing is written. */
export interface Answer {
  readonly kind: 'answer';
  readonly step: Step;
  readonly outcome: Outcome;
}

export type Recalled =
  | Answer
  /** The record holds the intent but no answer: the step goes on under its number. */
  | { readonly kind: 'unfinished'; readonly step: Step }
  /** The record says nothing: live. */
  | { readonly kind: 'none' };

export type ValueName = 'now' | 'random' | 'uuid';

export interface Source {
  /** What it answers belongs to another session: the gate writes it down in this one, under numbers of its own. */
  readonly copies?: true;
  /** Whether the record knows this very ask and nobody has asked it yet. */
  holds(ask: Ask, digest: string): boolean;
  /** At once when nothing has to be waited for. @throws Diverged when the record shows something else at this place */
  recall(ask: Ask, digest: string): Recalled | Promise<Recalled>;
  /** A recorded clock, random or uuid reading; undefined means live. */
  recallValue(name: ValueName, agent: string, turn: number, step: number | null): Json | undefined;
  /** @throws Diverged when the record of this turn holds steps that nobody asked for */
  finishTurn(turn: number): void;
}

/** A session without a past. */
export const liveSource: Source = {
  holds: () => false,
  recall: () => ({ kind: 'none' }),
  recallValue: () => undefined,
  finishTurn: () => {},
};
