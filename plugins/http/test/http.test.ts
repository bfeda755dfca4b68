import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ErrorCode } from '@chassis/errors';
import { Agent, fetch } from 'undici';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkedTools } from '../../checked-tools.ts';
import { fakeContext } from '../../fake-context.ts';
import plugin from '../src/index.ts';
import { Targets } from '../src/target.ts';

const { fetch_url, http_request } = checkedTools(plugin.tools, join(import.meta.dirname, '..'));

interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}
let server: Server;
let origin: string;
let seen: Seen[];
let respond: (request: IncomingMessage, response: ServerResponse) => void;

async function listen(
  handler: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Server> {
  const started = createServer(handler);
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
  return started;
}

async function stop(running: Server): Promise<void> {
  running.closeAllConnections();
  await new Promise((resolve) => running.close(resolve));
}

beforeEach(async () => {
  seen = [];
  server = await listen((request, response) => {
    let body = '';
    request.on('data', (piece) => {
      body += piece;
    });
    request.on('end', () => {
      seen.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body });
      respond(request, response);
    });
  });
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await plugin.on_load({ allow_hosts: ['127.0.0.1'] });
});
afterEach(async () => {
  await plugin.on_shutdown();
  await stop(server);
});

describe('fetch_url', () => {
  test('returns status, chosen headers and text', async () => {
    respond = (_, response) =>
      response
        .writeHead(404, { 'content-type': 'text/plain; charset=utf-8', 'set-cookie': 'a=1', etag: '"1"' })
        .end('nothing hére');
    expect(await fetch_url({ url: `${origin}/x?q=1` }, fakeContext())).toEqual({
      url: `${origin}/x?q=1`,
      status: 404,
      headers: { 'content-type': 'text/plain; charset=utf-8', etag: '"1"' },
      text: 'nothing hére',
      binary: false,
      charset: 'utf-8',
      bytes: 13,
      truncated: false,
      redirects: [],
    });
    expect(seen[0]?.headers['user-agent']).toBe('chassis');
  });

  test('a packed body is unpacked, a long one is cut, HEAD has none', async () => {
    respond = (_, response) =>
      response
        .writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' })
        .end(gzipSync('x'.repeat(1_000_000)));
    expect(await fetch_url({ url: origin, max_bytes: 10 }, fakeContext())).toMatchObject({
      text: 'xxxxxxxxxx',
      bytes: 10,
      truncated: true,
    });
    expect(await fetch_url({ url: origin }, fakeContext())).toMatchObject({
      bytes: 262_144,
      truncated: true,
    });
    respond = (_, response) => response.writeHead(200, { 'content-length': '5' }).end();
    expect(await fetch_url({ url: origin, method: 'HEAD' }, fakeContext())).toMatchObject({ bytes: 0 });
  });

  test('redirects are followed, and every hop is checked', async () => {
    respond = (request, response) =>
      request.url === '/a'
        ? response.writeHead(302, { location: '/b' }).end()
        : response.writeHead(200, { 'content-type': 'text/plain' }).end('there');
    expect(await fetch_url({ url: `${origin}/a` }, fakeContext())).toMatchObject({
      url: `${origin}/b`,
      text: 'there',
      redirects: [`${origin}/a`],
    });
    for (const location of ['http://169.254.169.254/', 'http://[::1]/', 'http://localhost/']) {
      respond = (_, response) => response.writeHead(302, { location }).end();
      await expect(fetch_url({ url: origin }, fakeContext())).rejects.toMatchObject({
        code: ErrorCode.PermissionDenied,
      });
    }
    respond = (_, response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end();
    await expect(fetch_url({ url: origin }, fakeContext())).rejects.toThrow('file: is not http or https');
    respond = (_, response) => response.writeHead(302, { location: '/again' }).end();
    await expect(fetch_url({ url: origin }, fakeContext())).rejects.toThrow('more than 5 redirects');
  });

  test('a key for one origin is not carried to another', async () => {
    const other = await listen((request, response) => {
      seen.push({ method: 'other', url: '', headers: request.headers, body: '' });
      response.end();
    });
    respond = (_, response) =>
      response
        .writeHead(302, { location: `http://127.0.0.1:${(other.address() as AddressInfo).port}/` })
        .end();
    const headers = { Authorization: 'Bearer s3cr3t', 'X-Api-Key': 's3cr3t', accept: 'text/plain' };
    await fetch_url({ url: origin, headers }, fakeContext());
    expect(seen[0]?.headers.authorization).toBe('Bearer s3cr3t');
    expect(JSON.stringify(seen[1]?.headers)).not.toContain('s3cr3t');
    expect(seen[1]?.headers.accept).toBe('text/plain');
    await stop(other);
  });

  test('failures say what happened', async () => {
    await stop(server);
    await expect(fetch_url({ url: origin }, fakeContext())).rejects.toMatchObject({
      code: ErrorCode.Unavailable,
      data: { network: 'ECONNREFUSED' },
    });
    for (const input of [
      { url: 'not a url' },
      { url: origin, headers: { Host: 'x' } },
      { url: origin, headers: { 'a b': 'x' } },
      { url: origin, headers: { a: 'x\r\nb: y' } },
    ]) {
      await expect(fetch_url(input, fakeContext())).rejects.toMatchObject({ code: ErrorCode.InvalidParams });
    }
  });

  test('a slow answer is a time-out, a cancelled call ends at once', async () => {
    respond = () => {};
    await plugin.on_load({ allow_hosts: ['127.0.0.1'], timeout_ms: 50 });
    await expect(fetch_url({ url: origin }, fakeContext())).rejects.toMatchObject({
      code: ErrorCode.ToolTimeout,
    });
    await plugin.on_load({ allow_hosts: ['127.0.0.1'] });
    const controller = new AbortController();
    respond = () => controller.abort();
    await expect(
      fetch_url({ url: origin }, fakeContext({ signal: controller.signal })),
    ).rejects.toMatchObject({
      name: 'AbortError',
    });
  });

  test('without permission this machine is not reached', async () => {
    await plugin.on_load({});
    await expect(fetch_url({ url: origin }, fakeContext())).rejects.toMatchObject({
      code: ErrorCode.PermissionDenied,
      data: { fix: 'If it is meant, add "127.0.0.1" to plugins.http.config.allow_hosts.' },
    });
    expect(seen).toEqual([]);
  });

  test('a name that leads to this machine is refused when it is connected to, whatever was checked before', async () => {
    const dispatcher = new Agent({ connect: { lookup: new Targets([]).lookup } });
    const error = await fetch(origin.replace('127.0.0.1', 'localhost'), { dispatcher }).catch((e) => e);
    expect(error.cause).toMatchObject({ code: ErrorCode.PermissionDenied });
    expect(seen).toEqual([]);
    await dispatcher.close();
  });

  test('a proxy of the environment is used, and resolves the name', async () => {
    const proxied: string[] = [];
    const proxy = await listen((request, response) => {
      proxied.push(request.url ?? '');
      response.writeHead(200, { 'content-type': 'text/plain' }).end('by proxy');
    });
    const before = process.env.http_proxy;
    process.env.http_proxy = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    try {
      await plugin.on_load({});
      expect(await fetch_url({ url: 'http://name.invalid/page' }, fakeContext())).toMatchObject({
        text: 'by proxy',
      });
      expect(proxied).toEqual(['http://name.invalid/page']);
    } finally {
      if (before === undefined) delete process.env.http_proxy;
      else process.env.http_proxy = before;
      await plugin.on_shutdown();
      await stop(proxy);
    }
  });
});

describe('http_request', () => {
  test('sends a body or JSON, and declares the effect', async () => {
    respond = (_, response) => response.writeHead(201, { location: '/1' }).end();
    const ctx = fakeContext();
    await http_request({ url: origin, method: 'POST', json: { a: [1] } }, ctx);
    await http_request(
      { url: origin, method: 'PUT', body: 'text', headers: { 'content-type': 'text/csv' } },
      ctx,
    );
    expect(seen).toMatchObject([
      { method: 'POST', body: '{"a":[1]}', headers: { 'content-type': 'application/json' } },
      { method: 'PUT', body: 'text', headers: { 'content-type': 'text/csv' } },
    ]);
    expect(ctx.effects).toEqual([
      { kind: 'http', method: 'POST', url: origin, status: 201 },
      { kind: 'http', method: 'PUT', url: origin, status: 201 },
    ]);
  });

  test('a redirect is returned, not followed', async () => {
    respond = (_, response) => response.writeHead(307, { location: '/elsewhere' }).end();
    const answer = await http_request({ url: origin, method: 'DELETE' }, fakeContext());
    expect(answer).toMatchObject({ status: 307, headers: { location: '/elsewhere' } });
    expect(seen).toHaveLength(1);
  });

  test('an effect is declared for what may have happened, not for what was refused', async () => {
    const ctx = fakeContext();
    await expect(http_request({ url: 'http://10.0.0.1/', method: 'POST' }, ctx)).rejects.toThrow();
    expect(ctx.effects).toEqual([]);
    respond = (request) => request.socket.destroy();
    await expect(http_request({ url: origin, method: 'POST', body: 'x' }, ctx)).rejects.toMatchObject({
      code: ErrorCode.Unavailable,
    });
    expect(ctx.effects).toEqual([{ kind: 'http', method: 'POST', url: origin, status: null }]);
  });
});
