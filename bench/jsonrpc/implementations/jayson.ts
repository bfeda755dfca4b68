/** jayson: its server fed with lines, its WebSocket client over something that looks like a WebSocket. */
import { EventEmitter } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import jayson from 'jayson';
import jaysonPromise from 'jayson/promise/index.js';
import type { Implementation } from '../implementation.ts';
import { lines } from '../lines.ts';

type Answer = { result?: unknown };

export const jayson5: Implementation = {
  name: 'jayson',
  serve(readable: Readable, writable: Writable) {
    const server = new jayson.Server({
      echo: (params: unknown, done: (error: null, result: unknown) => void) => done(null, params),
    });
    lines(readable, (line) => {
      server.call(line, (error: unknown, answer: unknown) =>
        writable.write(`${JSON.stringify(error ?? answer)}\n`),
      );
    });
  },
  client(readable: Readable, writable: Writable) {
    // The client notes down a request only after sending it: an answer must not come from inside `send`.
    const send = (text: string) => process.nextTick(() => writable.write(`${text}\n`));
    const ws = Object.assign(new EventEmitter(), { send });
    lines(readable, (line) => ws.emit('message', line));
    const client = jaysonPromise.Client.websocket({ ws: ws as never });
    let id = 1e6;
    return {
      echo: async (params) => ((await client.request('echo', params as never)) as Answer).result,
      batch: (all) =>
        client.request(
          all.map((params) => ({ jsonrpc: '2.0', id: ++id, method: 'echo', params })) as never,
        ) as Promise<unknown>,
    };
  },
};
