/** json-rpc-2.0 has no transport; it gets the floor's lines. */
import type { Readable, Writable } from 'node:stream';
import { JSONRPCClient, type JSONRPCResponse, JSONRPCServer } from 'json-rpc-2.0';
import type { Implementation } from '../implementation.ts';
import { lines } from '../lines.ts';

export const jsonRpc2: Implementation = {
  name: 'json-rpc-2.0',
  serve(readable: Readable, writable: Writable) {
    const server = new JSONRPCServer();
    server.addMethod('echo', (params) => params);
    lines(readable, (line) => {
      void server.receive(JSON.parse(line)).then((answer) => {
        if (answer) writable.write(`${JSON.stringify(answer)}\n`);
      });
    });
  },
  client(readable: Readable, writable: Writable) {
    const client = new JSONRPCClient((payload) => void writable.write(`${JSON.stringify(payload)}\n`));
    lines(readable, (line) => client.receive(JSON.parse(line) as JSONRPCResponse));
    let id = 1e6;
    return {
      echo: (params) => client.request('echo', params) as Promise<unknown>,
      batch: (all) =>
        client.requestAdvanced(
          all.map((params) => ({ jsonrpc: '2.0', id: ++id, method: 'echo', params })),
        ) as Promise<unknown>,
    };
  },
};
