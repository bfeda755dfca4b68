/**
 * Parts of a session without looking at all of it.
 *
 * Promise: of a long session only the steps that are asked for are read from its log; the answer is the same as that of a
 * filter over all of them.
 */
import type { SessionView, Step } from './step.ts';

/** Steps of a turn and of all later ones. */
export function stepsFrom(view: SessionView, turn: number): readonly Step[] {
  const steps: Step[] = [];
  for (let number = (view.marks?.before(turn) ?? 0) + 1; number <= view.steps.length; number++) {
    const step = view.step(number);
    if (step !== undefined && step.turn >= turn) steps.push(step);
  }
  return steps;
}

/** Steps that have not finished. */
export function unfinishedSteps(view: SessionView): readonly Step[] {
  return picked(view, view.marks?.unfinished()).filter((step) => step.seq.finished === undefined);
}

/** Steps that changed something in the world. */
export function changingSteps(view: SessionView): readonly Step[] {
  return picked(view, view.marks?.changing()).filter((step) => step.effects.length > 0);
}

/** State transitions. */
export function stateSteps(view: SessionView): readonly Step[] {
  return picked(view, view.marks?.states()).filter((step) => step.kind === 'state');
}

function picked(view: SessionView, numbers: readonly number[] | undefined): readonly Step[] {
  return numbers?.flatMap((number) => view.step(number) ?? []) ?? view.steps;
}
