/**
 * The naive floor: the least code that still speaks JSON-RPC. JSON.parse, JSON.stringify, a split at newlines on
 * decoded strings, Map look-ups, one write and one Promise a message. No validation, no limits, no errors.
 */
import type { Readable, Writable } from 'node:stream';
import type { Implementation } from '../implementation.ts';
import { lines } from '../lines.ts';

type Message = { id: number; method?: string; params?: unknown; result?: unknown };

export const floor: Implementation = {
  name: 'floor',
  serve(readable: Readable, writable: Writable) {
    const methods = new Map<string, (params: unknown) => unknown>([['echo', (params) => params]]);
    const answer = ({ id, method, params }: Message) => ({
      jsonrpc: '2.0',
      id,
      result: methods.get(method ?? '')?.(params),
    });
    lines(readable, (line) => {
      const message = JSON.parse(line) as Message | Message[];
      const reply = Array.isArray(message) ? message.map(answer) : answer(message);
      writable.write(`${JSON.stringify(reply)}\n`);
    });
  },
  client(readable: Readable, writable: Writable) {
    const pending = new Map<number, (result: unknown) => void>();
    let id = 0;
    const settle = (message: Message): void => {
      const resolve = pending.get(message.id);
      pending.delete(message.id);
      resolve?.(message.result);
    };
    lines(readable, (line) => {
      const message = JSON.parse(line) as Message | Message[];
      if (Array.isArray(message)) message.forEach(settle);
      else settle(message);
    });
    const request = (params: object) => ({ jsonrpc: '2.0', id: ++id, method: 'echo', params });
    const result = (of: number) => new Promise((resolve) => pending.set(of, resolve));
    return {
      echo: (params: object) => {
        const message = request(params);
        const promise = result(message.id);
        writable.write(`${JSON.stringify(message)}\n`);
        return promise;
      },
      batch: (all: readonly object[]) => {
        const messages = all.map(request);
        const promises = messages.map((message) => result(message.id));
        writable.write(`${JSON.stringify(messages)}\n`);
        return Promise.all(promises);
      },
    };
  },
};
