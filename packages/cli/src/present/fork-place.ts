/** Where a fork leaves its parent, in words. */

/** @param step the last one that both share; 0 without one */
export function forkedBehind(step: number): string {
  return step === 0 ? 'before its first step' : `behind step ${step}`;
}

/** The same for a fork that is being made: when what step `at` was asked is edited, that step runs anew. */
export function forkedAt(
  at: number,
  edits: readonly { readonly path: string }[],
  message: string | undefined,
): string {
  if (message !== undefined) return `before the turn of step ${at}`;
  return edits.some(({ path }) => /^\/input(\/|$)/.test(path))
    ? `before step ${at}, which runs anew`
    : `behind step ${at}`;
}
