/**
 * What a suspicion rule is: one idea of what goes wrong in runs, looked for in the steps that led to a failure.
 *
 * A rule says only what the record shows at the place it names. How much that has to do with the failure is the
 * ranking's business. A rule knows no other rule.
 */
import type { SessionView, Step } from '@chassis/journal';
import type { Json } from '@chassis/types';
import type { Lineage } from '../lineage.ts';
import type { Complaint, Symptom } from '../symptom.ts';

/** A value behind the failure, followed back to where it was born. */
export interface Trace {
  readonly complaint: Complaint;
  readonly lineage: Lineage;
}

export interface Evidence {
  readonly view: SessionView;
  readonly symptom: Symptom;
  /** The steps that led to the symptom, itself included, in their order. */
  readonly steps: readonly Step[];
  readonly traces: readonly Trace[];
}

export interface Suspect {
  readonly step: number;
  readonly pointer?: string;
  /** The part of a text that it is about. */
  readonly range?: readonly [number, number];
  readonly value?: Json;
  readonly text: string;
  /** How strongly this alone speaks for a cause, 0 to 1. */
  readonly score: number;
  /**
   * `value`: something wrong stands at the place. `missing`: something that should have been in sight was not.
   * `act`: what was done was wrong. `end`: the failure itself says why.
   */
  readonly kind: 'value' | 'missing' | 'act' | 'end';
}

export interface Rule {
  /** Stable name, for programs. */
  readonly name: string;
  find(evidence: Evidence): Iterable<Suspect>;
}

/** The tool steps of the slice by name, in their order. */
export function byTool(steps: readonly Step[]): Map<string, Step[]> {
  const groups = new Map<string, Step[]>();
  for (const step of steps) {
    if (step.kind !== 'tool') continue;
    const group = groups.get(step.name);
    if (group) group.push(step);
    else groups.set(step.name, [step]);
  }
  return groups;
}
