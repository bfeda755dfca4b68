/**
 * What is computed from a step is computed once per view, and forgotten with it.
 *
 * Only for views of a record that no longer grows under the reader: a view is a fold and never changes.
 */
import type { SessionView } from '@chassis/journal';

/** A function of a view and a step that remembers its answers. */
export function perStep<T>(
  compute: (view: SessionView, step: number) => T,
): (view: SessionView, step: number) => T {
  const views = new WeakMap<SessionView, Map<number, T>>();
  return (view, step) => {
    const known = views.get(view) ?? new Map<number, T>();
    views.set(view, known);
    const before = known.get(step);
    if (before !== undefined || known.has(step)) return before as T;
    const value = compute(view, step);
    known.set(step, value);
    return value;
  };
}
