/**
 * Two runs compared step by step: what is the same, where they part, what it came to.
 *
 * Promise: `diff(a, a)` finds nothing. Times, durations, ids of the sessions and idempotency keys are no differences.
 */
import type { SessionView, Step } from '@chassis/journal';
import type { Json } from '@chassis/types';
import { align, type Pair, sameInput } from './align.ts';
import { type Cost, totalCost } from './cost.ts';
import { type Difference, firstDifference } from './difference.ts';
import { hold } from './hold.ts';
import { requestOf } from './place.ts';

/** One step of both runs, or of one. */
export interface Row {
  /** Step numbers; null where the run has no such step. */
  readonly a: number | null;
  readonly b: number | null;
  readonly kind: Step['kind'];
  readonly name: string;
  readonly change: 'same' | 'changed' | 'only_a' | 'only_b';
  /** The first difference within the step: `/input…`, `/output…`, `/error…` or `/status`. */
  readonly difference?: Difference;
}

export interface RunSummary {
  readonly session: string;
  readonly outcome: SessionView['outcome'];
  readonly answer?: string;
  readonly steps: number;
  readonly cost: Cost;
}

export interface Diff {
  /** How many leading steps are the same in both runs. */
  readonly same: number;
  /** The rows after those; all of them, also the same ones. */
  readonly rows: readonly Row[];
  /** The first row that is not the same; null when the runs do not differ. */
  readonly first: Row | null;
  /** Where the ends differ: `/outcome` or `/answer`; null when they do not. */
  readonly end: Difference | null;
  readonly a: RunSummary;
  readonly b: RunSummary;
}

/** Compares two runs; `a` is what is expected, `b` what came. */
export function diff(givenA: SessionView, givenB: SessionView): Diff {
  const [a, b] = [hold(givenA), hold(givenB)];
  const differing: Differing = new Map();
  const rows = align(a, b).map((pair) => rowOf(a, b, pair, differing));
  const index = rows.findIndex(({ change }) => change !== 'same');
  const same = index < 0 ? rows.length : index;
  const [endA, endB] = [summary(a), summary(b)];
  return {
    same,
    rows: rows.slice(same),
    first: rows[index] ?? null,
    end: firstDifference(ending(endA), ending(endB)),
    a: endA,
    b: endB,
  };
}

function rowOf(viewA: SessionView, viewB: SessionView, { a, b }: Pair, differing: Differing): Row {
  const step = a ?? b;
  if (!step) throw new TypeError('a pair of no steps');
  const row = { a: a?.number ?? null, b: b?.number ?? null, kind: step.kind, name: step.name };
  if (!a || !b) return { ...row, change: a ? 'only_a' : 'only_b' };
  const difference = inputDifference(viewA, a, viewB, b, differing) ?? outcomeDifference(a, b);
  return difference ? { ...row, change: 'changed', difference } : { ...row, change: 'same' };
}

/** Requests that differ, by the step in `a`: what the next ones keep of them differs in the same place. */
type Differing = Map<number, { readonly b: number; readonly difference: Difference }>;

function inputDifference(
  viewA: SessionView,
  a: Step,
  viewB: SessionView,
  b: Step,
  differing: Differing,
): Difference | null {
  if (sameInput(viewA, a, viewB, b)) return null;
  if (a.kind !== 'model') return firstDifference(a.input, b.input, '/input');
  const difference =
    kept(viewA, a, viewB, b, differing) ??
    firstDifference(requestOf(viewA, a.number), requestOf(viewB, b.number), '/input');
  if (difference) differing.set(a.number, { b: b.number, difference });
  return difference;
}

/** The difference of the requests before, when both still hold the messages in which it is. */
function kept(
  viewA: SessionView,
  a: Step,
  viewB: SessionView,
  b: Step,
  differing: Differing,
): Difference | undefined {
  const [deltaA, deltaB] = [viewA.delta?.(a.number), viewB.delta?.(b.number)];
  const before = deltaA?.from == null ? undefined : differing.get(deltaA.from);
  if (!deltaA || !deltaB || before?.b !== deltaB.from) return undefined;
  const index = /^\/input\/messages\/(\d+)/.exec(before?.difference.path ?? '')?.[1];
  return index !== undefined && Number(index) < Math.min(deltaA.keep, deltaB.keep)
    ? before?.difference
    : undefined;
}

/** What came of a step; for a model the message and why it stopped, not what it cost. */
function outcomeDifference(a: Step, b: Step): Difference | null {
  if (a.status !== b.status) return { path: '/status', expected: a.status, actual: b.status };
  return (
    firstDifference(answerOf(a), answerOf(b), '/output') ?? firstDifference(errorOf(a), errorOf(b), '/error')
  );
}

function answerOf({ kind, output }: Step): unknown {
  if (kind !== 'model' || typeof output !== 'object' || output === null) return output;
  const { message, finish_reason } = output as { message?: Json; finish_reason?: Json };
  return { message, finish_reason };
}

function errorOf({ error }: Step): unknown {
  return error && { code: error.code, message: error.message };
}

function summary(view: SessionView): RunSummary {
  const answer = view.turns.at(-1)?.answer;
  return {
    session: view.header.id,
    outcome: view.outcome,
    ...(answer === undefined ? {} : { answer }),
    steps: view.steps.length,
    cost: totalCost(view),
  };
}

function ending({ outcome, answer }: RunSummary): object {
  return { outcome, answer };
}
