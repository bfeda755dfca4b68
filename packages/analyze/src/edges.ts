/**
 * The causal graph of a session: which step depends on which.
 *
 * `recorded`: the record says it (causes, nesting, a call and its arguments, a result that stands whole as a tool
 * message in the request). `inferred`: concluded from equal bytes. One pass over the record.
 */
import type { SessionView, Step } from '@chassis/journal';
import { firstDifference } from './difference.ts';
import { hold } from './hold.ts';
import { leavesOf, parseDocument } from './json.ts';
import { addedOrigins, callOf, type Label } from './origins.ts';
import { addressOf, callsOf, type Place } from './place.ts';
import { isDistinctive } from './search.ts';
import { spotsOf } from './spots.ts';

export interface Edge {
  /** The step that depends on `on`. */
  readonly step: number;
  /** The earlier step (or, for `parent`, the enclosing one). */
  readonly on: number;
  readonly kind: 'cause' | 'parent' | 'data';
  readonly label: Label;
  /** For people; for data edges which place came from which. */
  readonly how: string;
}

/** All edges, in the order of the steps that depend. */
export function edges(given: SessionView): Edge[] {
  const view = hold(given);
  const seen = new Map<string, Place>();
  return view.steps.flatMap((step) => {
    const found = [...control(step), ...recordedData(view, step), ...copies(view, step, seen)];
    remember(step, seen);
    return found;
  });
}

/** The steps that the record says led to a step, without looking at data that can tell nothing more. */
export function leadersOf(view: SessionView, step: Step): readonly number[] {
  const known = step.parent === null ? step.causes : [...step.causes, step.parent];
  if (isCovered(view, step)) return known;
  const data = recordedData(view, step).filter(({ label }) => label === 'recorded');
  return [...known, ...data.map(({ on }) => on), ...summariesIn(view, step)];
}

/** The compactions whose summaries stand in a request: all that it knows of what they took out. */
function summariesIn(view: SessionView, step: Step): number[] {
  if (step.kind !== 'model') return [];
  return addedOrigins(view, step.number).flatMap(({ message, source }) =>
    source && message.role === 'user' ? [source.step.number] : [],
  );
}

/** Whether what a step was given is from its causes alone: the call that it is, or an answer and the results of its calls. */
function isCovered(view: SessionView, step: Step): boolean {
  const { causes, call_id } = step;
  if (step.kind !== 'model') {
    for (const number of causes) {
      const cause = view.step(number);
      if (cause?.kind === 'model') for (const { id } of callsOf(cause)) if (id === call_id) return true;
    }
    return false;
  }
  const asked = view.step(causes[0] ?? 0)?.causes[0];
  if (asked === undefined) return false;
  for (const number of causes) {
    const cause = view.step(number);
    if (cause?.kind !== 'tool' || !cause.causes.includes(asked)) return false;
  }
  const delta = view.delta?.(step.number);
  return delta !== undefined && delta.from === asked && delta.added === causes.length + 1;
}

function control(step: Step): Edge[] {
  const causes = step.causes.map(
    (on): Edge => ({ step: step.number, on, kind: 'cause', label: 'recorded', how: 'led to it' }),
  );
  if (step.parent === null) return causes;
  return [
    ...causes,
    { step: step.number, on: step.parent, kind: 'parent', label: 'recorded', how: 'runs inside' },
  ];
}

function recordedData(view: SessionView, step: Step): Edge[] {
  if (step.kind !== 'model') {
    const call = callOf(view, step);
    const text = call && parseDocument(call.text);
    if (!call || text === undefined || firstDifference(text, step.input)) return [];
    const how = `/input is ${addressOf({ step: call.model.number, pointer: call.pointer })}`;
    return [{ step: step.number, on: call.model.number, kind: 'data', label: 'recorded', how }];
  }
  return addedOrigins(view, step.number).flatMap(({ first, source }): Edge[] => {
    if (!source) return [];
    const how = `${first.pointer} is ${addressOf({ step: source.step.number, pointer: source.pointer })}`;
    return [{ step: step.number, on: source.step.number, kind: 'data', label: source.label, how }];
  });
}

/** Values that stand whole in an earlier result or answer: the first place that had them. */
function copies(view: SessionView, step: Step, seen: ReadonlyMap<string, Place>): Edge[] {
  const sources = new Map<number, Edge>();
  const roots =
    step.kind === 'model' ? callsOf(step).map((call) => call.pointer) : callOf(view, step) ? [] : ['/input'];
  for (const spot of roots.flatMap((root) => spotsOf(view, step.number, root))) {
    const place = isDistinctive(spot.text) ? seen.get(spot.text) : undefined;
    if (!place || sources.has(place.step)) continue;
    const how = `${addressOf(spot)} equals ${addressOf(place)}`;
    sources.set(place.step, { step: step.number, on: place.step, kind: 'data', label: 'inferred', how });
  }
  return [...sources.values()];
}

function remember(step: Step, seen: Map<string, Place>): void {
  if (step.kind === 'model') return;
  for (const leaf of leavesOf(step.output, '/output')) {
    if (isDistinctive(leaf.text) && !seen.has(leaf.text)) {
      seen.set(leaf.text, { step: step.number, pointer: leaf.pointer });
    }
  }
}
