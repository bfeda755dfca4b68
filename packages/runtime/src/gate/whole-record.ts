/**
 * A record that has lost something is no measure for a run.
 *
 * Promise: a re-execution from it stops and says what the record lacks; the agent is never blamed for it.
 */
import { ChassisError } from '@chassis/errors';
import {
  describeProblem,
  isLoss,
  lostBlobIn,
  peek,
  type SessionView,
  type Step,
  type StepStatus,
} from '@chassis/journal';
import type { Outcome } from './ask.ts';

/** @throws DamagedRecord when events or values of the record are known to be lost */
export function demandWhole(view: SessionView): void {
  const [first, ...more] = view.problems.filter(isLoss);
  if (first === undefined) return;
  const others = more.length === 0 ? '' : `, and ${more.length} more`;
  throw damaged(view, `${describeProblem(first)}${others}`);
}

/**
 * A recorded step as the outcome it was. Its output is made for whoever asked and not remembered by the view: a long
 * re-execution would keep all of them alive.
 * @throws DamagedRecord when a step's answer is not on record
 */
export function recordedOutcome(view: SessionView, step: Step): Outcome {
  const output = peek(step, 'output');
  const { number, status, error, usage } = step;
  const lost = lostBlobIn(output) ?? lostBlobIn(error);
  if (lost !== undefined)
    throw damaged(view, `it lacks blob ${lost.$blob.sha256}, an answer of ${named(step)}`);
  return {
    step: number,
    status: status as StepStatus,
    ...(output === undefined ? {} : { output }),
    ...(error === undefined ? {} : { error }),
    ...(usage === undefined ? {} : { usage }),
  };
}

/** @throws DamagedRecord when what a step was asked is not on record, so that nothing can be compared with it */
export function demandInput(view: SessionView, step: Step): void {
  const lost = lostBlobIn(step.input);
  if (lost !== undefined)
    throw damaged(view, `it lacks blob ${lost.$blob.sha256}, the input of ${named(step)}`);
  const [missing] = step.kind === 'model' ? (view.request(step.number).missing ?? []) : [];
  if (missing !== undefined) throw damaged(view, `of the request of ${named(step)}, ${missing}`);
}

function damaged(view: SessionView, what: string): ChassisError {
  const { id } = view.header;
  const fix = `chassis verify ${id}`;
  return new ChassisError('DamagedRecord', `the record is damaged: ${what}; ${fix} tells more`, {
    data: { session: id, problems: [...view.problems], fix },
  });
}

function named({ number, kind, name }: Step): string {
  return `step ${number} (${kind} ${name})`;
}
