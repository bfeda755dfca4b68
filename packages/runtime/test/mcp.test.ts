// MCP servers on stdio as plugins: versions, pages, names, results, noise, and an early end.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isUnavailable, type LiveRegistry, startRegistry } from '../src/index.ts';
import { invocation, projectFolder } from '../src/testing/project-folder.ts';

const manifest = (more = '') =>
  `name: server\nversion: 1.0.0\ndescription: An MCP server.\nruntime: mcp\ncommand: [node, server.mjs]\n${more}`;
const caseFile = (name: string) => readFileSync(join(import.meta.dirname, 'cases', name), 'utf8');

/** A server whose answers are a function of method and params, as text of a module. */
const server = (answer: string) => `
import readline from 'node:readline';
const seen = [];
const answer = ${answer};
readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  seen.push(method);
  if (id === undefined) return;
  const result = method === 'initialize' && answer(method, params) === undefined
    ? { protocolVersion: params.protocolVersion, capabilities: {}, serverInfo: { name: 's', version: '1' } }
    : answer(method, params);
  const body = result?.error ? { error: result.error } : { result: result ?? {} };
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...body }) + '\\n');
});`;

async function withServer(
  files: Readonly<Record<string, string>>,
  body: (registry: LiveRegistry) => void | Promise<void>,
): Promise<void> {
  using folder = projectFolder(
    Object.fromEntries(Object.entries(files).map(([path, text]) => [`plugins/server/${path}`, text])),
  );
  const registry = await startRegistry(await folder.open());
  try {
    await body(registry);
  } finally {
    await registry.close();
  }
}

async function call(registry: LiveRegistry, tool: string, input: object = {}) {
  const binding = registry.resolveTool(tool);
  if (isUnavailable(binding)) throw new Error(binding.cause.message);
  return binding.invoke(invocation({ tool: binding.definition.name, input: input as never }));
}

test('a noisy server works: its tools are found and called', async () => {
  await withServer(
    { 'plugin.yaml': manifest(), 'server.mjs': caseFile('c1_noisy_server.mjs') },
    async (registry) => {
      expect(registry.tools().map((tool) => tool.definition)).toMatchObject([
        {
          name: 'echo',
          description: 'echo',
          input: { type: 'object' },
          effects: 'external',
          approval: 'ask',
        },
      ]);
      expect(await call(registry, 'echo')).toMatchObject({ code: 0, data: 'pong' });
      expect(registry.diagnostics('server')?.noise_lines).toBe(5);
    },
  );
});

test('a server that dies in a call tells exit code and last words', async () => {
  await withServer(
    { 'plugin.yaml': manifest(), 'server.mjs': caseFile('c4_exit_server.mjs') },
    async (registry) => {
      await expect(call(registry, 'boom')).rejects.toMatchObject({
        message: expect.stringContaining('exited with code 3: fatal: cannot open store') as string,
      });
    },
  );
});

test('a server that never answers is unavailable by name after its deadline', async () => {
  await withServer(
    {
      'plugin.yaml': manifest('deadlines: { on_load_ms: 400 }'),
      'server.mjs': caseFile('c7_silent_server.mjs'),
    },
    (registry) => {
      expect(registry.plugins()).toMatchObject([
        { name: 'server', state: 'unavailable', unavailable: { phase: 'on_load' } },
      ]);
    },
  );
});

describe('the version', () => {
  const cases = JSON.parse(caseFile('c10_version_cases.json')) as {
    client_side: { server_answers: string | null; we: string }[];
  };
  test.each(cases.client_side)('that the server answers decides: %j', async ({ server_answers, we }) => {
    const answers = `(method) => method === 'initialize' ? { protocolVersion: ${JSON.stringify(server_answers)} ?? undefined, capabilities: {} } : method === 'tools/list' ? { tools: [{ name: 'a', inputSchema: { type: 'object' } }] } : undefined`;
    await withServer({ 'plugin.yaml': manifest(), 'server.mjs': server(answers) }, (registry) => {
      const cause = registry.plugins()[0]?.unavailable?.cause.message;
      if (we.startsWith('continue')) expect(registry.tools()).toHaveLength(1);
      else expect(cause).toContain(server_answers ?? 'protocolVersion is missing');
    });
  });
});

test('all pages of tools are read, odd names become safe ones, and one bad tool costs only itself', async () => {
  const answers = `(method, params) => {
    if (method === 'tools/call') return { content: [{ type: 'text', text: params.name + ' ' + JSON.stringify(params.arguments) }] };
    if (method !== 'tools/list') return undefined;
    const schema = { type: 'object' };
    if (params.cursor === undefined) return { tools: [{ name: 'plain', inputSchema: schema, annotations: { readOnlyHint: true } }], nextCursor: '2' };
    if (params.cursor === '2') return { tools: [{ name: 'files.read/all', inputSchema: schema }, { name: 'bad', inputSchema: { type: 'objcet' } }], nextCursor: '3' };
    return { tools: [{ name: 'plain', inputSchema: schema }, { inputSchema: schema }] };
  }`;
  await withServer(
    {
      'plugin.yaml': manifest(
        'tools: [{ name: files_read_all_ad3b59b9, description: x, effects: read }]',
      ).replace('files_read_all_ad3b59b9', 'gone'),
      'server.mjs': server(answers),
    },
    async (registry) => {
      const [odd = '', plain = ''] = registry.tools().map((tool) => tool.name);
      expect(odd).toMatch(/^files_read_all_[0-9a-f]{8}$/);
      expect(plain).toBe('plain');
      expect(await call(registry, odd, { x: 1 })).toMatchObject({ data: 'files.read/all {"x":1}' });
      expect(registry.tools().map((tool) => tool.definition.approval)).toEqual(['ask', 'auto']);
      expect(registry.problems().map((record) => record.cause.message)).toEqual([
        'tools/list names plain twice',
        'tools/list names a tool without a name',
        'plugin.yaml lists the tool "gone", but the server does not have it',
        expect.stringContaining('the input schema of bad is broken') as string,
      ]);
    },
  );
});

test("the manifest's word on a tool wins over the server's", async () => {
  const answers = `(method) => method === 'tools/list' ? { tools: [{ name: 'wipe', description: 'From the server.', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }] } : undefined`;
  await withServer(
    {
      'plugin.yaml': manifest('tools: [{ name: wipe, description: x, effects: external, timeout_ms: 5 }]'),
      'server.mjs': server(answers),
    },
    (registry) => {
      expect(registry.tools()[0]?.definition).toMatchObject({
        description: 'From the server.',
        effects: 'external',
        approval: 'ask',
        timeout_ms: 5,
      });
    },
  );
});

test("an error of the protocol and a tool's own error are told apart", async () => {
  const answers = `(method, params) => {
    if (method === 'tools/list') return { tools: ['own', 'protocol', 'nonsense'].map((name) => ({ name, inputSchema: { type: 'object' } })) };
    if (method !== 'tools/call') return undefined;
    if (params.name === 'own') return { isError: true, content: [{ type: 'text', text: 'no such file' }] };
    if (params.name === 'protocol') return { error: { code: -32602, message: 'unknown tool' } };
    return { hello: 1 };
  }`;
  await withServer({ 'plugin.yaml': manifest(), 'server.mjs': server(answers) }, async (registry) => {
    expect(await call(registry, 'own')).toMatchObject({ code: 1, error: { message: 'no such file' } });
    expect(await call(registry, 'protocol')).toMatchObject({
      code: -32602,
      error: { message: 'unknown tool' },
    });
    await expect(call(registry, 'nonsense')).rejects.toMatchObject({ code: -32009 });
    expect(await call(registry, 'own')).toMatchObject({ code: 1 });
  });
});
