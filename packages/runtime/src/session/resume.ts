/**
 * What happens to a turn that was cut: it is taken up again, or closed.
 *
 * Promise: a call that had not been dispatched runs; one that may be repeated runs again under its key; any other is never
 * repeated silently. All of it is on record as events.
 */
import { ChassisError, ErrorCode } from '@chassis/errors';
import { type Step, stepsFrom, unfinishedSteps, type Writer } from '@chassis/journal';
import { isUnavailable, type Registry } from '../capability.ts';
import { outcomeUnknown } from '../gate/gate.ts';

/** Failures that lie outside the run: with the world set right, the same question is worth asking again. */
const passing = new Set<number>([
  ErrorCode.ModelError,
  ErrorCode.RateLimited,
  ErrorCode.Unavailable,
  ErrorCode.Unauthorized,
  ErrorCode.BudgetExceeded,
  ErrorCode.ToolTimeout,
  ErrorCode.ApprovalDenied,
  ErrorCode.PermissionDenied,
]);

/** Takes up the last turn. @returns its number @throws InvalidParams when there is nothing to go on with */
export function reopenTurn(writer: Writer, registry: Registry): number {
  const { view } = writer;
  const turn = view.turns.at(-1);
  if (turn === undefined)
    throw new ChassisError('InvalidParams', `session ${view.header.id} has no turn yet`);
  if (turn.outcome === 'ok')
    throw new ChassisError(
      'InvalidParams',
      `session ${view.header.id} has ended: go on with chassis run --session ${view.header.id} "…", or fork it`,
    );
  const steps = stepsFrom(view, turn.number).filter((step) => step.turn === turn.number);
  const rerun: number[] = [];
  for (const step of steps) {
    if (step.status !== 'cancelled') continue;
    if (step.seq.dispatched === undefined || isRepeatable(step, registry)) rerun.push(step.number);
    else closeAsUnknown(writer, step);
  }
  const last = steps.findLast((step) => step.parent === null);
  if (turn.outcome === 'failed') {
    if (
      last?.error === undefined ||
      !passing.has(last.error.code) ||
      !(notDispatched(last) || isRepeatable(last, registry))
    )
      throw new ChassisError(
        'InvalidParams',
        `session ${view.header.id} failed for a reason that repeating does not change: chassis why ${view.header.id}, then fork it`,
      );
    rerun.push(last.number);
  }
  writer.append('session.resumed', { reason: turn.outcome ?? 'interrupted', rerun });
  return turn.number;
}

/** Closes what an interrupted turn left open, so that every call has exactly one result. */
export function closeOpenSteps(writer: Writer): void {
  const { view } = writer;
  const turn = view.turns.at(-1);
  if (turn === undefined || turn.outcome !== undefined) return;
  const open = unfinishedSteps(view);
  for (const step of open) {
    if (step.kind === 'tool' && step.seq.dispatched !== undefined) closeAsUnknown(writer, step);
    else
      writer.append(
        'step.finished',
        {
          status: 'cancelled',
          error: new ChassisError('Cancelled', 'the run was interrupted before this step ended').record(),
          duration_ms: 0,
          attempts: step.attempts.length,
        },
        step.number,
      );
  }
  writer.append('session.repaired', { problems: [], steps: open.map((step) => step.number) });
  writer.append('session.ended', { outcome: 'interrupted', turn: turn.number });
}

function closeAsUnknown(writer: Writer, step: Step): void {
  writer.append(
    'step.finished',
    {
      status: 'unknown',
      error: outcomeUnknown(step.name).record(),
      duration_ms: 0,
      attempts: step.attempts.length,
    },
    step.number,
  );
}

function notDispatched(step: Step): boolean {
  return step.seq.dispatched === undefined;
}

function isRepeatable(step: Step, registry: Registry): boolean {
  if (step.kind !== 'tool') return true;
  const binding = registry.resolveTool(step.name);
  if (isUnavailable(binding)) return false;
  const { effects, idempotent } = binding.definition;
  return effects === 'none' || effects === 'read' || idempotent;
}
