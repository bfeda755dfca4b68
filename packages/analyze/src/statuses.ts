/**
 * Four answers to "did it go well", which are not the same: whether the call reached its end and came back, what the
 * answer says, how the step counts, and how the run ended. A failed tool does not fail a good run, and an error inside
 * of a successful answer is seen.
 */
import { ErrorCode, type ErrorRecord, isRetryable } from '@chassis/errors';
import type { SessionView, Step } from '@chassis/journal';
import { follow } from './pointer.ts';
import { failureInside } from './rules/looks.ts';

export interface Statuses {
  /** `retried`: it came back after at least one attempt that had failed. `open`: no end is on record. */
  readonly transport: 'ok' | 'retried' | 'failed' | 'open' | 'not started';
  /** What came back, as its own words have it; `none` when nothing did. */
  readonly meaning: 'ok' | 'failed' | 'none';
  /** The words, when it failed. */
  readonly says?: string;
  readonly step: Step['status'];
  readonly run: SessionView['outcome'];
}

const onTheWay = new Set<number>([
  ErrorCode.ToolTimeout,
  ErrorCode.Unavailable,
  ErrorCode.Cancelled,
  ErrorCode.RateLimited,
  ErrorCode.OutcomeUnknown,
]);

const refused = new Set<number>([
  ErrorCode.PermissionDenied,
  ErrorCode.ApprovalDenied,
  ErrorCode.BudgetExceeded,
  ErrorCode.InvalidParams,
]);

/** The four statuses of a step. */
export function statuses(view: SessionView, step: Step): Statuses {
  const said = meaningOf(step);
  return { transport: transportOf(step), ...said, step: step.status, run: view.outcome };
}

function transportOf(step: Step): Statuses['transport'] {
  const { error, attempts, seq } = step;
  if (isOpen(step)) return 'open';
  if (seq.dispatched === undefined && error && refused.has(error.code)) return 'not started';
  if (step.status === 'timeout' || step.status === 'cancelled' || step.status === 'unknown') return 'failed';
  if (error && (onTheWay.has(error.code) || isRetryable(error))) return 'failed';
  return attempts.some((attempt) => attempt.error !== undefined) ? 'retried' : 'ok';
}

function meaningOf(step: Step): Pick<Statuses, 'meaning' | 'says'> {
  const { error } = step;
  if (step.status === 'ok') {
    const inside = failureInside(step);
    return inside ? { meaning: 'failed', says: inside.text } : { meaning: 'ok' };
  }
  const transport = transportOf(step);
  if (transport !== 'ok' && transport !== 'retried') return { meaning: 'none' };
  if (!error || (error.code === ErrorCode.InvalidOutput && issuesOf(error).length > 0))
    return { meaning: 'failed', says: 'the answer breaks its schema' };
  return { meaning: 'failed', says: error.message };
}

/** One complaint of a failed schema check. */
export interface Issue {
  readonly path: string;
  readonly message?: string;
  readonly expected?: string;
  readonly received?: string;
}

/** The issues that a failed schema check left in an error. */
export function issuesOf(error: ErrorRecord | undefined): readonly Issue[] {
  const issues = follow(error?.data, '/issues');
  if (!Array.isArray(issues)) return [];
  return issues.filter((issue): issue is Issue => typeof follow(issue, '/path') === 'string');
}

/** Whether a step's end is not on record. */
export function isOpen(step: Step): boolean {
  return step.status === 'started' || step.status === 'dispatched';
}

/** The four statuses on one line. */
export function statusText({ transport, meaning, says, step, run }: Statuses): string {
  const answer =
    meaning === 'failed' ? `answer says failed${says === undefined ? '' : `: ${says}`}` : `answer ${meaning}`;
  return `transport ${transport} · ${answer} · step ${step} · run ${run}`;
}
