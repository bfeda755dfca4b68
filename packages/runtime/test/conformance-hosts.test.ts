// One conformance suite against every way in which a plugin can run: the same tool, the same checks.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { webSocketTransport } from '@chassis/jsonrpc';
import { serveHttp, servePlugin } from '@chassis/sdk';
import { afterAll, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { testPlugin } from '../src/index.ts';
import { type ProjectFolder, projectFolder } from '../src/testing/project-folder.ts';

const plugin = {
  tools: { count_words: ({ text }: { text: string }) => ({ words: text.split(/\s+/).length }) },
};
const TYPESCRIPT = `import { definePlugin, serve } from '@chassis/sdk';
const plugin = definePlugin({ tools: { count_words: ({ text }) => ({ words: text.split(/\\s+/).length }) } });
export default plugin;
if (import.meta.main) await serve(plugin);`;
const PYTHON = `from chassis_sdk import Plugin
plugin = Plugin()
@plugin.tool
def count_words(text):
    return {"words": len(text.split())}
plugin.run()`;
const SHELL = `
# No SDK: one JSON-RPC message a line, answered with the shell's own means.
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":"\\([^"]*\\)".*/\\1/p')
  reply() { printf '{"jsonrpc":"2.0","id":"%s",%s}\\n' "$id" "$1"; }
  case $line in
    *'"method":"plugin.invoke"'*'"tool":"count_words"'*)
      text=$(printf '%s' "$line" | sed -n 's/.*"text":"\\([^"]*\\)".*/\\1/p')
      set -f; set -- $text
      reply "\\"result\\":{\\"code\\":0,\\"data\\":{\\"words\\":$#},\\"error\\":null}" ;;
    *'"method":"plugin.invoke"'*)
      reply '"result":{"code":-32601,"data":null,"error":{"message":"no such tool"}}' ;;
    *'"method":"tool.cancel"'*) ;;
    *) reply '"error":{"code":-32601,"message":"Method not found"}' ;;
  esac
done
`;
const BARE = `import json, sys
for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request: continue
    known = request["method"] == "count_words"
    answer = {"result": {"words": len(request["params"]["text"].split())}} if known else {"error": {"code": -32601, "message": "Method not found"}}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}), flush=True)
`;

const TOOL = `
tools:
  - name: count_words
    description: Counts words.
    effects: none
    input: { type: object, properties: { text: { type: string } }, required: [text] }
    output: { type: object, properties: { words: { type: integer } }, required: [words] }
`;
const manifest = (how: string, tool = TOOL) =>
  `name: words\nversion: 1.0.0\ndescription: Counts.\n${how}\ndeadlines: { on_load_ms: 60000, on_shutdown_ms: 30000 }\n${tool}`;
const mcp = (how: string) => ({ 'p/plugin.yaml': manifest(`runtime: mcp\n${how}`, '') });
const FIXTURE = join(import.meta.dirname, 'fixtures/mcp-server.mjs');

const cleanUp: (() => unknown)[] = [];
afterAll(async () => {
  for (const work of cleanUp.toReversed()) await work();
});

async function webSocketServer(): Promise<string> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  cleanUp.push(() => server.close());
  server.on('connection', (socket) => void servePlugin(plugin, webSocketTransport(socket)));
  await once(server, 'listening');
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

async function httpServer(): Promise<string> {
  const server = await serveHttp(plugin);
  cleanUp.push(() => server.close());
  return server.url;
}

async function mcpServer(): Promise<string> {
  const { spawn } = await import('node:child_process');
  const server = spawn(process.execPath, [FIXTURE, 'http'], { stdio: ['ignore', 'pipe', 'inherit'] });
  cleanUp.push(() => server.kill('SIGKILL'));
  const [line] = (await once(server.stdout, 'data')) as [Buffer];
  return String(line).trim();
}

const HOSTS: Record<string, () => Record<string, string> | Promise<Record<string, string>>> = {
  inline: () => ({
    'p/plugin.yaml': manifest('runtime: inline\nmodule: ./index.ts'),
    'p/index.ts': TYPESCRIPT,
  }),
  worker: () => ({
    'p/plugin.yaml': manifest('runtime: worker\nmodule: ./index.ts'),
    'p/index.ts': TYPESCRIPT,
  }),
  'process in TypeScript': () => ({
    'p/plugin.yaml': manifest('runtime: process\ncommand: [node, index.ts]'),
    'p/index.ts': TYPESCRIPT,
  }),
  'process in Python': () => ({
    'p/plugin.yaml': manifest('runtime: process\ncommand: [python3, main.py]'),
    'p/main.py': PYTHON,
  }),
  'process in shell': () => ({
    'p/plugin.yaml': manifest('runtime: process\ncommand: [sh, plugin.sh]'),
    'p/plugin.sh': SHELL,
  }),
  'bare JSON-RPC process': () => ({
    'p/plugin.yaml': manifest(
      'runtime: process\nprotocol: jsonrpc\ncommand: [python3, server.py]',
      `${TOOL}    method: count_words\n`,
    ),
    'p/server.py': BARE,
  }),
  HTTP: async () => ({ 'p/plugin.yaml': manifest(`runtime: http\nurl: ${await httpServer()}`) }),
  WebSocket: async () => ({ 'p/plugin.yaml': manifest(`runtime: http\nurl: ${await webSocketServer()}`) }),
  'MCP over stdio': () => mcp(`command: [node, ${JSON.stringify(FIXTURE)}]`),
  'MCP over HTTP': async () => mcp(`url: ${await mcpServer()}`),
};

const EVERY = [
  'the manifest and what it names are in order',
  'it loads and is ready in time',
  'it serves exactly what its manifest lists',
  'TOOL answers a Result that keeps its output schema',
  '8 calls at once are answered, each with its own Result',
  'a call that is given up on the way comes to an end',
  'a call of an unknown tool is refused',
  'a cancelled call ends at once',
  'stdout carries messages only',
  'it is still well after all that',
  'a second one can be started beside it, and takes its place',
  'it shuts down in time',
];

test.each(Object.keys(HOSTS))('%s', async (host) => {
  using folder: ProjectFolder = projectFolder((await HOSTS[host]?.()) ?? {});
  const mcpTool = host.startsWith('MCP');
  const inputs = mcpTool ? { echo: { words: 'a b' } } : { count_words: { text: 'one two three' } };
  const report = await testPlugin(join(folder.root, 'p'), { inputs });
  expect(report.checks.filter((check) => !check.ok)).toEqual([]);
  const names = report.checks.map((check) => check.name);
  const title = mcpTool ? 'echo' : 'count_words';
  expect(names).toEqual(expect.arrayContaining(EVERY.map((name) => name.replace('TOOL', title))));
  expect(names.includes('nothing of it is left after shutdown')).toBe(/process|stdio/.test(host));
});
