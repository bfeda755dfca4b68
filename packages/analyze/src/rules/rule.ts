/**
 * What a suspicion rule is: one idea of what goes wrong in runs, looked for in the steps that led to a failure.
 *
 * A rule says only what the record shows at the place it names. How much that has to do with the failure is the
 * ranking's business. A rule knows no other rule.
 */
import type { SessionView, Step } from '@chassis/journal';
import type { Json } from '@chassis/types';
import type { Lineage } from '../lineage.ts';
import type { Survey, ToolUse } from '../survey.ts';
import type { Complaint, Symptom } from '../symptom.ts';

/** A value behind the failure, followed back to where it was born. */
export interface Trace {
  readonly complaint: Complaint;
  readonly lineage: Lineage;
}

export interface Evidence {
  readonly view: SessionView;
  /** A run of the same task that went well, when there is one to compare with. */
  readonly against?: SessionView;
  readonly symptom: Symptom;
  /** The steps that led to the symptom, itself included, in their order. */
  readonly steps: readonly Step[];
  readonly traces: readonly Trace[];
  /** The tools among the steps, with what their results look like. */
  readonly tools: readonly ToolUse[];
  readonly survey: Survey;
}

export interface Suspect {
  readonly step: number;
  readonly pointer?: string;
  /** The part of a text that it is about. */
  readonly range?: readonly [number, number];
  readonly value?: Json;
  /** An earlier step whose result this one repeats: what first stood there stands here as well. */
  readonly twin?: number;
  readonly text: string;
  /** How strongly this alone speaks for a cause, 0 to 1. */
  readonly score: number;
  /**
   * `value`: something wrong stands at the place. `missing`: something that should have been in sight was not.
   * `act`: what was done was wrong. `end`: the failure itself says why.
   */
  readonly kind: 'value' | 'missing' | 'act' | 'end';
}

/**
 * A rule that has to look into results is shown each of them once, in the order of the steps (`see`; `output` with the documents in its texts opened, `recorded` as it stands), and is given what
 * it took from them when it speaks: results are too many and too large to be held or read again for every rule.
 */
export interface Rule<T = unknown> {
  /** Stable name, for programs. */
  readonly name: string;
  see?(step: Step, output: Json | undefined, recorded: Json | undefined): T | undefined;
  find(evidence: Evidence, seen: Seen<T>): Iterable<Suspect>;
}

/** What a rule took from results, by the number of the step. */
export type Seen<T = unknown> = ReadonlyMap<number, T>;
