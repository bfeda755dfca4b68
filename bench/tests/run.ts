/**
 * A recorded session of 40 steps as a test: replay and expectations, in this process, against a bare parse of its bundle.
 * The second figure is the whole command, `chassis test run`, as a process of its own: it starts the agent's plugin, too. CPU time.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import agentPlugin from '../../packages/agent/src/index.ts';
import { viewOf } from '../../packages/cli/src/test-files.ts';
import { fakeRegistry } from '../../packages/runtime/test/support/fake-registry.ts';
import { parseSpec, runTest } from '../../packages/testkit/src/index.ts';

type Agent = NonNullable<Parameters<typeof fakeRegistry>[0]['agent']>;

const bin = join(import.meta.dirname, '../../packages/cli/bin/chassis.mjs');
const folder = mkdtempSync(join(tmpdir(), 'chassis-bench-'));
const env = { PATH: process.env.PATH ?? '', HOME: folder };
const chassis = (...args: string[]) => {
  const { status, stderr } = spawnSync(process.execPath, [bin, ...args], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`chassis ${args.join(' ')}: ${stderr}`);
};
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
  let whole = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 5; round++) whole = Math.min(whole, childCpu('test', 'run'));
  console.log(`the whole command: ${whole.toFixed(0)} ms`);
} finally {
  rmSync(folder, { recursive: true });
}

/** CPU time of a command and its children, milliseconds, as the shell counts it. */
function childCpu(...args: string[]): number {
  const command = [process.execPath, bin, ...args];
  const { status, stdout } = spawnSync('/bin/sh', ['-c', '"$@" >&2 || exit; times', 'sh', ...command], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`chassis ${args.join(' ')} failed`);
  const parts = (stdout.trim().split('\n').at(-1) ?? '').matchAll(/(\d+)m([\d.]+)s/g);
  return [...parts].reduce(
    (sum, [, minutes, seconds]) => sum + Number(minutes) * 60_000 + Number(seconds) * 1000,
    0,
  );
}
