// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of configuration
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

describe('a server that does not know the newest greeting', () => {
  const older = `(method) => method === 'tools/list' ? { tools: [{ name: 'a', inputSchema: { type: 'object' } }] } : undefined`;

  test('and dies of it is started again, and works', async () => {
    const dies = server(older).replace(
      'seen.push(method);',
      "seen.push(method); if (seen[0] !== 'initialize') process.exit(7);",
    );
    await withServer({ 'plugin.yaml': manifest(), 'server.mjs': dies }, (registry) => {
      expect(registry.problems()).toEqual([]);
      expect(registry.tools()).toHaveLength(1);
    });
  });

  test('and dies of every greeting is unavailable with what it said', async () => {
    await withServer(
      {
        'plugin.yaml': manifest(),
        'server.mjs': 'process.stdin.once("data", () => { console.error("no licence"); process.exit(7); });',
      },
      (registry) => {
        expect(registry.plugins()[0]?.unavailable).toMatchObject({
          phase: 'on_load',
          cause: { message: expect.stringContaining('exited with code 7: no licence') as string },
        });
      },
    );
  });
});

test('a number that a double cannot hold goes in and comes out as it was written', async () => {
  const raw = `
import readline from 'node:readline';
readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const number = /"id":([0-9]{16,})/.exec(line)?.[1];
  const answer = {
    initialize: '"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}',
    'tools/list': '"result":{"tools":[{"name":"same","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"id":{"type":"integer"}}}}]}',
    'tools/call': '"result":{"content":[],"structuredContent":{"id":' + number + '}}',
  }[method] ?? '"error":{"code":-32601,"message":"no"}';
  console.log('{"jsonrpc":"2.0","id":' + JSON.stringify(id) + ',' + answer + '}');
});`;
  await withServer({ 'plugin.yaml': manifest(), 'server.mjs': raw }, async (registry) => {
    const { rawJSON } = JSON as unknown as { rawJSON(this: void, text: string): never };
    const { data } = await call(registry, 'same', { id: rawJSON('9007199254740993') });
    expect(JSON.stringify(data)).toBe('{"id":9007199254740993}');
  });
});

describe('what a server asks of the harness', () => {
  /** Asks back in the middle of a call, and answers the call with what it got. */
  const asking = (method: string, params: object) => `
import readline from 'node:readline';
let call;
const send = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }));
readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, result, error } = JSON.parse(line);
  if (method === 'initialize') send({ id, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } } });
  else if (method === 'tools/list') send({ id, result: { tools: [{ name: 'ask', inputSchema: { type: 'object' } }] } });
  else if (method === 'tools/call') { call = id; send({ id: 'back', method: ${JSON.stringify(method)}, params: ${JSON.stringify(params)} }); }
  else if (id === 'back') send({ id: call, result: { content: [], structuredContent: result ?? { error } } });
  else if (id !== undefined) send({ id, error: { code: -32601, message: 'no' } });
});`;
  const sampling = { messages: [{ role: 'user', content: { type: 'text', text: 'Say hi.' } }], maxTokens: 5 };

  async function answerTo(method: string, params: object, more: string, answer?: object) {
    let given: unknown;
    let called: unknown;
    await withServer(
      { 'plugin.yaml': manifest(more), 'server.mjs': asking(method, params) },
      async (registry) => {
        const binding = registry.resolveTool('ask');
        if (isUnavailable(binding)) throw new Error(binding.cause.message);
        const running = invocation({ tool: 'ask', input: {} }, { answer: answer as never });
        given = (await binding.invoke(running)).data;
        called = running.recorded.called;
      },
    );
    return { given, called };
  }

  test("a model's answer is a child step of the call, when the manifest grants it", async () => {
    const response = { message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop', model: 'm-1' };
    const { given, called } = await answerTo(
      'sampling/createMessage',
      { ...sampling, systemPrompt: 'Be short.' },
      'permissions: { methods: [model.generate] }',
      { status: 'ok', response },
    );
    expect(given).toMatchObject({
      role: 'assistant',
      content: { type: 'text', text: 'hi' },
      model: 'm-1',
      stopReason: 'endTurn',
    });
    expect(called).toEqual([
      {
        method: 'model.generate',
        params: {
          messages: [
            { role: 'system', content: 'Be short.' },
            { role: 'user', content: 'Say hi.' },
          ],
          params: { max_tokens: 5 },
        },
      },
    ]);
  });

  const elicitation = { message: 'Your name?', requestedSchema: { type: 'object', properties: {} } };
  test.each([
    ['sampling/createMessage', sampling, 'its manifest does not list permissions.methods: [model.generate]'],
    ['roots/list', {}, 'its manifest does not list permissions.fs'],
    ['elicitation/create', elicitation, 'this harness does not serve it'],
  ])('%s that is not granted is refused with the reason', async (method, params, why) => {
    const { given, called } = await answerTo(method, params, '');
    expect(given).toEqual({ error: { code: -32601, message: `${method} is refused: ${why}` } });
    expect(called).toEqual([]);
  });

  test('its folders are those of its permissions', async () => {
    const { given } = await answerTo('roots/list', {}, 'permissions: { fs: { read: [./data] } }');
    const uri: unknown = expect.stringMatching(/^file:\/\/\/.*\/plugins\/server\/data$/);
    expect(given).toEqual({ roots: [{ uri, name: './data' }] });
  });
});

test("a server's environment is built from what was named, and holds nothing else", async () => {
  using folder = projectFolder({
    'plugins/server/plugin.yaml': manifest(),
    'plugins/server/server.mjs': caseFile('d3_env_server.mjs'),
    'chassis.yaml': 'plugins: { server: { env: { TOKEN: "${env:HARNESS_T1}" } } }',
  });
  const env = { PATH: process.env.PATH, HARNESS_T1: 's3cr3t-A', OTHER_API_KEY: 's3cr3t-B' };
  const registry = await startRegistry(await folder.open({ env }));
  try {
    const said = JSON.parse((await call(registry, 'env')).data as string) as {
      names: string[];
      token_len: number;
    };
    expect(said.token_len).toBe(8);
    expect(said.names).toEqual(expect.arrayContaining(['PATH', 'TOKEN']));
    expect(said.names).not.toContain('OTHER_API_KEY');
    expect(said.names).not.toContain('HARNESS_T1');
  } finally {
    await registry.close();
  }
});
