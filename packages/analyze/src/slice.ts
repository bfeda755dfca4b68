/**
 * The backward slice: every step that the record says a step depends on.
 *
 * Only recorded edges are walked, so a step that is left out did not lead here. What ran inside a step whose result
 * mattered belongs to it; of a step that merely encloses, only what led to it does.
 */
import type { SessionView, Step } from '@chassis/journal';
import { leadersOf } from './edges.ts';

/** The numbers of the steps in the slice, ascending, the step itself included; empty when there is no such step. */
export function slice(view: SessionView, step: number): number[] {
  const inner = new Map<number, Step[]>();
  for (const child of view.steps) {
    if (child.parent === null) continue;
    const siblings = inner.get(child.parent);
    if (siblings) siblings.push(child);
    else inner.set(child.parent, [child]);
  }
  const whole = new Set<number>();
  const started = new Set<number>();
  const queue: { step: number; whole: boolean }[] = [{ step, whole: true }];
  for (let next = queue.pop(); next; next = queue.pop()) {
    const at = view.step(next.step);
    if (!at || whole.has(at.number) || (!next.whole && started.has(at.number))) continue;
    (next.whole ? whole : started).add(at.number);
    for (const on of leadersOf(view, at)) queue.push({ step: on, whole: on !== at.parent });
    if (next.whole)
      for (const child of inner.get(at.number) ?? []) queue.push({ step: child.number, whole: true });
  }
  return [...new Set([...whole, ...started])].sort((a, b) => a - b);
}
