// Whatever a plugin starts ends with it: after a stop, a reload, and a harness that was killed without a word.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { isUnavailable, type LiveRegistry, startRegistry } from '../src/index.ts';
import { invocation, projectFolder } from '../src/testing/project-folder.ts';

/** Speaks every protocol, ignores every signal, and has a child that ignores them too and has lost its pipes. */
const STUBBORN = `
import { spawn } from 'node:child_process';
import readline from 'node:readline';
for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT']) process.on(signal, () => {});
const child = spawn(process.execPath, ['-e', "for (const s of ['SIGTERM','SIGHUP','SIGINT']) process.on(s, () => {}); setInterval(() => {}, 1e6)"], { stdio: 'ignore' });
const pids = [process.pid, child.pid];
const answers = {
  'plugin.load': {}, 'plugin.ready': true, 'plugin.shutdown': null,
  'plugin.invoke': { code: 0, data: pids, error: null },
  pids,
  initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } },
  'tools/list': { tools: [{ name: 'pids', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [{ type: 'text', text: JSON.stringify(pids) }] },
};
readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const known = Object.hasOwn(answers, method);
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...(known ? { result: answers[method] } : { error: { code: -32601, message: 'no' } }) }));
});
setInterval(() => {}, 1e6);
`;

const TOOLS = 'tools: [{ name: pids, description: x, effects: none METHOD}]\n';
const HOSTS = [
  ['a process', 'runtime: process\n', TOOLS.replace('METHOD', '')],
  [
    'a bare JSON-RPC process',
    'runtime: process\nprotocol: jsonrpc\n',
    TOOLS.replace('METHOD', ', method: pids '),
  ],
  ['an MCP server', 'runtime: mcp\n', ''],
] as const;

const files = (how: string, tools: string) => ({
  'plugins/stubborn/plugin.yaml': `name: stubborn\nversion: 1.0.0\ndescription: x\n${how}command: [sh, -c, "node server.mjs; true"]\ndeadlines: { on_shutdown_ms: 500 }\n${tools}`,
  'plugins/stubborn/server.mjs': STUBBORN,
});

async function pidsOf(registry: LiveRegistry): Promise<number[]> {
  const binding = registry.resolveTool('pids');
  if (isUnavailable(binding)) throw new Error(binding.cause.message);
  const { data } = await binding.invoke(invocation({ tool: 'pids', input: {} }));
  return (typeof data === 'string' ? JSON.parse(data) : data) as number[];
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const gone = (pids: readonly number[]) =>
  vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]), { timeout: 30_000 });

describe.each(HOSTS)('%s that leaves grandchildren and ignores every signal', (_name, how, tools) => {
  test('leaves nothing behind when it is reloaded, nor when it is stopped', async () => {
    using folder = projectFolder(files(how, tools));
    const registry = await startRegistry(await folder.open());
    try {
      const first = await pidsOf(registry);
      expect(first.filter(isAlive)).toHaveLength(2);
      await registry.reload('stubborn');
      await gone(first);
      const second = await pidsOf(registry);
      expect(second.filter(isAlive)).toHaveLength(2);
      await registry.close();
      await gone(second);
    } finally {
      await registry.close();
    }
  });

  test('leaves nothing behind when the harness is killed', async () => {
    using folder = projectFolder({
      ...files(how, tools),
      'harness.ts': `
import { openProject, startRegistry } from '${join(import.meta.dirname, '../src/index.ts')}';
import { invocation } from '${join(import.meta.dirname, '../src/testing/project-folder.ts')}';
const registry = await startRegistry(await openProject({ cwd: import.meta.dirname, home: '/nonexistent' }));
const result = await registry.resolveTool('pids').invoke(invocation({ tool: 'pids', input: {} }));
console.log(typeof result.data === 'string' ? result.data : JSON.stringify(result.data));
`,
    });
    const harness = spawn(process.execPath, ['harness.ts'], {
      cwd: folder.root,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [text] = (await once(harness.stdout, 'data')) as [Buffer];
    const pids = JSON.parse(String(text)) as number[];
    expect(pids.filter(isAlive)).toHaveLength(2);
    harness.kill('SIGKILL');
    await gone(pids);
  });
});
