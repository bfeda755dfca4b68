/** Proxies and certificate authorities. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer as createHttp } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, connect, type Server } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ErrorCode } from '@chassis/errors';
import type { Message } from '@chassis/types';
import { afterEach, describe, expect, test } from 'vitest';
import { sse } from './fake-provider.ts';
import { ask, load, problem, unload } from './session.ts';

const hello: Message[] = [{ role: 'user', content: 'hello' }];
const tls = (name: string): string => join(import.meta.dirname, 'tls', name);
const opened: Server[] = [];
const answer = sse({ text: 'over there' });

async function listen(server: Server): Promise<number> {
  opened.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const secure = (): Promise<number> =>
  listen(
    createHttps(
      { key: readFileSync(tls('localhost-key.pem')), cert: readFileSync(tls('localhost-cert.pem')) },
      (_, response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(answer),
    ),
  );

afterEach(async () => {
  await unload();
  for (const server of opened.splice(0)) await new Promise((resolve) => server.close(resolve));
});

/** A child process has the environment that Node reads at its start, and no other. */
async function askOnce(baseUrl: string, env: { [name: string]: string }): Promise<string> {
  const script = join(import.meta.dirname, 'ask-once.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [script, baseUrl], {
    env: { PATH: process.env.PATH ?? '', ...env },
  });
  return stdout.trim();
}

describe('proxies', () => {
  test('HTTP_PROXY is used, NO_PROXY excepts from it', async () => {
    const asked: string[] = [];
    const port = await listen(
      createHttp((request, response) => {
        asked.push(`${request.headers.host} ${request.url}`);
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(answer);
      }),
    );
    const proxy = `http://127.0.0.1:${port}`;
    expect(await askOnce('http://model.invalid/v1', { HTTP_PROXY: proxy })).toBe('over there');
    expect(asked).toEqual(['model.invalid http://model.invalid/v1/chat/completions']);
    expect(await askOnce(`${proxy}/v1`, { HTTP_PROXY: 'http://127.0.0.1:9', NO_PROXY: '127.0.0.1' })).toBe(
      'over there',
    );
  });

  test('https goes through a tunnel', async () => {
    const target = await secure();
    const tunnels: string[] = [];
    const proxy = createHttp();
    proxy.on('connect', (request, client) => {
      tunnels.push(request.url ?? '');
      const upstream = connect(target, '127.0.0.1', () => {
        client.write('HTTP/1.1 200 OK\r\n\r\n');
        upstream.pipe(client).pipe(upstream);
      });
      for (const socket of [client, upstream]) socket.on('error', () => {});
    });
    const port = await listen(proxy);
    const env = { HTTPS_PROXY: `http://127.0.0.1:${port}`, NODE_EXTRA_CA_CERTS: tls('localhost-cert.pem') };
    expect(await askOnce('https://localhost:443/v1', env)).toBe('over there');
    expect(tunnels).toEqual(['localhost:443']);
  });
});

describe('certificates', () => {
  test('an unknown one is refused, with what to do', async () => {
    await load(`https://127.0.0.1:${await secure()}`, { own: { model: 'm', api_key: 'key' } });
    expect(await problem(hello, { model: 'own' })).toMatchObject({
      code: ErrorCode.ModelError,
      data: {
        network: 'DEPTH_ZERO_SELF_SIGNED_CERT',
        retryable: false,
        fix: expect.stringContaining('ca_file'),
      },
    });
  });

  test('ca_file adds one, relative to the project', async () => {
    const url = `https://127.0.0.1:${await secure()}`;
    await load(url, { own: { model: 'm', api_key: 'key' } }, { ca_file: 'tls/localhost-cert.pem' });
    expect((await ask(hello, { model: 'own' })).response.message.content).toBe('over there');
    for (const [ca_file, words] of [
      ['tls/none.pem', 'cannot be read'],
      ['tls/localhost-key.pem', 'holds no certificate'],
    ] as const) {
      await expect(load(url, {}, { ca_file })).rejects.toThrow(words);
    }
  });

  test('NODE_EXTRA_CA_CERTS adds one', async () => {
    const url = `https://localhost:${await secure()}`;
    expect(await askOnce(url, { NODE_EXTRA_CA_CERTS: tls('localhost-cert.pem') })).toBe('over there');
    expect(await askOnce(url, {})).toContain('DEPTH_ZERO_SELF_SIGNED_CERT');
  });
});
