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

/**
 * The numbers of the steps in the slice, ascending, the step itself included; empty when there is no such step.
 * @param most of a slice that has more steps the newest so many
 */
export function slice(view: SessionView, step: number, most = Number.POSITIVE_INFINITY): number[] {
  /** How much of a step counts: all of it, or only what led to it; by its number. */
  const asked = new Uint8Array(view.steps.length + 1);
  const done = new Uint8Array(view.steps.length + 1);
  const numbers: number[] = [];
  let next = 0;
  const ask = (number: number, part: number): void => {
    if ((asked[number] ?? part) >= part) return;
    asked[number] = part;
    next = Math.max(next, number);
  };
  ask(step, whole);
  for (; next > 0 && numbers.length < most; ) {
    const number = next--;
    const [part = 0, before = 0] = [asked[number], done[number]];
    const at = part > before ? view.step(number) : undefined;
    if (!at) continue;
    done[number] = part;
    if (before === 0) numbers.push(number);
    for (const on of leadersOf(view, at)) ask(on, on === at.parent ? edge : whole);
    if (part === whole) for (const child of childrenOf(view, number)) ask(child.number, whole);
  }
  return numbers.sort((a, b) => a - b);
}

/** Of a step that merely encloses, what led to it; of any other, what ran inside as well. */
const [edge, whole] = [1, 2];
