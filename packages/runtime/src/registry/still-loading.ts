/** "still loading: …" while a start lasts, after 2, 6, 14, 30 seconds and every half minute from then on. */
import type { StillLoading } from './options.ts';

/** A start that takes a moment is nothing to tell. */
const FIRST_MS = 2_000;

export async function untilLoaded(
  work: Promise<unknown>,
  tell: ((waiting: readonly StillLoading[]) => void) | undefined,
  loading: () => readonly StillLoading[],
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const again = (milliseconds: number): void => {
    timer = setTimeout(() => {
      const waiting = loading();
      if (waiting.length > 0) tell?.(waiting);
      again(Math.min(milliseconds * 2, 30_000));
    }, milliseconds);
  };
  if (tell !== undefined) again(FIRST_MS);
  try {
    await work;
  } finally {
    clearTimeout(timer);
  }
}
