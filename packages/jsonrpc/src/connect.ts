/**
 * A transport from an address, as a person would type it.
 *
 * Promise: the scheme alone decides; nothing is passed through a shell.
 */
import type { FramingName } from './framing/framing.ts';
import type { Transport } from './transport.ts';
import { type SpawnOptions, spawnTransport } from './transports/child.ts';
import { type HttpOptions, httpTransport } from './transports/http-client.ts';
import { connectSocket } from './transports/socket.ts';
import { webSocketTransport } from './transports/websocket.ts';

export interface ConnectOptions extends HttpOptions, Omit<SpawnOptions, 'command' | 'framing'> {
  /** Of byte streams; default `ndjson`. */
  readonly framing?: FramingName | undefined;
}

/**
 * Opens a connection.
 *
 * @param address `stdio:PROGRAM ARGS…` (quotes and backslashes group as in a shell, nothing else is special), an argv
 *   array, `unix:/path`, `tcp://host:port`, `ws://…`, `wss://…`, `http://…` or `https://…`
 * @throws TypeError for an address of no known kind or form; the system's error if nobody listens there
 */
export async function connect(
  address: string | readonly string[],
  options: ConnectOptions = {},
): Promise<Transport> {
  if (typeof address !== 'string') return spawnTransport({ ...options, command: address });
  const scheme = /^([a-z]+):/i.exec(address)?.[1]?.toLowerCase();
  const rest = address.slice((scheme?.length ?? 0) + 1);
  switch (scheme) {
    case 'stdio':
      return spawnTransport({ ...options, command: wordsOf(rest) });
    case 'unix':
      if (rest === '') throw new TypeError(`"${address}" names no path`); // the system would take it for a port
      return connectSocket({ path: rest.replace(/^\/\/(?=\/)/, '') }, options);
    case 'tcp': {
      const { hostname, port } = urlOf(address);
      if (port === '') throw new TypeError(`"${address}" names no port`);
      return connectSocket({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) }, options);
    }
    case 'ws':
    case 'wss':
      return webSocketTransport(new WebSocket(urlOf(address)));
    case 'http':
    case 'https':
      return httpTransport(urlOf(address).href, { events: true, ...options });
    default:
      throw new TypeError(
        `"${address}" is no address; use stdio:COMMAND, unix:/path, tcp://host:port, ws://, wss://, http:// or https://`,
      );
  }
}

function urlOf(address: string): URL {
  const url = URL.parse(address);
  if (url?.hostname) return url;
  throw new TypeError(
    `"${address}" is no URL with a host${/:\d/.test(address) ? ' and a port up to 65535' : ''}`,
  );
}

/** Words of a command line: separated by white space, grouped by quotes. */
function wordsOf(line: string): string[] {
  const pattern = /(?:[^\s"'\\]+|"(?:[^"\\]|\\.)*"|'[^']*'|\\.)+/gs;
  return (line.match(pattern) ?? []).map((word) =>
    word.replace(
      /"((?:[^"\\]|\\.)*)"|'([^']*)'|\\(.)/gs,
      (_all, double?: string, single?: string, escaped?: string) =>
        double !== undefined ? double.replace(/\\(.)/gs, '$1') : (single ?? escaped ?? ''),
    ),
  );
}
