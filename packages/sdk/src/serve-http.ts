/**
 * A plugin as a server of its own: harnesses on other machines reach it over HTTP.
 *
 * Promise: every harness has a session of its own, in which the plugin is loaded anew; without the token nothing
 * is answered; `close` ends all sessions, with `on_shutdown` run.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ChassisError } from '@chassis/errors';
import { httpHandler, type Transport } from '@chassis/jsonrpc';
import type { Plugin } from './plugin.ts';
import { pluginPeer } from './serve.ts';

export interface ServeHttp {
  /** Default: any free one. */
  readonly port?: number;
  /** Address to listen on; default 127.0.0.1: this machine only. */
  readonly host?: string;
  /** What a harness must send as `authorization: Bearer TOKEN`; without it everybody who reaches the port may call. */
  readonly token?: string;
}

export interface PluginServer {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves a plugin over HTTP, for manifests with `runtime: http`.
 *
 * @example const { url } = await serveHttp(plugin, { port: 8080, token: process.env.PLUGIN_TOKEN });
 * @throws the system's error when the port cannot be had
 */
export async function serveHttp(plugin: Plugin, options: ServeHttp = {}): Promise<PluginServer> {
  const { port = 0, host = '127.0.0.1', token } = options;
  const running = new Set<Promise<void>>();
  const accept = (transport: Transport) => {
    const { peer, over } = pluginPeer(plugin, transport);
    running.add(over);
    void over.then(() => running.delete(over));
    return peer;
  };
  const handler = httpHandler(accept, {
    authorize: token === undefined ? undefined : (request) => demand(token, request),
  });
  // An import at the top would make every plugin pay for HTTP: its names bring half of a web client with them.
  const server = process.getBuiltinModule('node:http').createServer(handler);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve());
  });
  const { address, port: bound, family } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}/`,
    async close() {
      await handler.close();
      await Promise.all(running);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Compared by digest, so that the time it takes tells nothing. */
function demand(token: string, { headers }: IncomingMessage): void {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  if (timingSafeEqual(digest(headers.authorization ?? ''), digest(`Bearer ${token}`))) return;
  throw new ChassisError('Unauthorized', 'the token is missing or wrong');
}
