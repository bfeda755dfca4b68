/**
 * Which step of one run is which step of another.
 *
 * Steps are the same when agent, kind, name and input agree and they are the k-th such; the longest run of such pairs in
 * order is the frame. Between its bars steps of the same kind and name are paired in their order; the rest stands alone.
 */
import type { SessionView, Step } from '@chassis/journal';
import { canonical } from './json.ts';
import { requestOf } from './place.ts';

export interface Pair {
  readonly a: Step | null;
  readonly b: Step | null;
}

/** The steps of both runs, each once, in an order that both runs agree with. */
export function align(a: SessionView, b: SessionView): Pair[] {
  const frame = longestAscending(equalKeys(a, b));
  const pairs: Pair[] = [];
  let [fromA, fromB] = [0, 0];
  for (const [atA, atB] of [...frame, [a.steps.length, b.steps.length] as const]) {
    pairs.push(...between(a.steps.slice(fromA, atA), b.steps.slice(fromB, atB)));
    const [stepA, stepB] = [a.steps[atA], b.steps[atB]];
    if (stepA && stepB) pairs.push({ a: stepA, b: stepB });
    [fromA, fromB] = [atA + 1, atB + 1];
  }
  return pairs;
}

/** Whether two steps were given the same. */
export function sameInput(a: SessionView, stepA: Step, b: SessionView, stepB: Step): boolean {
  if (stepA.digest !== '' && stepA.digest === stepB.digest) return true;
  return inputKey(a, stepA) === inputKey(b, stepB);
}

function inputKey(view: SessionView, step: Step): string {
  if (step.kind !== 'model') return canonical(step.input);
  return step.digest === '' ? canonical(requestOf(view, step.number)) : step.digest;
}

/** Pairs of indices with equal keys, ascending in `a`. */
function equalKeys(a: SessionView, b: SessionView): [number, number][] {
  const places = new Map<string, number>();
  for (const [key, index] of keyed(b)) places.set(key, index);
  return keyed(a).flatMap(([key, index]): [number, number][] => {
    const other = places.get(key);
    return other === undefined ? [] : [[index, other]];
  });
}

function keyed(view: SessionView): [string, number][] {
  const counts = new Map<string, number>();
  return view.steps.map((step, index) => {
    const key = `${step.agent} ${step.kind} ${step.name} ${inputKey(view, step)}`;
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    return [`${count} ${key}`, index];
  });
}

/** The longest subsequence that ascends in both numbers (patience sorting). */
function longestAscending(pairs: readonly (readonly [number, number])[]): (readonly [number, number])[] {
  const tails: number[] = [];
  const before: number[] = [];
  const second = (index: number | undefined): number => pairs[index ?? -1]?.[1] ?? -1;
  for (const [index, [, value]] of pairs.entries()) {
    let [low, high] = [0, tails.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (second(tails[middle]) < value) low = middle + 1;
      else high = middle;
    }
    before[index] = low > 0 ? (tails[low - 1] ?? -1) : -1;
    tails[low] = index;
  }
  const found: (readonly [number, number])[] = [];
  for (let at = tails.at(-1) ?? -1; at >= 0; at = before[at] ?? -1) {
    const pair = pairs[at];
    if (pair) found.push(pair);
  }
  return found.reverse();
}

/** Steps between two bars of the frame: the k-th of a kind and name with the k-th, what is left over alone. */
function between(a: readonly Step[], b: readonly Step[]): Pair[] {
  const waiting = [...b];
  const pairs: Pair[] = [];
  for (const step of a) {
    const index = waiting.findIndex(
      (other) => other.kind === step.kind && other.name === step.name && other.agent === step.agent,
    );
    if (index < 0) {
      pairs.push({ a: step, b: null });
      continue;
    }
    pairs.push(...waiting.splice(0, index).map((other): Pair => ({ a: null, b: other })));
    pairs.push({ a: step, b: waiting.shift() ?? null });
  }
  return [...pairs, ...waiting.map((other): Pair => ({ a: null, b: other }))];
}
