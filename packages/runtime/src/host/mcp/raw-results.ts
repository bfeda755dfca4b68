/**
 * Results of tools as the server sent them.
 *
 * The client's packages refuse a whole answer for one part that they do not know: a list of tools for one bad tool, a result
 * for one new kind of content. So they are handed a stand-in that they take, and the answer as it was goes with
 * it. Negotiation, cancellation, progress and sessions stay theirs.
 */
import type { CallToolResult, JSONRPCMessage, ListToolsResult } from '@modelcontextprotocol/client';

/** Key in the stand-in's `_meta`. */
const RAW = 'chassis/raw';

export class RawResults {
  readonly #asked = new Map<unknown, string>();
  #initialize: unknown;
  /** What the server answered to `initialize`; undefined until then. */
  initialized: { readonly version: unknown } | undefined;
  /** Whether the handshake of the older versions has begun. */
  handshake = false;
  /** Whether the server has answered `server/discover`, however late. */
  discovered = false;

  outgoing(message: JSONRPCMessage): void {
    if (!('method' in message) || !('id' in message)) return;
    if (message.method === 'initialize') {
      this.handshake = true;
      this.#initialize = message.id;
    }
    if (
      message.method === 'tools/list' ||
      message.method === 'tools/call' ||
      message.method === 'server/discover'
    ) {
      this.#asked.set(message.id, message.method);
    }
  }

  incoming(message: JSONRPCMessage): JSONRPCMessage {
    if ('method' in message || !('id' in message)) return message;
    const method = this.#asked.get(message.id);
    this.#asked.delete(message.id);
    if (!('result' in message)) return message;
    const result: unknown = message.result;
    const {
      protocolVersion,
      resultType = 'complete',
      nextCursor,
      supportedVersions,
    } = (result ?? {}) as Record<string, unknown>;
    if (this.#initialize !== undefined && message.id === this.#initialize) {
      this.initialized = { version: protocolVersion };
      return { ...message, result: introduced(result) } as JSONRPCMessage;
    }
    if (method === 'server/discover') this.discovered = Array.isArray(supportedVersions);
    // Anything but a complete result is a step of the client's own flow.
    if ((method !== 'tools/list' && method !== 'tools/call') || resultType !== 'complete') return message;
    const _meta = { [RAW]: { result } };
    const standIn =
      method === 'tools/call'
        ? { content: [] }
        : {
            tools: [],
            ttlMs: 0,
            cacheScope: 'private',
            ...(typeof nextCursor === 'string' ? { nextCursor } : {}),
          };
    return { ...message, result: { ...standIn, resultType: 'complete', _meta } } as JSONRPCMessage;
  }
}

/** An answer to `initialize` with what older servers leave out. */
function introduced(result: unknown): unknown {
  if (typeof result !== 'object' || result === null) return result;
  const { serverInfo, capabilities } = result as Record<string, unknown>;
  const { name, version, ...more } = (serverInfo ?? {}) as Record<string, unknown>;
  const text = (value: unknown): string => (typeof value === 'string' ? value : 'unknown');
  return {
    ...result,
    serverInfo: { ...more, name: text(name), version: text(version) },
    capabilities: capabilities ?? {},
  };
}

/** What the server really answered. */
export function rawResult(standIn: CallToolResult | ListToolsResult): unknown {
  const kept = standIn._meta?.[RAW] as { readonly result: unknown } | undefined;
  return kept === undefined ? standIn : kept.result;
}
