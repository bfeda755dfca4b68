/** What is computed from a step is computed once per view, and again only when the view has grown. */
import type { SessionView } from '@chassis/journal';

/** A function of a view and a step that remembers its answers for as long as the view lives and stays as it is. */
export function perStep<T>(
  compute: (view: SessionView, step: number) => T,
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
      known.values.set(step, entry);
    }
    return entry.value;
  };
}
