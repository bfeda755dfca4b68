/** What the record holds that comes nearest to an ask it does not hold: for the report of a divergence, never for an answer. */
import { firstDifference } from '@chassis/analyze';
import type { SessionView, Step } from '@chassis/journal';
import type { Json } from '@chassis/types';
import { type Ask, inputOf } from './ask.ts';

export interface Candidate {
  readonly step: number;
  readonly name: string;
  /** JSON Pointer into the step, where the ask differs first; empty when only the place or the occurrence does. */
  readonly path: string;
  readonly expected: Json;
  readonly actual: Json;
}

/** Candidates that are looked at: a long run has thousands of calls of one tool, and this only explains. */
const most = 200;

/** @param near number of the step that should have come; candidates near to it win a tie */
export function nearestRecorded(view: SessionView, ask: Ask, near: number | null): Candidate | null {
  const centre = near ?? view.steps.length;
  const same = view.steps.filter((step) => step.kind === ask.kind);
  const named = same.filter((step) => step.name === ask.name);
  const candidates = (named.length > 0 ? named : same)
    .toSorted((a, b) => Math.abs(a.number - centre) - Math.abs(b.number - centre))
    .slice(0, most);
  const wanted = leaves(inputOf(ask));
  let best: { step: Step; likeness: number } | undefined;
  for (const step of candidates) {
    const likeness = sharedOf(wanted, leaves(recordedInput(view, step)));
    if (best === undefined || likeness > best.likeness) best = { step, likeness };
  }
  if (best === undefined) return null;
  const { step } = best;
  if (step.name !== ask.name && ask.kind !== 'model')
    return { step: step.number, name: step.name, path: '/name', expected: step.name, actual: ask.name };
  const difference = firstDifference(recordedInput(view, step), inputOf(ask));
  return {
    step: step.number,
    name: step.name,
    path: difference === null ? '' : `/input${difference.path}`,
    expected: difference?.expected ?? null,
    actual: difference?.actual ?? null,
  };
}

/** What a step was asked, whole. */
export function recordedInput(view: SessionView, step: Step): Json {
  return step.kind === 'model' ? (view.request(step.number) as unknown as Json) : step.input;
}

/** Every scalar with its path. */
function leaves(value: Json, at = '', into = new Set<string>()): Set<string> {
  if (typeof value !== 'object' || value === null) into.add(`${at}=${String(value)}`);
  else for (const [key, member] of Object.entries(value)) leaves(member as Json, `${at}/${key}`, into);
  return into;
}

/** Share of scalars that both have, 0 to 1. */
function sharedOf(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const shared = a.intersection(b).size;
  return shared / Math.max(1, a.size + b.size - shared);
}
