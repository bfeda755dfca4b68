/**
 * What carries the messages of an MCP client: our own guarded processes, and the packages' streamable HTTP.
 *
 * Promise: a number arrives as it was written, and what is no message goes to the log; the end is told once, with
 * exit code and last words. Every message passes the keeper of raw results.
 */
import { type CloseReason, type Transport as LineTransport, parseExact } from '@chassis/jsonrpc';
import {
  type JSONRPCMessage,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import type { Link } from '../link.ts';
import { watchedFetch } from '../network-link.ts';
import { marked, unmarked } from './exact-http.ts';
import type { RawResults } from './raw-results.ts';

const MAX_MESSAGE_BYTES = 64 << 20;

/** A transport with the reason of its end. */
export interface Carrier {
  readonly transport: Transport;
  readonly over: Promise<CloseReason>;
}

/** Over a started process. @param log told of what the server wrote that cannot be used */
export function overLines(link: Link, raw: RawResults, log: (line: string) => void): Carrier {
  const lines: LineTransport = link.transport;
  let end: (reason: CloseReason) => void = () => {};
  const over = new Promise<CloseReason>((resolve) => {
    end = resolve;
  });
  let open = true;
  let drained: (() => void)[] = [];
  const release = (): void => {
    const waiting = drained;
    drained = [];
    for (const goOn of waiting) goOn();
  };
  const hand = inOrder((message) => transport.onmessage?.(raw.incoming(message)));
  const transport: Transport & { readonly pid: number | null; readonly stderr: null } = {
    // By these two the client knows that silence means an older server, not an outage.
    pid: link.diagnostics().pid,
    stderr: null,
    async start() {
      lines.start(
        {
          message(text) {
            const message = messageIn(text);
            if (message === undefined) lines.noise?.(text);
            else hand(message);
            return true;
          },
          damaged({ message }) {
            log(message);
            return true;
          },
          drained: release,
          ended() {},
          closed(reason) {
            open = false;
            release();
            end(link.explain(reason));
            // What came before the end is heard before it.
            setImmediate(() => transport.onclose?.());
          },
        },
        MAX_MESSAGE_BYTES,
      );
    },
    async send(message) {
      raw.outgoing(message);
      if (!open) throw new Error('the connection is over');
      if (!lines.send(JSON.stringify(message), true)) await new Promise<void>((goOn) => drained.push(goOn));
    },
    close: () => lines.close(),
  };
  return { transport, over };
}

/** Over streamable HTTP. */
export function overHttp(url: string, headers: Readonly<Record<string, string>>, raw: RawResults): Carrier {
  let end: (reason: CloseReason) => void = () => {};
  const over = new Promise<CloseReason>((resolve) => {
    end = resolve;
  });
  let ended = false;
  const reach = watchedFetch((reason) => {
    if (ended) return;
    ended = true;
    end(reason);
    void inner.close();
  });
  const inner = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { ...headers } },
    fetch: async (input, init) => marked(await reach(input, init)),
  });
  const transport: Transport = {
    hasPerRequestStream: true,
    get sessionId() {
      return inner.sessionId;
    },
    setProtocolVersion: (version) => inner.setProtocolVersion(version),
    start() {
      inner.onmessage = inOrder((message) =>
        transport.onmessage?.(raw.incoming(unmarked(message) as JSONRPCMessage)),
      );
      inner.onerror = (error) => transport.onerror?.(error);
      inner.onclose = () => {
        ended = true;
        end({ kind: 'closed', message: 'this side closed the connection' });
        transport.onclose?.();
      };
      return inner.start();
    },
    send(message, options) {
      raw.outgoing(message);
      return inner.send(message, options as Parameters<typeof inner.send>[1]);
    },
    async close() {
      // A server keeps a session until it is told, or for good.
      if (!ended && inner.sessionId !== undefined) {
        await Promise.race([
          inner.terminateSession(),
          new Promise((resolve) => setTimeout(resolve, 1_000).unref()),
        ]).catch(() => {});
      }
      await inner.close();
    },
  };
  return { transport, over };
}

/**
 * Messages in the order in which they came, an answer never in the turn of a notification before it: the client works on
 * notifications a moment later, and would find the call that they belong to answered already.
 */
function inOrder(deliver: (message: JSONRPCMessage) => void): (message: JSONRPCMessage) => void {
  let waiting: JSONRPCMessage[] = [];
  let held = false;
  const hand = (message: JSONRPCMessage): void => {
    if (held) {
      waiting.push(message);
      return;
    }
    deliver(message);
    if (!('method' in message) || 'id' in message) return;
    held = true;
    setImmediate(() => {
      held = false;
      const next = waiting;
      waiting = [];
      for (const each of next) hand(each);
    });
  };
  return hand;
}

function messageIn(text: string): JSONRPCMessage | undefined {
  let value: unknown;
  try {
    value = parseExact(text);
  } catch {
    return undefined;
  }
  const { jsonrpc } = (value ?? {}) as { jsonrpc?: unknown };
  return jsonrpc === '2.0' ? (value as JSONRPCMessage) : undefined;
}
