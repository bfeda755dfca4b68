// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of manifests
// Plugins on other machines: who is let in, what is said when nobody answers, and how they come back.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { httpHandler, Peer } from '@chassis/jsonrpc';
import { serveHttp } from '@chassis/sdk';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import { isUnavailable, type LiveRegistry, type Project, startRegistry } from '../src/index.ts';
import { invocation, type ProjectFolder, projectFolder } from '../src/testing/project-folder.ts';

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const work of cleanUp.splice(0).toReversed()) await work();
});

const remote = (url: string, more = '') =>
  `name: far\nversion: 1.0.0\ndescription: Somewhere else.\nruntime: http\nurl: ${url}\ntools: [{ name: hello, description: x, effects: none }]\n${more}`;

const quickly = { first_ms: 20, factor: 1, most_ms: 20, tries: 1000, window_ms: 60_000 };

function folderWith(manifest: string, config = ''): ProjectFolder {
  const folder = projectFolder({ 'plugins/far/plugin.yaml': manifest, 'chassis.yaml': config });
  cleanUp.push(() => folder[Symbol.dispose]());
  return folder;
}

async function start(folder: ProjectFolder, env: Record<string, string> = {}): Promise<LiveRegistry> {
  const project: Project = await folder.open({ env: { PATH: process.env.PATH, ...env } });
  const registry = await startRegistry(project, { backOff: quickly, readyEveryMs: 50 });
  cleanUp.push(() => registry.close());
  return registry;
}

const hello = { tools: { hello: () => 'hello from afar' } };

async function call(registry: LiveRegistry, tool = 'hello', input: object = {}) {
  const binding = registry.resolveTool(tool);
  if (isUnavailable(binding)) throw new Error(binding.cause.message);
  return binding.invoke(invocation({ tool, input: input as never }));
}

const status = (registry: LiveRegistry) => registry.plugins()[0];

describe('credentials', () => {
  const manifest = (url: string) =>
    remote(
      url,
      'headers: { authorization: "Bearer ${secret:FAR_TOKEN}" }\npermissions: { secrets: [FAR_TOKEN] }\n',
    );

  test('are sent by reference to a secret', async () => {
    const server = await serveHttp(hello, { token: 's3cr3t-T' });
    cleanUp.push(() => server.close());
    const registry = await start(folderWith(manifest(server.url)), { FAR_TOKEN: 's3cr3t-T' });
    expect(await call(registry)).toMatchObject({ code: 0, data: 'hello from afar' });
  });

  test('that are wrong are told without their value', async () => {
    const server = await serveHttp(hello, { token: 's3cr3t-T' });
    cleanUp.push(() => server.close());
    const registry = await start(folderWith(manifest(server.url)), { FAR_TOKEN: 's3cr3t-W' });
    expect(status(registry)?.unavailable).toMatchObject({
      cause: { message: `plugin far: ${server.url}: HTTP status 401` },
      fix: 'give it credentials that the server takes: headers in plugin.yaml, or plugins.far.headers',
    });
    expect(JSON.stringify(registry.plugins())).not.toContain('s3cr3t');
  });

  test('that are not set keep it from starting, by the place in the manifest', async () => {
    const folder = folderWith(manifest('http://127.0.0.1:1/'));
    const registry = await start(folder);
    expect(status(registry)).toMatchObject({
      state: 'failed',
      unavailable: {
        phase: 'config',
        cause: { message: `${folder.root}/plugins/far/plugin.yaml:7:27: the secret FAR_TOKEN is not set` },
      },
    });
  });

  test("of the project win over the manifest's, and are named by their place", async () => {
    const config = 'plugins:\n  far:\n    headers:\n      Authorization: "Bearer ${env:MINE}"\n';
    const server = await serveHttp(hello, { token: 's3cr3t-M' });
    cleanUp.push(() => server.close());
    const registry = await start(folderWith(manifest(server.url), config), {
      FAR_TOKEN: 'no',
      MINE: 's3cr3t-M',
    });
    expect(await call(registry)).toMatchObject({ data: 'hello from afar' });
    const folder = folderWith(manifest(server.url), config);
    const without = await start(folder, { FAR_TOKEN: 'no' });
    expect(status(without)?.unavailable?.cause.message).toBe(
      `${folder.root}/chassis.yaml:4:22: the variable MINE is not set`,
    );
  });

  test.each([
    ['url: "http://me:pw@host/"', 'an address holds no credentials'],
    ['url: "ws://["', 'is no address'],
    ['url: "http://h/"\nheaders: { a: "${secret:X}" }', 'needs X, which permissions.secrets does not list'],
    ['url: "http://h/"\nheaders: { "a b": c }', 'a name of a header'],
  ])('are refused in the manifest where they do not belong: %j', async (lines, message) => {
    const folder = folderWith(`name: far\nversion: 1.0.0\ndescription: x\nruntime: http\n${lines}\n`);
    const { broken } = (await folder.open()).catalogue;
    expect(broken[0]?.record.cause.message).toContain(message);
  });
});

describe('a server that is not there', () => {
  test.each(['http', 'ws'])('is told as such, over %s', async (scheme) => {
    const registry = await start(folderWith(remote(`${scheme}://127.0.0.1:1/x`)));
    const record = status(registry)?.unavailable;
    expect(record).toMatchObject({
      phase: 'on_load',
      cause: { code: -32004 },
      fix: expect.stringContaining(`check that the server at ${scheme}://127.0.0.1:1/x is up`) as string,
    });
    expect(record?.cause.message).toMatch(/127\.0\.0\.1:1\/x(?: is over)?: .*(?:ECONNREFUSED|bad port)/);
  });

  test.each(['http', 'ws'])('and a page that is no plugin is told by its status, over %s', async (scheme) => {
    const server = createServer((_request, response) => response.writeHead(404).end('<html>'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanUp.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    const registry = await start(folderWith(remote(`${scheme}://127.0.0.1:${port}/`)));
    expect(status(registry)?.unavailable?.cause.message).toContain('404');
  });
});

test('a server that goes away fails its calls at once, and is used again when it is back', async () => {
  const stuck = { tools: { hello: () => new Promise(() => {}) } };
  const first = await serveHttp(stuck);
  const port = Number(new URL(first.url).port);
  const registry = await start(folderWith(remote(first.url)));
  const changes: string[] = [];
  registry.subscribe(({ state }) => changes.push(state));
  const hanging = call(registry).catch((error: unknown) => error);
  await first.close();
  const failed = (await hanging) as { code: number };
  expect(failed.code).toBe(-32004);
  await vi.waitFor(() => expect(status(registry)?.state).not.toBe('active'), { timeout: 20_000 });
  const second = await serveHttp(hello, { port });
  cleanUp.push(() => second.close());
  await vi.waitFor(async () => expect(await call(registry)).toMatchObject({ data: 'hello from afar' }), {
    timeout: 30_000,
  });
  expect(changes).toContain('unavailable');
});

test('a server that was restarted in between is loaded anew, without being found gone', async () => {
  const first = await serveHttp(hello);
  const port = Number(new URL(first.url).port);
  const folder = folderWith(remote(first.url));
  const registry = await startRegistry(await folder.open(), { backOff: quickly });
  cleanUp.push(() => registry.close());
  await first.close();
  const second = await serveHttp(hello, { port });
  cleanUp.push(() => second.close());
  await vi.waitFor(async () => expect(await call(registry)).toMatchObject({ code: 0 }), { timeout: 30_000 });
});

test('a WebSocket that breaks fails its calls with the reason, and is opened again', async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  cleanUp.push(() => server.close());
  let connections = 0;
  server.on('connection', (socket) => {
    connections++;
    socket.on('message', (data) => {
      const { id, method } = JSON.parse(String(data)) as { id?: string; method: string };
      if (method === 'tool.hello' && connections === 1) socket.terminate();
      else if (id !== undefined)
        socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: `on ${connections}` }));
    });
  });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const registry = await start(folderWith(remote(`ws://127.0.0.1:${port}/`, 'protocol: jsonrpc\n')));
  await expect(call(registry)).rejects.toMatchObject({
    code: -32004,
    message: expect.stringContaining('the other side closed the WebSocket (1006)') as string,
  });
  await vi.waitFor(async () => expect(await call(registry)).toMatchObject({ data: 'on 2' }), {
    timeout: 30_000,
  });
});

test('a bare JSON-RPC server over HTTP says itself which tools it has', async () => {
  const handler = httpHandler((transport) =>
    new Peer(transport, { discover: false })
      .method('tool.list', () => [{ name: 'add', effects: 'none', input: { type: 'object' } }])
      .method<{ a: number; b: number }>('tool.add', ({ a, b }) => a + b),
  );
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUp.push(
    () => server.close(),
    () => server.closeAllConnections(),
  );
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const registry = await start(
    folderWith(`name: far\nversion: 1.0.0\ndescription: x\nruntime: http\nprotocol: jsonrpc\nurl: ${url}\n`),
  );
  expect(registry.problems()).toEqual([]);
  expect(await call(registry, 'add', { a: 2, b: 3 })).toMatchObject({ code: 0, data: 5 });
});
