/**
 * A recorded session of 40 steps as a test: replay and expectations, in this process, against a bare parse of its bundle.
 * The second figure is the whole command, `chassis test run`, as published and with a warm compile cache, against bare Node and
 * `chassis version`: it starts the agent's plugin, too. CPU time; the least of several rounds.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import agentPlugin from '../../packages/agent/src/index.ts';
import { viewOf } from '../../packages/cli/src/test-files.ts';
import { fakeRegistry } from '../../packages/runtime/test/support/fake-registry.ts';
import { parseSpec, runTest } from '../../packages/testkit/src/index.ts';
import { fresh, published } from '../published.ts';

type Agent = NonNullable<Parameters<typeof fakeRegistry>[0]['agent']>;

const installed = published();
const bin = installed.file('cli/bin/chassis.mjs');
const folder = mkdtempSync(join(tmpdir(), 'chassis-bench-'));
const where = { cwd: folder, cache: join(folder, 'compiled') };
const chassis = (...args: string[]) => fresh([bin, ...args], where);
const spent = (usage: NodeJS.CpuUsage): number => (usage.user + usage.system) / 1000;

try {
  // 20 model steps and 20 tool steps, and the answer.
  const turns = Array.from(
    { length: 20 },
    (_, n) => `  - { call: [{ name: list_files, arguments: { path: "." } }], say: "look ${n}" }`,
  );
  writeFileSync(
    join(folder, 'chassis.yaml'),
    'model: scripted\nplugins: { scripted: { config: { script: ./script.yaml } } }\nlimits: { repeats: 100 }\n',
  );
  writeFileSync(join(folder, 'script.yaml'), `turns:\n${turns.join('\n')}\n  - { say: "Done." }\n`);
  chassis('run', 'look around', '--trust', '-q');
  chassis('test', 'add', '@last', '--name', 'look');
  const file = join(folder, 'tests/agents/look.test.yaml');
  writeFileSync(file, readFileSync(file, 'utf8').replace(/ {2}never:\n(?: {4}- .*\n)*/, ''));
  const bundle = join(folder, 'tests/agents/look.session.jsonl');
  const lines = readFileSync(bundle, 'utf8').trimEnd().split('\n');
  const agent: Agent = (input, ctx) => agentPlugin.agents.default(input, ctx as never);
  let ours = Number.POSITIVE_INFINITY;
  let floor = Number.POSITIVE_INFINITY;
  let steps = 0;
  for (let round = 0; round < 10; round++) {
    let before = process.cpuUsage();
    for (const line of lines) JSON.parse(line);
    floor = Math.min(floor, spent(process.cpuUsage(before)));
    before = process.cpuUsage();
    const spec = parseSpec(readFileSync(file, 'utf8'), file);
    const view = await viewOf(bundle);
    const signal = new AbortController().signal;
    const result = await runTest(spec, file, view, fakeRegistry({ agent }), signal);
    if (!result.ok) throw new Error(JSON.stringify(result.failures));
    steps = result.steps;
    ours = Math.min(ours, spent(process.cpuUsage(before)));
  }
  console.log(`${steps} steps, in this process: ${ours.toFixed(1)} ms; bare parse ${floor.toFixed(2)} ms`);
  const least = { node: Infinity, version: Infinity, 'test run': Infinity };
  // The first round warms the compile cache.
  for (let round = 0; round < 12; round++) {
    least.node = Math.min(least.node, fresh(['-e', ''], where).cpu);
    least.version = Math.min(least.version, chassis('version').cpu);
    least['test run'] = Math.min(least['test run'], chassis('test', 'run').cpu);
  }
  const [bare, version, whole] = Object.values(least).map((cpu) => cpu.toFixed(0));
  console.log(
    `the whole command, as published: ${whole} ms CPU; bare Node ${bare} ms, chassis version ${version} ms`,
  );
} finally {
  rmSync(folder, { recursive: true });
  installed.remove();
}
