/**
 * One attempt at a live call: hand it to the plugin under a deadline, and wait for the answer, the deadline or the cancellation.
 */
import { ChassisError, toChassisError } from '@chassis/errors';
import type { InvokePayload, WireContext } from '@chassis/sdk';
import type { Result } from '@chassis/types';
import type { HostCalls, Invocation } from '../capability.ts';
import { Stop, whenAborted } from './stop.ts';

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
  if (signal.aborted) throw new ChassisError('Cancelled', 'cancelled');
  const call = new Call(payload, { ...ctx, deadline: Date.now() + timeoutMs }, host);
  let giveUp: (reason: ChassisError) => void = () => {};
  let grace: NodeJS.Timeout | undefined;
  const end = (reason?: unknown): void => {
    call.stop.abort(reason);
    grace ??= setTimeout(() => giveUp(new ChassisError('Cancelled', 'cancelled')), graceMs);
  };
  const deadline = setTimeout(end, timeoutMs);
  const forget = whenAborted(signal, end);
  try {
    // By hand: Promise.race costs more. An answer after we stopped waiting is nobody's any more.
    const result = await new Promise<Result>((resolve, reject) => {
      giveUp = reject;
      binding.invoke(call).then(resolve, reject);
    });
    if (result.code === 0) return result;
    throw new ChassisError(result.code, result.error?.message ?? 'the plugin gave no reason', {
      data: result.error?.details,
    });
  } catch (thrown) {
    if (!call.stop.aborted) throw thrown;
    // Whatever a plugin that was told to stop calls its end; what it knows of its usage is kept.
    if (signal.aborted)
      throw new ChassisError('Cancelled', 'cancelled', { data: toChassisError(thrown).data, cause: thrown });
    throw new ChassisError('ToolTimeout', `no answer within ${timeoutMs} ms`, {
      data: { timeout_ms: timeoutMs },
      cause: thrown,
    });
  } finally {
    clearTimeout(deadline);
    clearTimeout(grace);
    forget();
  }
}

/** The call as the host gets it, with one end for deadline and cancellation. */
class Call implements Invocation {
  readonly payload: InvokePayload;
  readonly ctx: WireContext;
  readonly host: HostCalls;
  readonly stop = new Stop();

  constructor(payload: InvokePayload, ctx: WireContext, host: HostCalls) {
    this.payload = payload;
    this.ctx = ctx;
    this.host = host;
  }

  get signal(): AbortSignal {
    return this.stop.signal;
  }
}
