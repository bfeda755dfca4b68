/** Where a fork leaves its parent. */
import { ChassisError } from '@chassis/errors';
import { type Edit, getPointer, type SessionView } from '@chassis/journal';
import type { Json } from '@chassis/types';

export interface ForkPoint {
  /** The last event that both share: the end of the step. */
  readonly seq: number;
  /** Steps that had started and not finished there. */
  readonly rerun: readonly number[];
}

/** @throws InvalidParams when there is no such step, it has not finished, or an edit points nowhere */
export function forkPoint(view: SessionView, at: number, edits: readonly Edit[]): ForkPoint {
  const step = view.step(at);
  if (step === undefined)
    throw new ChassisError(
      'InvalidParams',
      `session ${view.header.id} has no step ${at}: it has ${range(view)}`,
    );
  const seq = step.seq.finished;
  if (seq === undefined)
    throw new ChassisError(
      'InvalidParams',
      `step ${at} has not finished: fork at an earlier step, or resume the session`,
    );
  for (const edit of edits)
    checkEdit(edit, { output: step.output ?? null, error: (step.error ?? null) as Json });
  const rerun = view.steps.filter(
    (other) => other.seq.started < seq && (other.seq.finished ?? Number.POSITIVE_INFINITY) > seq,
  );
  return { seq, rerun: rerun.map((other) => other.number) };
}

function range(view: SessionView): string {
  const { length } = view.steps;
  return length === 0 ? 'none' : length === 1 ? 'step 1 only' : `steps 1 to ${length}`;
}

function checkEdit(edit: Edit, step: { readonly [member: string]: Json }): void {
  if (edit.path === '/output') return;
  if (!edit.path.startsWith('/output/'))
    throw new ChassisError(
      'InvalidParams',
      `an edit changes what a step answered, so its path begins with /output; this one is ${edit.path}`,
    );
  const parent = edit.path.slice(0, edit.path.lastIndexOf('/'));
  getPointer(step as Json, parent);
}
