import { ChassisError, type ErrorName } from '@chassis/errors';
import type { SessionView, Step } from '@chassis/journal';
import { describe, expect, it } from 'vitest';
import { exitOfRun } from './exit-of-run.ts';

const viewWith = (step?: Partial<Step>): SessionView =>
  ({ step: (number: number) => (number === 3 ? step : undefined) }) as unknown as SessionView;
const failed = (code: ErrorName) =>
  ({ outcome: 'failed', error: new ChassisError(code, 'x').record() }) as const;

describe('the exit code of a run', () => {
  it('is 0 when it is done and 130 when it was cancelled', () => {
    expect(exitOfRun({ outcome: 'ok' }, viewWith())).toBe(0);
    expect(exitOfRun({ ...failed('Cancelled'), outcome: 'cancelled' }, viewWith())).toBe(130);
  });

  it.each([
    ['Unavailable', 3],
    ['ModelError', 3],
    ['Unauthorized', 3],
    ['RateLimited', 3],
    ['BudgetExceeded', 4],
    ['PermissionDenied', 4],
    ['ApprovalDenied', 4],
    ['InvalidParams', 1],
    ['Conflict', 1],
    ['InternalError', 1],
    ['ToolTimeout', 1],
  ] as const)('%s of a run is %i', (code, exit) => {
    expect(exitOfRun(failed(code), viewWith())).toBe(exit);
  });

  it('is 2 for a model that is read from a file with a mistake in it', () => {
    const error = new ChassisError('ModelError', 'x', { data: { at: 's.yaml:1:1' } }).record();
    expect(exitOfRun({ outcome: 'failed', error }, viewWith())).toBe(2);
  });

  it("is 1 for a tool's own failure, whatever its code, unless the tool is not there or was refused", () => {
    const at = { failed_step: 3 };
    const tool = { kind: 'tool', status: 'error' } as const;
    expect(exitOfRun({ ...failed('InvalidParams'), ...at }, viewWith(tool))).toBe(1);
    expect(exitOfRun({ ...failed('Unauthorized'), ...at }, viewWith(tool))).toBe(1);
    expect(exitOfRun({ ...failed('Unavailable'), ...at }, viewWith(tool))).toBe(3);
    expect(exitOfRun({ ...failed('ApprovalDenied'), ...at }, viewWith({ ...tool, status: 'denied' }))).toBe(
      4,
    );
  });
});
