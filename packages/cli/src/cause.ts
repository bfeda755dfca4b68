/** The step where a failure began, as `why` finds it. */
import { why } from '@chassis/analyze';
import type { SessionView } from '@chassis/journal';
import { usage } from './failure.ts';

/** @throws InvalidParams when nothing failed, or the record does not show where it began */
export function causeStep(view: SessionView): number {
  const { id } = view.header;
  const { cause, status } = why(view);
  if (cause !== undefined && cause.step > 0) return cause.step;
  throw usage(
    status === 'none'
      ? `no step of session ${id} failed`
      : `the record of session ${id} does not show where the failure began; chassis why ${id} lists the steps that led to it`,
  );
}
