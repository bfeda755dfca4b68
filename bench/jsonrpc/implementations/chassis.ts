/** This repository's peer with everything switched on: a default deadline, limits, duplicate ids, cancellation. */
import type { Readable, Writable } from 'node:stream';
import { type FramingName, Peer, streamTransport } from '@chassis/jsonrpc';
import type { Implementation } from '../implementation.ts';

function chassis(framing: FramingName, name: string): Implementation {
  return {
    name,
    serve(readable: Readable, writable: Writable) {
      new Peer(streamTransport(readable, writable, { framing })).method('echo', (params) => params);
    },
    client(readable: Readable, writable: Writable) {
      const peer = new Peer(streamTransport(readable, writable, { framing }));
      return {
        echo: (params) => peer.call('echo', params),
        batch: (all) => peer.batch(all.map((params) => ({ method: 'echo', params }))),
      };
    },
  };
}

export const ndjson = chassis('ndjson', 'chassis');
export const contentLength = chassis('content-length', 'chassis-content-length');
