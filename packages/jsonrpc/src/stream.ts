/**
 * A call whose progress is an async iterable.
 *
 * Promise: every progress message is seen once and in order, then the result. A reader that falls too far
 * behind ends the call instead of filling memory.
 */
import type { CallOptions } from './call.ts';
import { ErrorCode, RpcError } from './errors.ts';

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
  const waiting: unknown[] = [];
  const stop = new AbortController();
  let wake = (): void => {};
  let over = false;
  const onProgress = (data: unknown): void => {
    options.onProgress?.(data);
    if (waiting.length >= maxBehind) {
      stop.abort(
        new RpcError(ErrorCode.RateLimited, `more than ${maxBehind} progress messages were not read`),
      );
      return;
    }
    waiting.push(data);
    wake();
  };
  const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal;
  const result = call({ onProgress, signal }).finally(() => {
    over = true;
    wake();
  });
  result.catch(() => {}); // also reported by the iteration; nobody has to look at both
  async function* iterate(): AsyncGenerator<unknown> {
    try {
      for (;;) {
        while (waiting.length > 0) yield waiting.shift();
        if (over) break;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      await result;
    } finally {
      if (!over) stop.abort(new RpcError(ErrorCode.Cancelled, 'the reader left'));
    }
  }
  return { result, [Symbol.asyncIterator]: iterate };
}
