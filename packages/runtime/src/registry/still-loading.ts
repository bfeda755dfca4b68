/** "still loading: …" while a start lasts, after 1, 3, 7, 15, 31 seconds and every half minute from then on. */
import type { StillLoading } from './options.ts';

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
  if (tell !== undefined) again(1_000);
  try {
    await work;
  } finally {
    clearTimeout(timer);
  }
}
