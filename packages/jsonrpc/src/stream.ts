/**
 * A call whose progress is an async iterable.
 *
 * Promise: every progress message is seen once and in order, then the result. A reader that falls too far
 * behind ends the call instead of filling memory.
 */
import type { CallOptions } from './call.ts';
import { ErrorCode, RpcError } from './errors.ts';

/** One iteration: readers of one stream share its pieces, and the first that leaves cancels the call. */
export interface ProgressStream<T> extends AsyncIterable<unknown> {
  /** The call's result; rejects as `peer.call` does. The iteration ends when it settles, and throws what it rejects with. */
  readonly result: Promise<T>;
}

/** Progress messages kept for a reader that is slower than the other side. */
const maxBehind = 65_536;

export function streamOf<T>(
  call: (more: CallOptions) => Promise<T>,
  options: CallOptions = {},
): ProgressStream<T> {
  let waiting: unknown[] = [];
  const stop = new AbortController();
  let wake = (): void => {};
  let over = false;
  const onProgress = (data: unknown): void => {
    if (waiting.length < maxBehind) {
      waiting.push(data);
      wake();
    } else {
      const message = `more than ${maxBehind} progress messages were not read`;
      stop.abort(new RpcError(ErrorCode.RateLimited, message));
    }
    options.onProgress?.(data);
  };
  const outer = options.signal;
  const onAbort = (): void => stop.abort(outer?.reason);
  outer?.addEventListener('abort', onAbort, { once: true });
  if (outer?.aborted) onAbort();
  const result = call({ onProgress, signal: stop.signal }).finally(() => {
    outer?.removeEventListener('abort', onAbort);
    over = true;
    wake();
  });
  result.catch(() => {}); // also reported by the iteration; nobody has to look at both
  let left = false;
  async function* pieces(): AsyncGenerator<unknown, void> {
    while (!left) {
      const arrived = waiting;
      waiting = [];
      for (const piece of arrived) {
        if (left) return;
        yield piece;
      }
      if (waiting.length > 0) continue;
      if (over || left) break;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    if (!left) await result;
  }
  const inner = pieces();
  // Not the generator itself: its `return` waits for a `next` that waits for the other side, and does nothing before the first.
  const iterator: AsyncIterableIterator<unknown> = {
    next: () => inner.next(),
    return: () => {
      left = true;
      waiting = [];
      if (!over) stop.abort(new RpcError(ErrorCode.Cancelled, 'the reader left'));
      wake();
      return inner.return();
    },
    [Symbol.asyncIterator]: () => iterator,
  };
  return { result, [Symbol.asyncIterator]: () => iterator };
}
