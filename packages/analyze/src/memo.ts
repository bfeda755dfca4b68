/** What is computed from a step is computed once per view, and again only when the view has grown. */
import type { SessionView } from '@chassis/journal';

/**
 * A function of a view and a step that remembers its answers for as long as the view lives and stays as it is.
 * @param most how many answers are kept, the newest; all of them unless given
 */
export function perStep<T>(
  compute: (view: SessionView, step: number) => T,
  most = Number.POSITIVE_INFINITY,
): (view: SessionView, step: number) => T {
  const views = new WeakMap<
    SessionView,
    { readonly seq: number; readonly values: Map<number, { value: T }> }
  >();
  return (view, step) => {
    let known = views.get(view);
    if (known?.seq !== view.lastSeq) {
      known = { seq: view.lastSeq, values: new Map() };
      views.set(view, known);
    }
    let entry = known.values.get(step);
    if (!entry) {
      entry = { value: compute(view, step) };
      for (const oldest of known.values.keys()) {
        if (known.values.size < most) break;
        known.values.delete(oldest);
      }
      known.values.set(step, entry);
    }
    return entry.value;
  };
}
