/**
 * Which content each file had after a step, from the effects on record.
 *
 * Promise: pure; names only paths that a step changed, relative to the workspace.
 */
import type { SessionView, Step } from '@chassis/journal';
import type { FileForm } from '@chassis/types';

/** Starts the content hash of a file that held a secret: such a content is never kept. */
export const KEYED = 'keyed:';
/** Starts what stands for a content that was too large to be kept; its size in bytes follows. */
export const UNKEPT = 'unkept:';

export interface FileAt {
  readonly path: string;
  /** SHA-256 of the content; null where there was no file; `keyed:…` or `unkept:…` for one that was not kept. */
  readonly content: string | null;
  /** Mode, or that it is a link, as far as it was told. */
  readonly form?: FileForm;
  /** Some step found or left a link there, so that one which stands there now is the run's own. */
  readonly linked: boolean;
  /** The step that left it so; null when it is what stood there before the first change. */
  readonly step: number | null;
}

/** The files as they were when step `at` had finished; 0 is the state before the first step. Sorted by path. */
export function filesAt(view: SessionView, at: number): readonly FileAt[] {
  const end = at === 0 ? -1 : (view.step(at)?.seq.finished ?? view.lastSeq);
  const files = new Map<string, Omit<FileAt, 'linked'>>();
  const linked = new Set<string>();
  for (const step of byEnd(view)) {
    for (const effect of step.effects) {
      if (effect.kind !== 'file') continue;
      const { path, before, before_form, after, after_form } = effect;
      if (before_form?.link === true || after_form?.link === true) linked.add(path);
      if ((step.seq.finished ?? 0) <= end)
        files.set(path, { path, content: after, ...formOf(after_form), step: step.number });
      else if (!files.has(path))
        files.set(path, { path, content: before, ...formOf(before_form), step: null });
    }
  }
  return [...files.values()]
    .map((file) => ({ ...file, linked: linked.has(file.path) }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Effects that cannot be taken back: what steps behind `at` did outside of files. */
export function undoneNever(view: SessionView, at: number): readonly Step[] {
  return view.steps.filter(
    (step) => step.number > at && step.effects.some((effect) => effect.kind !== 'file'),
  );
}

function formOf(form: FileForm | undefined): Pick<FileAt, 'form'> {
  return form === undefined ? {} : { form };
}

function byEnd(view: SessionView): readonly Step[] {
  return view.steps
    .filter((step) => step.seq.finished !== undefined && step.effects.length > 0)
    .sort((a, b) => (a.seq.finished ?? 0) - (b.seq.finished ?? 0));
}
