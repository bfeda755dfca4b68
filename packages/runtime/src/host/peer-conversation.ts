/**
 * A conversation over our own JSON-RPC peer: with plugins that know the harness, and with bare servers that do not.
 *
 * Promise: the host's methods are offered from the first message on, so that a plugin may ask while it loads.
 */
import { Peer } from '@chassis/jsonrpc';
import type { JsonObject } from '@chassis/types';
import type { Open } from './conversation.ts';
import { notStarted } from './ending.ts';
import type { Connect } from './link.ts';
import type { Protocol } from './protocol.ts';
import { WireCalls } from './wire-calls.ts';

export function overPeer(protocol: Protocol, connect: Connect): Open {
  return async (options) => {
    const calls = new WireCalls(options);
    const link = await connect(options);
    const peer = new Peer(link.transport, {
      timeoutMs: 0,
      discover: false,
      log: ({ level, message }) => options.log(level, message),
    });
    calls.offer(peer);
    const over = peer.closed.then((reason) => link.explain(reason));
    return {
      over,
      async load() {
        if (!link.started) throw notStarted(options, await over);
        return protocol.load(peer, options, link);
      },
      ready: () => protocol.ready(peer, link),
      async invoke(invocation) {
        const asked = calls.begin(invocation);
        try {
          return await protocol.invoke(peer, invocation, (data) => asked.progress(data as JsonObject));
        } catch (error) {
          link.failed?.(error);
          throw error;
        } finally {
          calls.end(invocation);
        }
      },
      shutdown: () => protocol.shutdown(peer),
      async end() {
        await Promise.all([link.end(), peer.close('the harness closed the plugin')]);
      },
      onOffer() {},
      diagnostics: () => link.diagnostics(),
    };
  };
}
