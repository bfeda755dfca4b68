// One MCP server of the official package, over every transport and version: the same words, the same results.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { isUnavailable, type LiveRegistry, startRegistry } from '../src/index.ts';
import { invocation, type ProjectFolder, projectFolder } from '../src/testing/project-folder.ts';

const FIXTURE = join(import.meta.dirname, 'fixtures/mcp-server.mjs');
const TOOLS = ['broken', 'echo', 'era', 'grow', 'picture', 'steps', 'wait'];

async function listening(): Promise<{ readonly url: string; readonly server: ChildProcess }> {
  const server = spawn(process.execPath, [FIXTURE, 'http'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(server.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  return { url: String(line).trim(), server };
}

describe.each([
  ['stdio', [], 'modern'],
  ['HTTP', ['http'], 'modern'],
  ['stdio, an older version', ['legacy'], 'legacy'],
] as const)('over %s', (_name, how, era) => {
  let folder: ProjectFolder;
  let registry: LiveRegistry;
  let server: ChildProcess | undefined;
  const logged: string[] = [];

  beforeAll(async () => {
    let where = `command: [node, ${[FIXTURE, ...how].map((word) => JSON.stringify(word)).join(', ')}]`;
    if (how[0] === 'http') {
      const found = await listening();
      server = found.server;
      where = `url: ${found.url}`;
    }
    folder = projectFolder({
      'plugins/m/plugin.yaml': `name: m\nversion: 1.0.0\ndescription: x\nruntime: mcp\n${where}\ndeadlines: { on_load_ms: 60000 }\n`,
    });
    registry = await startRegistry(await folder.open(), {
      log: (_plugin, level, message) => logged.push(`${level} ${message}`),
    });
    expect(registry.problems()).toEqual([]);
  });

  afterAll(async () => {
    await registry?.close();
    server?.kill('SIGKILL');
    folder?.[Symbol.dispose]();
  });

  const start = (tool: string, input: object = {}, signal?: AbortSignal) => {
    const binding = registry.resolveTool(tool);
    if (isUnavailable(binding)) throw new Error(binding.cause.message);
    const running = invocation({ tool, input: input as never }, signal === undefined ? {} : { signal });
    return { result: binding.invoke(running), recorded: running.recorded };
  };

  test('its tools are there, with what it says of them', () => {
    expect(registry.tools().map((tool) => tool.name)).toEqual(TOOLS);
    expect(registry.tools()[0]?.definition).toMatchObject({
      description: 'broken',
      effects: 'read',
      approval: 'auto',
    });
  });

  test('the newest version that both speak is spoken', async () => {
    const { data } = await start('era').result;
    expect(data).toBe(era);
    expect(logged.join('\n')).toMatch(era === 'modern' ? /MCP 2026-07-28/ : /MCP 2025-11-25/);
  });

  test('arguments arrive, failures stay failures, attachments stay attached', async () => {
    expect(await start('echo', { words: 'a b "c" ✓' }).result).toMatchObject({
      data: JSON.stringify({ words: 'a b "c" ✓' }),
    });
    expect(await start('broken').result).toMatchObject({ code: 1, error: { message: 'no such file' } });
    expect((await start('picture').result).data).toEqual({
      text: 'a dot\n[image image/png, 9 bytes]',
      $content: [
        { type: 'text', text: 'a dot' },
        { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' },
      ],
    });
  });

  test('progress is heard, all of it, before the answer', async () => {
    const { result, recorded } = start('steps');
    expect(await result).toMatchObject({ data: 'done' });
    expect(recorded.progress).toEqual([
      { progress: 1, total: 2 },
      { progress: 2, total: 2 },
    ]);
  });

  test('a cancelled call ends at once, and the next one works', async () => {
    const stop = new AbortController();
    const { result } = start('wait', {}, stop.signal);
    setTimeout(() => stop.abort(), 50);
    expect(await result).toMatchObject({ code: -32003 });
    expect(await start('era').result).toMatchObject({ code: 0 });
  });

  test('tools that it adds while it runs are there, and whoever watches is told', async () => {
    const told: string[][] = [];
    registry.subscribe((status) => told.push([...status.tools]));
    await start('grow').result;
    await vi.waitFor(() => expect(told.at(-1)).toContain('grown'), { timeout: 20_000 });
    expect(await start('grown').result).toMatchObject({ data: 'I am new' });
  });
});

test('a server over HTTP that goes away is unavailable with the reason', async () => {
  const { url, server } = await listening();
  using folder = projectFolder({
    'plugins/m/plugin.yaml': `name: m\nversion: 1.0.0\ndescription: x\nruntime: mcp\nurl: ${url}\n`,
  });
  const registry = await startRegistry(await folder.open());
  try {
    const binding = registry.resolveTool('era');
    if (isUnavailable(binding)) throw new Error(binding.cause.message);
    server.kill('SIGKILL');
    await once(server, 'exit');
    await expect(binding.invoke(invocation({ tool: 'era', input: {} }))).rejects.toMatchObject({
      code: -32004,
    });
    await vi.waitFor(() => expect(registry.plugins()[0]?.unavailable?.cause.message).toContain(url), {
      timeout: 20_000,
    });
  } finally {
    await registry.close();
  }
});

test('a server with sessions is greeted anew when it was restarted and has forgotten ours', async () => {
  const bin = join(import.meta.dirname, '../../../node_modules/.bin/mcp-server-everything');
  const listen = createServer().listen(0, '127.0.0.1');
  await once(listen, 'listening');
  const { port } = listen.address() as AddressInfo;
  listen.close();
  const serve = async (): Promise<ChildProcess> => {
    const child = spawn(process.execPath, [bin, 'streamableHttp'], {
      env: { PATH: process.env.PATH, PORT: String(port) },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await vi.waitFor(() => fetch(`http://127.0.0.1:${port}/mcp`), { timeout: 60_000 });
    return child;
  };
  using folder = projectFolder({
    'plugins/m/plugin.yaml': `name: m\nversion: 1.0.0\ndescription: x\nruntime: mcp\nurl: http://127.0.0.1:${port}/mcp\n`,
  });
  const first = await serve();
  const registry = await startRegistry(await folder.open(), {
    backOff: { first_ms: 20, factor: 1, most_ms: 20, tries: 1000, window_ms: 60_000 },
  });
  const sum = () => {
    const binding = registry.resolveTool('get-sum');
    if (isUnavailable(binding)) throw new Error(binding.cause.message);
    return binding.invoke(invocation({ tool: 'get-sum', input: { a: 2, b: 3 } }));
  };
  let second: ChildProcess | undefined;
  try {
    expect(await sum()).toMatchObject({ code: 0, data: 'The sum of 2 and 3 is 5.' });
    first.kill('SIGKILL');
    await once(first, 'exit');
    second = await serve();
    await vi.waitFor(async () => expect(await sum()).toMatchObject({ code: 0 }), { timeout: 30_000 });
  } finally {
    await registry.close();
    second?.kill('SIGKILL');
  }
});

test.each(['application/json', 'text/event-stream'])(
  'a number that a double cannot hold goes and comes as it was written, over HTTP with %s',
  async (type) => {
    const http = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const line = Buffer.concat(chunks).toString();
        const { id, method } = (line === '' ? {} : JSON.parse(line)) as { id?: unknown; method?: string };
        if (id === undefined) {
          response.writeHead(request.method === 'POST' ? 202 : 405).end();
          return;
        }
        const number = /"id":(\d{16,})/.exec(line)?.[1];
        const answers: Record<string, string> = {
          initialize:
            '"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}',
          'tools/list': '"result":{"tools":[{"name":"same","inputSchema":{"type":"object"}}]}',
          'tools/call': `"result":{"content":[],"structuredContent":{"id":${number},"list":[1,2.5e300,${number}0.5]}}`,
        };
        const answer = answers[method ?? ''] ?? '"error":{"code":-32601,"message":"no"}';
        const text = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},${answer}}`;
        response.writeHead(200, { 'content-type': type });
        response.end(type === 'application/json' ? text : `event: message\ndata: ${text}\n\n`);
      });
    });
    await once(http.listen(0, '127.0.0.1'), 'listening');
    const { port } = http.address() as AddressInfo;
    using folder = projectFolder({
      'plugins/m/plugin.yaml': `name: m\nversion: 1.0.0\ndescription: x\nruntime: mcp\nurl: http://127.0.0.1:${port}/mcp\n`,
    });
    const registry = await startRegistry(await folder.open());
    try {
      const binding = registry.resolveTool('same');
      if (isUnavailable(binding)) throw new Error(binding.cause.message);
      const { rawJSON } = JSON as unknown as { rawJSON(this: void, text: string): never };
      const input = { id: rawJSON('9007199254740993') };
      const { data } = await binding.invoke(invocation({ tool: 'same', input }));
      expect(JSON.stringify(data)).toBe('{"id":9007199254740993,"list":[1,2.5e+300,90071992547409930.5]}');
    } finally {
      await registry.close();
      http.close();
      http.closeAllConnections();
    }
  },
);

test('headers are sent, and a server that wants others says so', async () => {
  const seen: unknown[] = [];
  const http = createServer((request, response) => {
    seen.push(request.headers['x-key']);
    response.writeHead(401).end();
  });
  await once(http.listen(0, '127.0.0.1'), 'listening');
  const { port } = http.address() as { port: number };
  using folder = projectFolder({
    'plugins/m/plugin.yaml': `name: m\nversion: 1.0.0\ndescription: x\nruntime: mcp\nurl: http://127.0.0.1:${port}/mcp\n`,
    'chassis.yaml': 'plugins: { m: { headers: { X-Key: abc } } }\n',
  });
  const registry = await startRegistry(await folder.open());
  try {
    expect(seen[0]).toBe('abc');
    expect(registry.plugins()[0]?.unavailable).toMatchObject({
      cause: { message: expect.stringContaining('HTTP status 401') as string },
      fix: 'give it credentials that the server takes: headers in plugin.yaml, or plugins.m.headers',
    });
  } finally {
    await registry.close();
    http.close();
    http.closeAllConnections();
  }
});
