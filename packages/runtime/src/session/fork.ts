/** Where a fork leaves its parent. */
import { ChassisError, toChassisError } from '@chassis/errors';
import { type Edit, type SessionView, type Step, setPointer } from '@chassis/journal';
import type { Json, ModelResponse } from '@chassis/types';
import { checkModelResponse } from '../gate/checks.ts';

export interface ForkPoint {
  /** The last event that both share. */
  readonly seq: number;
  /** The last step that both share; 0 without one. */
  readonly step: number;
  /** Turn that the fork goes on with. */
  readonly turn: number;
}

/**
 * Behind a step; before it when the edits change what it is asked, because it runs anew then.
 * @throws InvalidParams when there is no such step, it has not finished, or an edit points nowhere
 */
export function forkPoint(view: SessionView, at: number, edits: readonly Edit[]): ForkPoint {
  const step = view.step(at);
  if (step === undefined)
    throw new ChassisError(
      'InvalidParams',
      `session ${view.header.id} has no step ${at}: it has ${range(view)}`,
    );
  const asked = edits.filter(isInput);
  if (asked.length > 0 && asked.length < edits.length)
    throw new ChassisError(
      'InvalidParams',
      `step ${at} runs anew when its input is edited, so its output cannot be edited as well: leave one of them out`,
    );
  const seq = asked.length > 0 ? step.seq.started - 1 : endOf(view, at, step.seq.finished);
  if (seq === undefined)
    throw new ChassisError(
      'InvalidParams',
      `step ${at} has not finished: fork at an earlier step, or resume the session`,
    );
  if (asked.length === 0 && edits.length > 0) checkAnswer(step, edits);
  return { seq, step: asked.length > 0 ? at - 1 : at, turn: step.turn };
}

/** In a fork the step it left behind is edited by what stands behind the shared past: session.opened and session.forked. */
function endOf(
  { header, lastSeq }: SessionView,
  at: number,
  finished: number | undefined,
): number | undefined {
  const { parent } = header;
  return parent?.step === at && finished !== undefined ? Math.min(lastSeq, parent.seq + 2) : finished;
}

/** Before a turn, for one that begins with other words. @throws InvalidParams when there is no such turn */
export function beforeTurn(view: SessionView, at: number, started: number): ForkPoint {
  const step = view.step(at);
  if (step === undefined)
    throw new ChassisError(
      'InvalidParams',
      `session ${view.header.id} has no step ${at}: it has ${range(view)}`,
    );
  const earlier =
    view.marks?.before(step.turn) ?? view.steps.findLast((other) => other.turn < step.turn)?.number;
  return { seq: started - 1, step: earlier ?? 0, turn: step.turn };
}

/** Whether an edit changes what a step is asked. */
export function isInput({ path }: Edit): boolean {
  return path === '/input' || path.startsWith('/input/');
}

function range(view: SessionView): string {
  const { length } = view.steps;
  return length === 0 ? 'none' : length === 1 ? 'step 1 only' : `steps 1 to ${length}`;
}

/** Makes the edits, to see whether there is such a place, and whether an agent can read what comes of it. */
function checkAnswer(step: Step, edits: readonly Edit[]): void {
  let edited: Json = { output: step.output ?? null };
  for (const { path, value } of edits) {
    if (path !== '/output' && !path.startsWith('/output/'))
      throw new ChassisError(
        'InvalidParams',
        `an edit changes what a step was asked or what it answered, so its path begins with /input or /output; this one is ${path}`,
      );
    edited = setPointer(edited, path, value);
  }
  if (step.kind !== 'model') return;
  try {
    checkModelResponse((edited as { output: unknown }).output as ModelResponse);
  } catch (cause) {
    throw new ChassisError(
      'InvalidParams',
      `step ${step.number} is a model's: ${toChassisError(cause).message}`,
      { cause },
    );
  }
}
