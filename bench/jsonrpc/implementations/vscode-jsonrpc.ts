/** vscode-jsonrpc speaks Content-Length on streams by itself; it has no batches. */
import type { Readable, Writable } from 'node:stream';
import { createMessageConnection, StreamMessageReader, StreamMessageWriter } from 'vscode-jsonrpc/node';
import type { Implementation } from '../implementation.ts';

const connection = (readable: Readable, writable: Writable) =>
  createMessageConnection(new StreamMessageReader(readable), new StreamMessageWriter(writable));

export const vscode: Implementation = {
  name: 'vscode-jsonrpc',
  serve(readable: Readable, writable: Writable) {
    const server = connection(readable, writable);
    server.onRequest('echo', (params: unknown) => params);
    server.listen();
  },
  client(readable: Readable, writable: Writable) {
    const client = connection(readable, writable);
    client.listen();
    return { echo: (params) => client.sendRequest('echo', params) };
  },
};
