/**
 * What one call of a tool costs by the way its plugin runs, through the whole gate without the journal, beside what it
 * stands on: a bare function, a raw child process that echoes lines, the official MCP client with the same server.
 *
 * Calls one after another; the rows alternate, and each figure is the best mean of several rounds: wall time, and the CPU of
 * this process, which a busy machine changes less.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { startRegistry } from '../../packages/runtime/src/index.ts';
import { floor } from '../jsonrpc/implementations/floor.ts';
import { Client } from '../peers/node_modules/@modelcontextprotocol/client/dist/index.mjs';
import { StdioClientTransport } from '../peers/node_modules/@modelcontextprotocol/client/dist/stdio.mjs';
import { benchProject, echoCode, echoPlugin } from './project.ts';
import { callThrough, unrecordedGate } from './ungated.ts';

type Echo = (input: { readonly text: string }) => Promise<unknown>;

interface Row {
  readonly name: string;
  readonly echo: Echo;
  /** Calls in one round. */
  readonly calls: number;
}

const input = { text: 'x'.repeat(80) };
const rounds = 20;

export async function latency(): Promise<void> {
  const project = benchProject();
  const server = join(import.meta.dirname, 'mcp-server.mjs');
  for (const [name, how] of [
    ['inline', 'runtime: inline\nmodule: ./index.ts'],
    ['worker', 'runtime: worker\nmodule: ./index.ts'],
    ['process', 'runtime: process\ncommand: [node, index.ts]'],
  ] as const) {
    project.write(`plugins/${name}/plugin.yaml`, echoPlugin(name, how));
    project.write(`plugins/${name}/index.ts`, echoCode(name));
  }
  project.write(
    'plugins/mcp/plugin.yaml',
    `name: mcp\nversion: 1.0.0\ndescription: x\nruntime: mcp\ncommand: [node, ${JSON.stringify(server)}]\n`,
  );
  const registry = await startRegistry(await project.open());
  const [problem] = registry.problems();
  if (problem !== undefined) throw new Error(problem.cause.message);
  const gate = unrecordedGate(registry);
  const through =
    (name: string): Echo =>
    (given) =>
      callThrough(gate, name, given);

  const bare: Echo = async (given) => ({ ...given });
  const raw = spawn(process.execPath, [join(import.meta.dirname, '../jsonrpc/child.ts'), 'floor'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const rawClient = await floor.client(raw.stdout, raw.stdin);
  const official = new Client({ name: 'bench', version: '1.0.0' });
  await official.connect(new StdioClientTransport({ command: process.execPath, args: [server] }));

  const rows: Row[] = [
    { name: 'bare function', echo: bare, calls: 5_000 },
    { name: 'inline', echo: through('inline_echo'), calls: 5_000 },
    { name: 'worker', echo: through('worker_echo'), calls: 500 },
    { name: 'raw child process', echo: (given) => rawClient.echo(given) as Promise<unknown>, calls: 500 },
    { name: 'process', echo: through('process_echo'), calls: 500 },
    {
      name: 'official MCP client',
      echo: (given) => official.callTool({ name: 'mcp_echo', arguments: given }),
      calls: 200,
    },
    { name: 'mcp', echo: through('mcp_echo'), calls: 200 },
  ];
  const best = new Map<string, number>();
  const cpu = new Map<string, number>();
  for (let round = 0; round < rounds; round++) {
    for (const { name, echo, calls } of rows) {
      const before = process.cpuUsage();
      const started = performance.now();
      for (let call = 0; call < calls; call++) await echo(input);
      const each = ((performance.now() - started) * 1_000) / calls;
      best.set(name, Math.min(best.get(name) ?? each, each));
      const { user, system } = process.cpuUsage(before);
      cpu.set(name, Math.min(cpu.get(name) ?? Number.POSITIVE_INFINITY, (user + system) / calls));
    }
  }
  const of = (name: string): number => best.get(name) ?? Number.NaN;
  const peers: Readonly<Record<string, string>> = {
    inline: 'bare function',
    process: 'raw child process',
    worker: 'raw child process',
    mcp: 'official MCP client',
  };
  console.log('one call of 80 characters, through the whole gate without recording');
  for (const { name } of rows) {
    const peer = peers[name];
    const ratio = peer === undefined ? '' : `  ${(of(name) / of(peer)).toFixed(2)} × ${peer}`;
    const own = `${cpu.get(name)?.toFixed(1).padStart(8)} µs CPU here`;
    console.log(`  ${name.padEnd(22)} ${of(name).toFixed(1).padStart(8)} µs ${own}${ratio}`);
  }
  await official.close();
  raw.stdin.end();
  raw.kill();
  await registry.close();
  project.remove();
}
