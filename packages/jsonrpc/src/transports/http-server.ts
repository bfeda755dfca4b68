/**
 * HTTP on the serving side: a request handler for `node:http`.
 *
 * Promise: what serves the requests is loaded for those who make a handler and for nobody else; requests that come
 * meanwhile wait.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Peer } from '../peer.ts';
import type { Transport } from '../transport.ts';
import type { HttpHandler, HttpHandlerOptions } from './http-service.ts';

/** @param accept makes the peer that serves a client; called once a session, or once a request without session */
export function httpHandler(
  accept: (transport: Transport, request: IncomingMessage) => Peer,
  options: HttpHandlerOptions = {},
): HttpHandler {
  const service = import('./http-service.ts').then(({ httpService }) => httpService(accept, options));
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    void service.then((serve) => serve(request, response));
  };
  return Object.assign(handle, { close: async () => (await service).close() });
}
