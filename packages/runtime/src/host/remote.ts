/**
 * Plugins outside the harness's own thread: in a process, a thread of their own, or on another machine.
 *
 * Promise: when such a plugin dies, whoever waits knows at once, with exit code and last words. Hooks have
 * deadlines, invocations have the gate's. Its permissions are declared, not enforced.
 */
import { ChassisError, ErrorCode, toChassisError } from '@chassis/errors';
import type { CloseReason } from '@chassis/jsonrpc';
import { failure } from '@chassis/sdk';
import type { Result } from '@chassis/types';
import type { Invocation } from '../capability.ts';
import type { Conversation, Open } from './conversation.ts';
import { died, isEndOfConnection, lookAt, onTheWay, unserved } from './ending.ts';
import { type HostOptions, type Offer, PhaseError, type PluginHost, type Readiness, within } from './host.ts';

export function remoteHost(options: HostOptions, open: Open): PluginHost {
  const { entry, log } = options;
  const { deadlines } = entry.source.manifest;
  let conversation: Conversation | undefined;
  let over: CloseReason | undefined;
  let loaded = false;
  let closing: Promise<void> | undefined;
  let onOffer: ((offer: Offer) => void) | undefined;
  /** Came before somebody listened. */
  let early: Offer | undefined;
  let tellGone: (cause: ChassisError) => void = () => {};
  const gone = new Promise<ChassisError>((resolve) => {
    tellGone = resolve;
  });

  /** The connection's own error when it ended, as what happened to the plugin. */
  const asFailure = async (error: unknown): Promise<ChassisError> => {
    if (!isEndOfConnection(error)) return onTheWay(options, error);
    if (conversation !== undefined && closing === undefined) over ??= await conversation.over;
    return died(options, over ?? (error.data as CloseReason));
  };

  const begin = async (): Promise<Offer> => {
    const begun = await open(options);
    conversation = begun;
    begun.onOffer((offer) => {
      if (onOffer === undefined) early = offer;
      else onOffer(offer);
    });
    void begun.over.then((reason) => {
      over = reason;
      if (closing === undefined) tellGone(died(options, reason));
    });
    if (closing !== undefined) await begun.end();
    return begun.load();
  };

  const running = (): Conversation => {
    if (conversation !== undefined && over === undefined) return conversation;
    throw over === undefined
      ? new ChassisError('Unavailable', `plugin ${entry.name} is not running`)
      : died(options, over);
  };

  return {
    gone,

    async load() {
      try {
        const offer = await within(deadlines.on_load_ms, 'on_load', begin());
        loaded = true;
        return offer;
      } catch (error) {
        if (error instanceof PhaseError) throw error;
        const cause = await asFailure(error);
        const said = conversation?.diagnostics().stderr.trim().split('\n').at(-1);
        const late = cause.code === ErrorCode.ToolTimeout && said;
        const words = late
          ? `${cause.message}; it last said: ${said}`
          : `${cause.message}${unserved(options, over)}`;
        throw new PhaseError(
          'on_load',
          new ChassisError(cause.code, words, { data: cause.data, cause: error }),
          lookAt(options, cause),
        );
      }
    },

    async ready(): Promise<Readiness> {
      return within(deadlines.on_ready_ms, 'on_ready', running().ready());
    },

    async invoke(invocation: Invocation): Promise<Result> {
      const asked = running();
      try {
        return await asked.invoke(invocation);
      } catch (error) {
        if (invocation.stop.aborted) {
          return failure(new ChassisError('Cancelled', 'cancelled'), invocation.ctx.trace_id);
        }
        throw await asFailure(error);
      }
    },

    close() {
      closing ??= (async () => {
        if (loaded && over === undefined && conversation !== undefined) {
          try {
            await within(deadlines.on_shutdown_ms, 'on_shutdown', conversation.shutdown());
          } catch (error) {
            if (over === undefined) log('warn', `on_shutdown failed: ${toChassisError(error).message}`);
          }
        }
        await conversation?.end();
      })();
      return closing;
    },

    onOffer(listener) {
      onOffer = listener;
      if (early !== undefined) listener(early);
    },

    diagnostics: () => conversation?.diagnostics(),
  };
}
