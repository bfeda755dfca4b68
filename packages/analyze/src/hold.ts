/**
 * A view whose steps are all in hand: for whoever looks at all of them, time and again.
 *
 * The steps of a long session may be read from its log each time somebody looks; here they are read once.
 */
import type { SessionView } from '@chassis/journal';

const known = new WeakMap<SessionView, SessionView>();

/** The same view as it is now, with its steps read. */
export function hold(view: SessionView): SessionView {
  const before = known.get(view);
  if (before?.lastSeq === view.lastSeq) return before;
  const { header, turns, values, approvals, notes, lastSeq, problems, outcome } = view;
  const steps = Array.from(view.steps);
  const delta = view.delta?.bind(view);
  const held: SessionView = {
    ...{ header, turns, steps, values, approvals, notes, lastSeq, problems, outcome },
    step: (number) => steps[number - 1],
    request: (step) => view.request(step),
    ...(delta ? { delta } : {}),
  };
  known.set(view, held);
  // What is held already need not be held again.
  known.set(held, held);
  return held;
}
