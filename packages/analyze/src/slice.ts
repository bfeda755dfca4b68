/**
 * The backward slice: every step that the record says a step depends on.
 *
 * Only recorded edges are walked (and those to a summary that stands word for word in a request), so a step that is left
 * out did not lead here. What ran inside a step whose result
 * mattered belongs to it; of a step that merely encloses, only what led to it does.
 */
import type { SessionView } from '@chassis/journal';
import { leadersOf } from './edges.ts';
import { childrenOf } from './holders.ts';

/** The numbers of the steps in the slice, ascending, the step itself included; empty when there is no such step. */
export function slice(view: SessionView, step: number): number[] {
  const part = new Uint8Array(view.steps.length + 1);
  const queue = [step];
  // A queued number below zero: of that step only what led to it counts, not what ran inside.
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const whole = next > 0;
    const at = view.step(Math.abs(next));
    if (!at || (part[at.number] ?? 0) >= (whole ? 2 : 1)) continue;
    part[at.number] = whole ? 2 : 1;
    for (const on of leadersOf(view, at)) queue.push(on === at.parent ? -on : on);
    if (whole) for (const { number } of childrenOf(view, at.number)) queue.push(number);
  }
  const numbers: number[] = [];
  for (let number = 1; number < part.length; number++) if (part[number] !== 0) numbers.push(number);
  return numbers;
}
