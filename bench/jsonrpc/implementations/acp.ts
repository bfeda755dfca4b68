/** The Agent Client Protocol's connection class on its own streams of lines; it has no batches. */
import { Readable, type Writable, Writable as WritableStreams } from 'node:stream';
import { Connection } from '../../peers/node_modules/@agentclientprotocol/sdk/dist/core/jsonrpc.js';
import { ndJsonStream } from '../../peers/node_modules/@agentclientprotocol/sdk/dist/core/stream.js';
import type { Implementation } from '../implementation.ts';

type Acp = { sendRequest(method: string, params: unknown): Promise<unknown> };

function connection(readable: Readable, writable: Writable): Acp {
  const stream = ndJsonStream(WritableStreams.toWeb(writable) as never, Readable.toWeb(readable) as never);
  const none = async (): Promise<void> => {};
  return new (Connection as never as new (...args: unknown[]) => Acp)(
    async (_method: string, params: unknown) => params,
    none,
    stream,
  );
}

export const acp: Implementation = {
  name: 'acp',
  serve: (readable: Readable, writable: Writable) => connection(readable, writable),
  client(readable: Readable, writable: Writable) {
    const client = connection(readable, writable);
    return { echo: (params) => client.sendRequest('echo', params) };
  },
};
