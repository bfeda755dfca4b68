/**
 * One attempt at a live call: hand it to the plugin under a deadline, and wait for the answer, the deadline or the cancellation.
 */
import { ChassisError, toChassisError } from '@chassis/errors';
import type { InvokePayload, WireContext } from '@chassis/sdk';
import type { Result } from '@chassis/types';
import type { HostCalls, Invocation } from '../capability.ts';

interface Invocable {
  invoke(invocation: Invocation): Promise<Result>;
}

/** How long a cancelled plugin may take to say what it had (its usage so far), in milliseconds. */
const graceMs = 1000;

/**
 * @param timeoutMs milliseconds
 * @returns the plugin's Result when its code is 0
 * @throws the Result's error as a ChassisError; ToolTimeout; Cancelled; what `invoke` throws when the plugin broke
 */
export async function attempt(
  binding: Invocable,
  payload: InvokePayload,
  ctx: Omit<WireContext, 'deadline'>,
  host: HostCalls,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Result> {
  // One signal for both, by hand: AbortSignal.any costs more than all else in here.
  const stop = new AbortController();
  const either = stop.signal;
  let giveUp: (reason: ChassisError) => void = () => {};
  const stopped = new Promise<never>((_, reject) => {
    giveUp = reject;
  });
  const end = (reason?: unknown): void => {
    stop.abort(reason);
    timers.push(setTimeout(() => giveUp(new ChassisError('Cancelled', 'cancelled')), graceMs));
  };
  const timers = [setTimeout(end, timeoutMs)];
  const onCancel = (): void => end(signal.reason);
  if (signal.aborted) onCancel();
  else signal.addEventListener('abort', onCancel, { once: true });
  const running = binding.invoke({
    payload,
    ctx: { ...ctx, deadline: Date.now() + timeoutMs },
    signal: either,
    host,
  });
  // An answer after we stopped waiting is nobody's any more; without this it would count as unhandled.
  running.catch(() => {});
  try {
    const result = await Promise.race([running, stopped]);
    if (result.code === 0) return result;
    throw new ChassisError(result.code, result.error?.message ?? 'the plugin gave no reason', {
      data: result.error?.details,
    });
  } catch (thrown) {
    if (!either.aborted) throw thrown;
    // Whatever a plugin that was told to stop calls its end; what it knows of its usage is kept.
    if (signal.aborted)
      throw new ChassisError('Cancelled', 'cancelled', { data: toChassisError(thrown).data, cause: thrown });
    throw new ChassisError('ToolTimeout', `no answer within ${timeoutMs} ms`, {
      data: { timeout_ms: timeoutMs },
      cause: thrown,
    });
  } finally {
    for (const timer of timers) clearTimeout(timer);
    signal.removeEventListener('abort', onCancel);
  }
}
