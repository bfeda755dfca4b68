// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of manifests
// One suite for every host: the same plugin in-process, in a thread, as a process in two languages, over HTTP and WebSocket.

import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { webSocketTransport } from '@chassis/jsonrpc';
import { type Plugin, type PluginServer, serveHttp, servePlugin } from '@chassis/sdk';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import { isUnavailable, type LiveRegistry, startRegistry, type ToolBinding } from '../src/index.ts';
import { invocation, type ProjectFolder, projectFolder } from '../src/testing/project-folder.ts';

const TOOLS = [
  'add',
  'ask',
  'context',
  'crash_in_handler',
  'echo',
  'exact',
  'fail',
  'forbidden',
  'greet',
  'nan',
  'nothing',
  'talk',
  'wait',
];

const manifest = (how: string) => `
name: suite
version: 1.0.0
description: The plugin of the suite.
${how}
config: { type: object, properties: { greeting: { type: string }, marker: { type: string } } }
permissions: { secrets: [SUITE_SECRET], methods: [tool.other] }
models: [small]
agents: [parrot]
tools:
${TOOLS.map((name) => `  - { name: ${name}, description: Test., effects: none }`).join('\n')}
`;

const fixture = (name: string) => readFileSync(join(import.meta.dirname, 'fixtures', name), 'utf8');

/** The plugin as a server of its own, where the harness has not started it. */
const served = async (file: string, how: 'http' | 'ws'): Promise<PluginServer> => {
  const { default: plugin } = (await import(file)) as { default: Plugin };
  if (how === 'http') return serveHttp(plugin, { token: 's3cr3t-value' });
  const server = new WebSocketServer({
    port: 0,
    host: '127.0.0.1',
    verifyClient: ({ req }: { req: IncomingMessage }) => req.headers.authorization === 'Bearer s3cr3t-value',
  });
  server.on('connection', (socket) => void servePlugin(plugin, webSocketTransport(socket)));
  await once(server, 'listening');
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
};

const { rawJSON } = JSON as unknown as { rawJSON(this: void, text: string): never };

describe.each([
  [
    'inline',
    {
      'plugins/suite/plugin.yaml': manifest('runtime: inline\nmodule: ./index.ts'),
      'plugins/suite/index.ts': fixture('typescript.ts'),
    },
  ],
  [
    'worker',
    {
      'plugins/suite/plugin.yaml': manifest('runtime: worker\nmodule: ./index.ts'),
      'plugins/suite/index.ts': fixture('typescript.ts'),
    },
  ],
  [
    'TypeScript process',
    {
      'plugins/suite/plugin.yaml': manifest('runtime: process\ncommand: [node, index.ts]'),
      'plugins/suite/index.ts': fixture('typescript.ts'),
    },
  ],
  [
    'Python process',
    {
      'plugins/suite/plugin.yaml': manifest('runtime: process\ncommand: [python3, main.py]'),
      'plugins/suite/main.py': fixture('python.py'),
    },
  ],
  ...(['http', 'ws'] as const).map(
    (how) =>
      [
        how,
        {
          'plugins/suite/plugin.yaml': manifest(
            'runtime: http\nurl: URL\nheaders: { authorization: "Bearer ${secret:SUITE_SECRET}" }',
          ),
          'index.ts': fixture('typescript.ts'),
        },
      ] as const,
  ),
] as const)('%s', (name, files) => {
  let folder: ProjectFolder;
  let registry: LiveRegistry;
  let server: PluginServer | undefined;
  const logged: string[] = [];
  const secrets: [string, string][] = [];

  beforeAll(async () => {
    folder = projectFolder(files);
    folder.write({
      'chassis.yaml': `plugins: { suite: { config: { greeting: "\${env:HELLO}", marker: ${folder.root}/marker } } }\nsecrets: { SUITE_SECRET: { file: secret.txt } }\n`,
      'secret.txt': 's3cr3t-value\n',
    });
    if (name === 'http' || name === 'ws') {
      server = await served(join(folder.root, 'index.ts'), name);
      const written = files['plugins/suite/plugin.yaml'].replace('URL', server.url);
      folder.write({ 'plugins/suite/plugin.yaml': written });
    }
    const project = await folder.open({
      env: { PATH: process.env.PATH, HOME: process.env.HOME, HELLO: 'hello' },
    });
    registry = await startRegistry(project, {
      log: (_plugin, level, message) => logged.push(`${level} ${message}`),
      onSecret: (...secret) => secrets.push(secret),
    });
    expect(registry.problems()).toEqual([]);
  });

  afterAll(async () => {
    await registry?.close();
    await server?.close();
    folder?.[Symbol.dispose]();
  });

  const tool = (short: string): ToolBinding => {
    const binding = registry.resolveTool(short);
    if (isUnavailable(binding)) throw new Error(binding.cause.message);
    return binding;
  };
  const call = (short: string, input: object = {}) =>
    tool(short).invoke(invocation({ tool: short, input: input as never }));

  test('offers what its manifest lists', () => {
    expect(registry.tools().map((binding) => binding.name)).toEqual(TOOLS);
    expect(registry.plugins()).toMatchObject([{ name: 'suite', state: 'active', enforcement: 'declared' }]);
  });

  test('wraps a plain value into a Result', async () => {
    expect(await call('add', { a: 2, b: 3 })).toEqual({ code: 0, data: 5, error: null, trace_id: 't' });
    expect(await call('nothing')).toMatchObject({ code: 0, data: null });
  });

  test('gets its configuration expanded, and its secret', async () => {
    expect(await call('greet')).toMatchObject({ data: { greeting: 'hello', secret_length: 12 } });
    expect(secrets).toContainEqual(['SUITE_SECRET', 's3cr3t-value']);
    expect(logged).toContain('info loading');
  });

  test('keeps text whole: separators, lone surrogates, wide characters', async () => {
    const text = 'a\u2028b\u2029c\u0085d\r\ne\u0000f 漢字 👍 "\\';
    expect(await call('echo', { text, list: [[], {}, null, true, 1.5e-7] })).toMatchObject({
      data: { text, list: [[], {}, null, true, 1.5e-7] },
    });
  });

  test('can see a number that a double cannot hold', async () => {
    expect(await call('exact', { id: rawJSON('9007199254740993') })).toMatchObject({
      data: '{"id":9007199254740993}',
    });
  });

  test('answers a failure of its own with its code and details', async () => {
    expect(await call('fail')).toEqual({
      code: -32007,
      data: null,
      error: { message: 'too fast', details: { retry_after_ms: 5 } },
      trace_id: 't',
    });
  });

  test('survives a handler that throws something unforeseen', async () => {
    const result = await call('crash_in_handler');
    expect(result.code).toBe(-32603);
    const { place } = (result.error?.details ?? {}) as { place?: string };
    expect(result.error?.message).toMatch(/no such thing/);
    // A server elsewhere does not know where the plugin's folder is.
    if (server === undefined) {
      expect(place).toMatch(name === 'Python process' ? /^main\.py:\d+$/ : /^index\.ts:\d+$/);
      expect(result.error?.message).toContain(` (${place})`);
    }
    expect(await call('add', { a: 1, b: 1 })).toMatchObject({ data: 2 });
  });

  test('never slips in a value that JSON would change', async () => {
    expect(await call('nan')).toMatchObject({ code: -32009, error: { details: { path: '/rows/1' } } });
  });

  test('reports progress, log lines and effects with the call, and may print', async () => {
    const running = invocation({ tool: 'talk', input: {} });
    expect(await tool('talk').invoke(running)).toMatchObject({ code: 0, data: 'done' });
    expect(running.recorded.progress).toEqual([{ percent: 50 }]);
    expect(running.recorded.logged).toEqual(['warn half way']);
    const [effect] = running.recorded.effects;
    expect(effect).toMatchObject({ kind: 'file', path: 'a.txt', before: null });
    expect(Buffer.from((effect as { after: Uint8Array }).after).toString()).toBe('new');
  });

  test('calls back for what is not deterministic, and for what it may call', async () => {
    const running = invocation({ tool: 'ask', input: {} }, { answer: { status: 'ok', output: { y: 2 } } });
    expect(await tool('ask').invoke(running)).toMatchObject({
      code: 0,
      data: { now: 1000, random: 0.5, uuid: 'a-uuid', secret_length: 12, answer: { y: 2 } },
    });
    expect(running.recorded.called).toEqual([
      { method: 'tool.call', params: { name: 'other', arguments: { x: 1 } } },
    ]);
  });

  test('may not call what its manifest does not list', async () => {
    const running = invocation({ tool: 'forbidden', input: {} });
    expect(await tool('forbidden').invoke(running)).toMatchObject({ code: -32005 });
    expect(running.recorded.called).toEqual([]);
  });

  test('knows the call that it serves', async () => {
    expect(await call('context')).toMatchObject({
      data: { session: 's', step: 1, attempt: 1, idempotency_key: 'k', workspace: '/' },
    });
  });

  test('serves many calls at once, each with its own answer', async () => {
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, i) => {
        const running = invocation({ tool: 'add', input: { a: i, b: 1 } });
        return tool('add').invoke({ ...running, ctx: { ...running.ctx, trace_id: `t${i}` } });
      }),
    );
    expect(results.map((result) => [result.data, result.trace_id])).toEqual(
      Array.from({ length: 50 }, (_, i) => [i + 1, `t${i}`]),
    );
  });

  test('is told of a cancellation', async () => {
    const stop = new AbortController();
    const running = invocation({ tool: 'wait', input: {} }, { signal: stop.signal });
    const result = tool('wait').invoke(running);
    await vi.waitFor(() => expect(running.recorded.progress).toHaveLength(1), { timeout: 20_000 });
    stop.abort();
    expect(await result).toMatchObject({ code: -32003 });
    await vi.waitFor(() => expect(existsSync(join(folder.root, 'marker.cancelled'))).toBe(true), {
      timeout: 20_000,
    });
  });

  test('serves a model with streamed pieces, found by name and provider id', async () => {
    const binding = registry.resolveModel('small/large-3');
    if (isUnavailable(binding)) throw new Error(binding.cause.message);
    expect(binding.id).toBe('large-3');
    const running = invocation({
      model: binding.name,
      input: { messages: [{ role: 'user', content: 'hi' }], tools: [], params: { model: 'large-3' } },
    });
    expect(await binding.invoke(running)).toMatchObject({
      code: 0,
      data: { message: { role: 'assistant', content: 'Hello from small, 1 message' }, finish_reason: 'stop' },
    });
    expect(running.recorded.progress).toEqual([{ text: 'Hel' }, { text: 'lo' }]);
  });

  test('serves an agent that reaches a model without a permission of its own', async () => {
    const binding = registry.resolveAgent('parrot');
    if (isUnavailable(binding)) throw new Error(binding.cause.message);
    const running = invocation(
      { agent: 'parrot', input: { content: 'hi', turn: 1 } },
      { answer: { ok: true } },
    );
    expect(await binding.invoke(running)).toMatchObject({ data: { said: 'hi', answer: { ok: true } } });
    expect(running.recorded.called.map((called) => called.method)).toEqual(['model.generate']);
  });

  test('shuts down with its hook run', async () => {
    await registry.close();
    expect(readFileSync(join(folder.root, 'marker'), 'utf8')).toBe('shut down');
    expect(isUnavailable(registry.resolveTool('add'))).toBe(true);
    if (files['plugins/suite/plugin.yaml'].includes('command') || name === 'worker')
      expect(logged.join('\n')).toContain('printed by the plugin');
  });
});
