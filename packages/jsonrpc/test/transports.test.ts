/** One suite for every transport: the conformance cases, large messages, back-pressure, closing. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { duplexPair } from 'node:stream';
import { MessageChannel } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import {
  connect,
  connectSocket,
  ErrorCode,
  httpHandler,
  listen,
  memoryPair,
  messagePortTransport,
  Peer,
  type PeerOptions,
  spawnTransport,
  streamTransport,
  type Transport,
  webSocketTransport,
} from '../src/index.ts';
import { cases } from './conformance/jsonrpc.cases.mjs';
import { assign } from './conformance/match.mjs';
import { messagesOf } from './conformance/reframe.mjs';
import { conformanceMethods } from './conformance-methods.ts';

interface Link {
  readonly near: Transport;
  /** The other side, unless it is another process. */
  readonly server?: Peer;
  readonly stop?: () => unknown;
}

const options = (): PeerOptions => ({ methods: conformanceMethods(), log: () => {} });

async function overSocket(address: Parameters<typeof listen>[0]): Promise<Link> {
  const accepted = Promise.withResolvers<Peer>();
  const listener = await listen(address, (transport) => accepted.resolve(new Peer(transport, options())));
  const near = await connectSocket(listener.address);
  return { near, server: await accepted.promise, stop: () => listener.close() };
}

function overStream(framing: 'ndjson' | 'content-length'): Link {
  const [a, b] = duplexPair();
  return {
    near: streamTransport(a, a, { framing }),
    server: new Peer(streamTransport(b, b, { framing }), options()),
  };
}

const kinds: Record<string, () => Link | Promise<Link>> = {
  memory: () => {
    const [near, far] = memoryPair();
    return { near, server: new Peer(far, options()) };
  },
  'a stream of lines': () => overStream('ndjson'),
  'a stream with headers': () => overStream('content-length'),
  'a Unix socket': () => overSocket({ path: `${tmpdir()}/jsonrpc-${process.pid}.sock` }),
  'a TCP socket': () => overSocket({ port: 0 }),
  'a WebSocket': async () => {
    const wss = new WebSocketServer({ port: 0, host: '127.0.0.1', maxPayload: 1 << 26 });
    await once(wss, 'listening');
    const near = await connect(`ws://127.0.0.1:${(wss.address() as AddressInfo).port}`);
    const [socket] = (await once(wss, 'connection')) as [import('ws').WebSocket];
    return { near, server: new Peer(webSocketTransport(socket), options()), stop: () => wss.close() };
  },
  HTTP: async () => {
    const handler = httpHandler((transport) => new Peer(transport, options()));
    const http = createServer(handler).listen(0, '127.0.0.1');
    await once(http, 'listening');
    const near = await connect(`http://127.0.0.1:${(http.address() as AddressInfo).port}`);
    return {
      near,
      stop: async () => {
        await handler.close();
        http.closeAllConnections();
        http.close();
      },
    };
  },
  'a MessagePort': () => {
    const { port1, port2 } = new MessageChannel();
    return { near: messagePortTransport(port1), server: new Peer(messagePortTransport(port2), options()) };
  },
  'a child process': () => ({
    near: spawnTransport({
      command: [process.execPath, `${import.meta.dirname}/conformance-server.ts`],
      env: {},
    }),
  }),
};

describe.each(Object.entries(kinds))('over %s', (name, open) => {
  test('the conformance cases', async () => {
    const { near, stop } = await open();
    let got: unknown[] = [];
    let arrived = (): void => {};
    near.start(
      {
        message: (text) => {
          got.push(JSON.parse(text));
          arrived();
          return true;
        },
        damaged: () => true,
        drained: () => {},
        ended: () => {},
        closed: () => {},
      },
      1 << 26,
    );
    const until = async (condition: () => boolean): Promise<void> => {
      while (!condition()) await new Promise<void>((resolve) => (arrived = resolve));
    };
    const isMarker = (answer: unknown): boolean => (answer as { id?: unknown }).id === 'marker';
    let ran = 0;
    for (const { name: which, expect: wanted, framing, send } of cases) {
      const texts = messagesOf({ send }).map((bytes) => bytes.toString());
      if (framing || texts.some((text) => text.includes('\ufffd'))) continue; // about bytes, not about messages
      got = [];
      for (const text of texts) near.send(text, true);
      await until(() => got.length >= wanted.length);
      near.send(JSON.stringify({ jsonrpc: '2.0', method: 'get_data', id: 'marker' }), true);
      await until(() => got.some(isMarker));
      const answers = got.filter((answer) => !isMarker(answer));
      expect({ which, right: assign(wanted, answers) || answers }).toEqual({ which, right: true });
      ran++;
    }
    expect(ran).toBeGreaterThan(45);
    await near.close();
    await stop?.();
  });

  test('many calls at once, small and large, all come back to their callers', async () => {
    const { near, stop } = await open();
    const client = new Peer(near);
    const sizes = Array.from({ length: 200 }, (_, n) => (n % 20 === 0 ? 200_000 : n));
    const calls = sizes.map((size, n) => client.call('echo', { n, s: 'é'.repeat(size) }));
    const results = (await Promise.all(calls)) as { n: number; s: string }[];
    expect(results.map(({ n, s }) => [n, s.length])).toEqual(sizes.map((size, n) => [n, size]));
    await client.close();
    await stop?.();
  });

  test('closing rejects what is pending on this side and ends the other', async () => {
    const { near, server, stop } = await open();
    const client = new Peer(near);
    await client.call('get_data');
    const pending = client.call('slow', { ms: 60_000, tag: 'x' });
    const rejected = expect(pending).rejects.toMatchObject({ code: ErrorCode.Unavailable });
    await client.close('enough');
    await rejected;
    expect(await client.closed).toMatchObject({ kind: 'closed', message: 'enough' });
    if (server) expect(await server.closed).toMatchObject({ kind: 'ended' });
    await stop?.();
  });

  if (name === 'a child process' || name === 'HTTP') return;

  test('the other side closing rejects what is pending here', async () => {
    const { near, server, stop } = await open();
    const client = new Peer(near);
    await client.call('get_data');
    const pending = client.call('slow', { ms: 60_000, tag: 'x' });
    const rejected = expect(pending).rejects.toMatchObject({ code: ErrorCode.Unavailable });
    await server?.close();
    await rejected;
    expect(await client.closed).toMatchObject({ kind: 'ended' });
    await stop?.();
  });
});
