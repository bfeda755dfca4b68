/** Ctrl-C: the first one cancels what runs, and the record says so; the second ends the process at once. */
import { ExitCode } from '@chassis/errors';
import type { Output } from './output.ts';

export interface Interrupts {
  /** Aborts with the first signal. */
  readonly signal: AbortSignal;
  /** As if Ctrl-C had come: for a question that takes the keys for itself. */
  interrupt(): void;
  end(): void;
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export function listenForInterrupts(out: Output): Interrupts {
  const controller = new AbortController();
  const listener = (signal: NodeJS.Signals): void => {
    if (controller.signal.aborted) process.exit(ExitCode.interrupted);
    out.note(signal === 'SIGINT' ? 'cancelling… (Ctrl-C again ends at once)' : 'cancelling…');
    controller.abort();
  };
  for (const signal of signals) process.on(signal, listener);
  return {
    signal: controller.signal,
    interrupt: () => listener('SIGINT'),
    end() {
      for (const signal of signals) process.off(signal, listener);
    },
  };
}
