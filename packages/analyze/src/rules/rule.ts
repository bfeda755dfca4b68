/**
 * What a suspicion rule is: one idea of what goes wrong in runs, looked for in the steps that led to a failure.
 *
 * A rule says only what the record shows at the place it names. How much that has to do with the failure is the
 * ranking's business. A rule knows no other rule.
 */
import type { SessionView, Step } from '@chassis/journal';
import type { Json } from '@chassis/types';
import { type Column, columnsOf } from '../columns.ts';
import type { Lineage } from '../lineage.ts';
import { inputKey, outcomeKey } from '../outcome.ts';
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
  /** The outputs of the steps. */
  readonly held: readonly unknown[];
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

/** One tool's part in the slice. */
export interface ToolUse {
  readonly name: string;
  /** Its steps, in their order. */
  readonly calls: readonly Step[];
  /** Calls with equal arguments and equal results, in the order of the first of each. */
  readonly groups: readonly (readonly Step[])[];
  /** The first of each group: a result that came twice says no more than once. */
  readonly fresh: readonly Step[];
  /** The results of the fresh calls that went well. */
  readonly columns: readonly Column[];
}

/** Calls with the same input are few; only they are compared by what came of them. */
function equalCalls(calls: readonly Step[]): Step[][] {
  const groups = [...Map.groupBy(calls, inputKey).values()].flatMap((same) =>
    same.length === 1 ? [same] : [...Map.groupBy(same, outcomeKey).values()],
  );
  return groups.sort((a, b) => (a[0]?.number ?? 0) - (b[0]?.number ?? 0));
}

const uses = new WeakMap<readonly Step[], readonly ToolUse[]>();

/** The tools of a slice, worked out once. */
export function toolsOf(steps: readonly Step[]): readonly ToolUse[] {
  const known = uses.get(steps);
  if (known) return known;
  const tools = Map.groupBy(
    steps.filter(({ kind }) => kind === 'tool'),
    ({ name }) => name,
  );
  const found = [...tools].map(([name, calls]): ToolUse => {
    const groups = equalCalls(calls);
    const fresh = groups.flatMap((same) => same[0] ?? []);
    const columns = columnsOf(fresh.filter(({ status }) => status === 'ok'));
    return { name, calls, groups, fresh, columns };
  });
  uses.set(steps, found);
  return found;
}
