import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { ErrorCode, type HttpHandlerOptions, httpHandler, httpTransport, Peer, RpcError } from '../index.ts';

let stop: (() => Promise<void>) | undefined;
afterEach(async () => {
  await stop?.();
  stop = undefined;
});

/** Lets all calls of `slow` finish. */
let release = (): void => {};
const chained = (first: () => void, second: () => void) => () => {
  first();
  second();
};

async function serve(options: HttpHandlerOptions = {}) {
  const peers: Peer[] = [];
  const noted: unknown[] = [];
  const handler = httpHandler((transport) => {
    const peer = new Peer(transport, { log: () => {} });
    peer.method('echo', (params) => params).notification('note', (params) => noted.push(params));
    peer.method('hang', () => new Promise(() => {}));
    peer.method('three steps', async (_params, context) => {
      for (const step of [1, 2, 3]) context.progress({ step });
    });
    peer.method('slow', async (_params, context) => {
      context.progress({ done: 1 });
      await new Promise<void>((resolve) => (release = chained(release, resolve)));
      return 'at last';
    });
    peer.method('ask back', (_params, { peer: caller }) => caller.call('name'));
    peers.push(peer);
    return peer;
  }, options);
  const server = createServer(handler);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  stop = async () => {
    await handler.close();
    server.closeAllConnections();
    server.close();
  };
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const post = (body: string, headers: Record<string, string> = {}) =>
    fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });
  return { url, post, peers, noted };
}

const echo = '{"jsonrpc":"2.0","method":"echo","params":[1],"id":1}';

test('what was sent before an answer is taken before it, although it comes on another stream', async () => {
  const { url } = await serve();
  const peer = new Peer(httpTransport(url, { events: true }));
  const progress: unknown[] = [];
  for (let call = 0; call < 20; call++) {
    await peer.call('three steps', {}, { onProgress: (data) => progress.push(data) });
    expect(progress.splice(0)).toEqual([{ step: 1 }, { step: 2 }, { step: 3 }]);
  }
  await peer.close();
});

describe('a POST', () => {
  test('is answered with the answer of its message, and with nothing if there is none', async () => {
    const { post } = await serve();
    const answered = await post(echo);
    expect([answered.status, await answered.json()]).toEqual([200, { jsonrpc: '2.0', id: 1, result: [1] }]);
    const batch = await post(`[${echo},1]`);
    expect(await batch.json()).toHaveLength(2);
    const nothing = await post('{"jsonrpc":"2.0","method":"note"}');
    expect([nothing.status, await nothing.text()]).toEqual([202, '']);
    expect(await (await post('{bad')).json()).toMatchObject({
      id: null,
      error: { code: ErrorCode.ParseError },
    });
  });

  test('that is still open when the server stops is ended, not left hanging', async () => {
    const { post, peers } = await serve();
    const answered = post('{"jsonrpc":"2.0","method":"hang","id":1}', {
      'rpc-session': 'a-session-name-of-20-chars',
    });
    await expect.poll(() => peers.length).toBe(1);
    await peers[0]?.close();
    const response = await answered;
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ id: 1, error: { code: ErrorCode.Unavailable } });
  });

  test('leaves no peer behind', async () => {
    const { post, peers } = await serve();
    await (await post(echo)).text();
    expect(await peers[0]?.closed).toMatchObject({ kind: 'closed' });
  });

  test.each([
    ['of another content type', 415, echo, { 'content-type': 'text/plain' }],
    ['of a type that only begins alike', 415, echo, { 'content-type': 'application/json-seq' }],
    ['in another character set', 415, echo, { 'content-type': 'application/json; charset=latin1' }],
    ['from a web page that is not listed', 403, echo, { origin: 'https://evil.example' }],
    ['with invalid UTF-8', 400, 'bytes', {}],
    ['over the limit', 413, `"${'x'.repeat(2000)}"`, {}],
  ])('%s is refused with status %i', async (_what, status, body, headers) => {
    const { url } = await serve({ maxMessageBytes: 1000 });
    const response = await fetch(url, {
      method: 'POST',
      body: body === 'bytes' ? Uint8Array.of(0x22, 0xff, 0x22) : body,
      headers: { 'content-type': 'application/json', ...headers },
    });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({
      jsonrpc: '2.0',
      id: null,
      error: { code: expect.any(Number) },
    });
  });

  test('from a listed origin is served, with the headers a browser wants', async () => {
    const { url, post } = await serve({ origins: ['https://app.example'] });
    const preflight = await fetch(url, { method: 'OPTIONS', headers: { origin: 'https://app.example' } });
    expect([preflight.status, preflight.headers.get('access-control-allow-headers')]).toEqual([
      204,
      expect.stringContaining('content-type'),
    ]);
    const response = await post(echo, { origin: 'https://app.example' });
    expect(response.headers.get('access-control-allow-origin')).toBe('https://app.example');
  });
});

test('every request is looked at first; refused ones say why, to people and to peers', async () => {
  const authorize = ({ headers }: IncomingMessage) => {
    if (headers.authorization !== 'Bearer right') throw new RpcError(ErrorCode.Unauthorized, 'who are you?');
  };
  const { url, post } = await serve({ authorize });
  expect((await post(echo)).status).toBe(401);
  const stranger = new Peer(httpTransport(url), { log: () => {} });
  await expect(stranger.call('echo')).rejects.toMatchObject({
    code: ErrorCode.Unavailable,
    data: { status: 401 },
  });
  const friend = new Peer(httpTransport(url, { headers: { authorization: 'Bearer right' } }));
  expect(await friend.call('echo', [1])).toEqual([1]);
  expect(await friend.batch([{ method: 'echo', params: [2] }, { method: 'nope' }])).toMatchObject([
    { value: [2] },
    { reason: { code: ErrorCode.MethodNotFound } },
  ]);
  await Promise.all([stranger.close(), friend.close()]);
});

test('a server that is not there, or no JSON-RPC server, fails the call at once', async () => {
  const nobody = new Peer(httpTransport('http://127.0.0.1:9/'));
  await expect(nobody.call('m')).rejects.toMatchObject({ code: ErrorCode.Unavailable });
  const website = createServer((_request, response) => response.writeHead(502).end('<html>'));
  await once(website.listen(0, '127.0.0.1'), 'listening');
  const peer = new Peer(httpTransport(`http://127.0.0.1:${(website.address() as AddressInfo).port}`));
  await expect(peer.call('m')).rejects.toMatchObject({ data: { status: 502 } });
  await Promise.all([nobody.close(), peer.close()]);
  website.closeAllConnections();
  website.close();
});

describe('a session with an event stream', () => {
  test('lets the server call and notify the client', async () => {
    const { url, peers } = await serve();
    const client = new Peer(httpTransport(url, { events: true }));
    const heard: unknown[] = [];
    client.method('name', () => 'client').notification('news', (params) => heard.push(params));
    expect(await client.call('ask back')).toBe('client');
    const [server] = peers;
    await server?.notify('news', { n: 1 });
    await expect.poll(() => heard).toEqual([{ n: 1 }]);
    expect(peers).toHaveLength(1);
    await client.close();
    expect(await server?.closed).toMatchObject({ kind: 'ended' });
  });

  test('without one, calling back fails at once instead of hanging', async () => {
    const { url } = await serve();
    const client = new Peer(httpTransport(url));
    await expect(client.call('ask back')).rejects.toMatchObject({ code: ErrorCode.Unavailable });
    await client.close();
  });

  test('is forgotten when nothing is heard of the client', async () => {
    const { post, peers } = await serve({ idleMs: 20 });
    await (await post(echo, { 'rpc-session': 'a-session-name-of-20-chars' })).text();
    expect(await peers[0]?.closed).toMatchObject({ kind: 'ended' });
  });
});

describe('an answer that takes long', () => {
  test('keeps a client that understands events awake, and no other', async () => {
    const { post, peers } = await serve({ heartbeatMs: 5 });
    const slow = '{"jsonrpc":"2.0","method":"slow","id":1}';
    const waiting = post(slow, { accept: 'text/event-stream, application/json' });
    const patient = post(slow);
    const reader = (await waiting).body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toMatch(/^: \n/);
    await expect.poll(() => peers.filter(({ open }) => open.requests === 1)).toHaveLength(2);
    release();
    expect((await patient).headers.get('content-type')).toBe('application/json');
    let rest = '';
    for (let piece = await reader?.read(); piece?.value; piece = await reader?.read())
      rest += Buffer.from(piece.value).toString();
    expect(rest).toContain('data: {"jsonrpc":"2.0","id":1,"result":"at last"}\n\n');
  });

  test.each([false, true])('reaches the caller after its progress, with events: %s', async (events) => {
    const { url, peers } = await serve({ heartbeatMs: 5 });
    const peer = new Peer(httpTransport(url, { events }));
    const progress: unknown[] = [];
    const slow = peer.call('slow', {}, { onProgress: (data) => progress.push(data) });
    await expect.poll(() => peers.some(({ open }) => open.requests === 1)).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 30)); // the answer has become a stream
    release();
    expect(await slow).toBe('at last');
    expect(progress).toEqual(events ? [{ done: 1 }] : []);
    await peer.close();
  });
});

describe('an event stream that breaks', () => {
  const session = { 'rpc-session': 'a-session-name-of-20-chars' };
  const opened = async (url: string, after: string) => {
    const abort = new AbortController();
    const headers = { ...session, 'last-event-id': after };
    const response = await fetch(url, { headers, signal: abort.signal });
    const reader = response.body?.getReader();
    let seen = '';
    return {
      until: async (pattern: RegExp) => {
        while (!pattern.test(seen)) seen += Buffer.from((await reader?.read())?.value ?? []).toString();
        return seen;
      },
      cut: () => abort.abort(),
    };
  };

  test('is resumed after the last event that arrived', async () => {
    const { url, peers } = await serve();
    const first = await opened(url, '0');
    for (const n of [1, 2, 3]) await peers[0]?.notify('news', { n });
    await first.until(/"n":3/);
    first.cut();
    await peers[0]?.notify('news', { n: 4 });
    const second = await opened(url, '1');
    const again = await second.until(/"n":4/);
    expect([...again.matchAll(/id: (\d+)\ndata: .*"n":(\d)/g)].map(([, id, n]) => [id, n])).toEqual([
      ['2', '2'],
      ['3', '3'],
      ['4', '4'],
    ]);
    second.cut();
  });

  test('goes on counting when the server has forgotten the session', async () => {
    const { url, peers } = await serve();
    const stream = await opened(url, '57');
    await peers[0]?.notify('news', { n: 1 });
    expect(await stream.until(/"n":1/)).toContain('id: 58\n');
    stream.cut();
  });

  test('is replaced by a new one of the same client, and writers that waited for the old one go on', async () => {
    const { url, peers } = await serve();
    await opened(url, '0'); // nobody reads it
    const [server] = peers;
    let accepted = 0;
    while (accepted < 1000) {
      const full = Symbol();
      const notified = server?.notify('news', { text: 'x'.repeat(100_000) });
      const waited = await Promise.race([notified, new Promise((resolve) => setTimeout(resolve, 50, full))]);
      if (waited === full) break;
      accepted++;
    }
    expect(accepted).toBeLessThan(1000);
    const waiting = server?.notify('news', { last: true });
    const next = await opened(url, '0');
    await next.until(/"last"/);
    await waiting;
    next.cut();
  });
});

describe('a server that sends what is no message', () => {
  const serving = async (type: string, body: string | Uint8Array) => {
    const server = createServer((_request, response) =>
      response.writeHead(200, { 'content-type': type }).end(body),
    );
    await once(server.listen(0, '127.0.0.1'), 'listening');
    stop = async () => {
      server.closeAllConnections();
      server.close();
    };
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  };
  test.each([
    ['too long an answer', 'application/json', `{"jsonrpc":"2.0","id":1,"result":"${'x'.repeat(2000)}"}`],
    ['too long an event', 'text/event-stream', `data: "${'x'.repeat(2000)}"\n\n`],
    ['too long an event in many lines', 'text/event-stream', `${'data: xxxxxxxxx\n'.repeat(200)}\n`],
    ['invalid UTF-8', 'application/json', Buffer.from('{"jsonrpc":"2.0","id":1,"result":"\xff"}', 'latin1')],
    ['invalid UTF-8 in an event', 'text/event-stream', Buffer.from('data: "\xff"\n\n', 'latin1')],
  ])('%s: the call fails, and nothing is kept of it', async (_what, type, body) => {
    const peer = new Peer(httpTransport(await serving(type, body)), { maxMessageBytes: 1000, log: () => {} });
    await expect(peer.call('m')).rejects.toMatchObject({ code: ErrorCode.Unavailable });
    await peer.close();
  });
});

test('a server without event stream is asked for one once', async () => {
  let asked = 0;
  const server = createServer((request, response) => {
    if (request.method === 'GET') asked++;
    response.writeHead(request.method === 'GET' ? 405 : 200, { 'content-type': 'application/json' });
    response.end(
      request.method === 'GET' ? '' : '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no"}}',
    );
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const peer = new Peer(httpTransport(url, { events: true }), { log: () => {} });
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(asked).toBe(1);
  await peer.close();
  server.closeAllConnections();
  server.close();
});

test('without a session, a call that is cancelled ends its request, and the handler hears of it', async () => {
  const { url, peers } = await serve();
  const peer = new Peer(httpTransport(url));
  const abort = new AbortController();
  const calls = [
    peer.call('hang', {}, { signal: abort.signal }),
    peer.call('hang', {}, { timeoutMs: 500 }),
    peer.call('echo', [1]),
  ];
  await expect.poll(() => peers.filter(({ open }) => open.requests === 1)).toHaveLength(2);
  abort.abort();
  expect(await Promise.allSettled(calls)).toMatchObject([
    { reason: { code: ErrorCode.Cancelled } },
    { reason: { code: ErrorCode.ToolTimeout } },
    { value: [1] },
  ]);
  await expect.poll(() => peers.filter(({ open }) => open.requests > 0)).toEqual([]);
  await peer.close();
});

test.each([false, true])('what was accepted is sent before closing, with events: %s', async (events) => {
  const { url, noted } = await serve();
  const peer = new Peer(httpTransport(url, { events }));
  for (const n of [1, 2, 3]) await peer.notify('note', { n });
  await peer.close();
  expect(noted).toHaveLength(3);
});

test('a session that nobody has opened is not opened by ending it', async () => {
  const { url, peers } = await serve();
  const ended = await fetch(url, {
    method: 'DELETE',
    headers: { 'rpc-session': 'a-session-name-of-20-chars' },
  });
  expect([ended.status, peers.length]).toEqual([204, 0]);
});

test.each([false, true])(
  'a call that is open when the server stops is rejected, with events: %s',
  async (events) => {
    const { url, peers } = await serve();
    const peer = new Peer(httpTransport(url, { events }));
    const hanging = peer.call('hang');
    const rejected = expect(hanging).rejects.toMatchObject({ code: ErrorCode.Unavailable });
    await expect.poll(() => peers.some(({ open }) => open.requests === 1)).toBe(true);
    await Promise.all(peers.map((served) => served.close('the server stops')));
    await rejected;
    await peer.close();
  },
);

test('a server that answers a call with nothing fails it at once', async () => {
  const server = createServer((_request, response) => response.writeHead(204).end());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const peer = new Peer(httpTransport(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`));
  await expect(peer.call('echo')).rejects.toMatchObject({
    code: ErrorCode.Unavailable,
    message: expect.stringContaining('204'),
  });
  await peer.notify('note');
  await peer.close();
  server.closeAllConnections();
  server.close();
});

test.each([
  ['text/html', '<p>hello'],
  ['application/json', '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}'],
  ['application/json', '[]'],
])('a server that answers a call with something else fails it at once: %s %s', async (type, body) => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': type }).end(body);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  for (const events of [false, true]) {
    const peer = new Peer(httpTransport(url, { events }), { log: () => {} });
    await expect(peer.call('echo')).rejects.toMatchObject({
      code: ErrorCode.Unavailable,
      message: expect.stringContaining('200'),
    });
    await peer.close();
  }
  server.closeAllConnections();
  server.close();
});
