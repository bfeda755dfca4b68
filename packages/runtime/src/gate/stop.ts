/**
 * Ends of calls, for less than an `AbortSignal` costs: making one and listening to it takes as long as the rest of a short call.
 */
import type { Abortable } from '@chassis/jsonrpc';

/** Aborts once. A real signal is made only if somebody asks for it: most handlers never look. */
export class Stop implements Abortable {
  aborted = false;
  reason: unknown;
  readonly #listeners = new Set<() => void>();
  #controller: AbortController | undefined;

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.aborted) this.#controller.abort(this.reason);
    }
    return this.#controller.signal;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.delete(listener);
  }

  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    this.#controller?.abort(reason);
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
  }
}

const listening = new WeakMap<AbortSignal, Set<(reason: unknown) => void>>();

/**
 * Calls back when a signal that many calls share is aborted. The signal itself has one listener for all of them, as long as it
 * lives.
 *
 * @returns takes the listener back
 */
export function whenAborted(signal: AbortSignal, listener: (reason: unknown) => void): () => void {
  let listeners = listening.get(signal);
  if (listeners === undefined) {
    const all = new Set<(reason: unknown) => void>();
    listeners = all;
    listening.set(signal, all);
    signal.addEventListener(
      'abort',
      () => {
        for (const each of all) each(signal.reason);
      },
      { once: true },
    );
  }
  const own = (reason: unknown): void => listener(reason);
  listeners.add(own);
  return () => void listeners.delete(own);
}
