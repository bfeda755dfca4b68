/**
 * A plugin that already runs somewhere, reached over WebSocket or HTTP.
 *
 * Promise: a server that cannot be reached, refuses us, or has forgotten us ends the connection at once with the reason, so
 * that the plugin is unavailable by that reason and is tried again. Headers are sent to the plugin's own
 * address only, and no value of theirs is in any message.
 */
import { ErrorCode } from '@chassis/errors';
import {
  type CloseReason,
  httpTransport,
  RpcError,
  type Transport,
  webSocketTransport,
} from '@chassis/jsonrpc';
import type { Diagnostics, HostOptions } from './host.ts';
import type { Link } from './link.ts';

export async function networkLink(options: HostOptions): Promise<Link> {
  const { url = '' } = options.entry.source.manifest;
  return /^wss?:/.test(url) ? webSocketLink(options, url) : httpLink(options, url);
}

export const NO_DIAGNOSTICS: Diagnostics = { pid: null, stderr: '', noise: [], noise_lines: 0 };

async function webSocketLink({ headers, entry }: HostOptions, url: string): Promise<Link> {
  const { WebSocket } = await import('ws');
  const socket = new WebSocket(url, {
    headers: { ...headers },
    handshakeTimeout: entry.source.manifest.deadlines.on_load_ms,
    // A header must not follow to wherever somebody points.
    followRedirects: false,
  });
  const transport = webSocketTransport(socket);
  return {
    transport,
    started: true,
    remote: true,
    explain: (reason) => at(url, reason),
    diagnostics: () => NO_DIAGNOSTICS,
    async end() {
      await transport.close();
      socket.terminate();
    },
  };
}

function httpLink({ headers, entry }: HostOptions, url: string): Link {
  const { protocol } = entry.source.manifest;
  let ended = false;
  const transport = new Endable((fail) =>
    httpTransport(url, {
      headers,
      // A server that knows the harness may call back; a bare one has no event stream.
      events: protocol === 'chassis',
      fetch: watchedFetch((reason) => {
        if (!ended) fail(reason);
      }),
    }),
  );
  return {
    transport,
    started: true,
    remote: true,
    explain: (reason) => at(url, reason),
    failed(error) {
      const forgotten =
        protocol === 'chassis' &&
        error instanceof RpcError &&
        error.code === ErrorCode.Unavailable &&
        (error.data as { kind?: unknown } | undefined)?.kind === undefined;
      if (forgotten) transport.fail({ kind: 'ended', message: error.message });
    },
    diagnostics: () => NO_DIAGNOSTICS,
    async end() {
      ended = true;
      await transport.close();
    },
  };
}

/** `fetch` that follows no redirect and tells when the server cannot be reached at all. */
export function watchedFetch(
  fail: (reason: CloseReason) => void,
): (input: string | URL | Request, init?: RequestInit) => Promise<Response> {
  return async (input, init) => {
    try {
      return await fetch(input, { ...init, redirect: 'manual' });
    } catch (error) {
      // The call itself is answered first.
      if (init?.method === 'POST' && !init.signal?.aborted) setImmediate(() => fail(unreachable(error)));
      throw error;
    }
  };
}

function unreachable(error: unknown): CloseReason {
  const cause = (error as { cause?: { code?: string; message?: string } }).cause;
  return { kind: 'error', message: cause?.message || cause?.code || (error as Error).message };
}

function at(url: string, reason: CloseReason): CloseReason {
  return { ...reason, message: `the connection to ${url} is over: ${reason.message}` };
}

/** A transport without a connection of its own, which somebody else finds to be over. */
class Endable implements Transport {
  readonly #inner: Transport;
  #close: ((reason: CloseReason) => void) | undefined;

  constructor(make: (fail: (reason: CloseReason) => void) => Transport) {
    this.#inner = make((reason) => this.fail(reason));
  }

  start(...[sink, maxMessageBytes]: Parameters<Transport['start']>): void {
    let over = false;
    this.#close = (reason) => {
      if (!over) sink.closed(reason);
      over = true;
    };
    this.#inner.start({ ...bound(sink), closed: this.#close }, maxMessageBytes);
  }

  fail(reason: CloseReason): void {
    this.#close?.(reason);
    void this.#inner.close();
  }

  send(text: string, alone: boolean): boolean {
    return this.#inner.send(text, alone);
  }

  resume(): void {
    this.#inner.resume();
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}

type Sink = Parameters<Transport['start']>[0];

function bound(sink: Sink): Sink {
  return {
    message: (text) => sink.message(text),
    damaged: (damage) => sink.damaged(damage),
    drained: () => sink.drained(),
    ended: () => sink.ended(),
    closed: (reason) => sink.closed(reason),
  };
}
