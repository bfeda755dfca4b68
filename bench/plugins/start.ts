/**
 * From nothing to a usable control plane with 50 plugins: 40 in the harness's own process, 5 in threads, 5 in processes of their
 * own. CPU of a fresh process of the published packages with all that it has started, with a warm compile cache; then from
 * source.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fresh, type Installed, median } from '../published.ts';
import { benchProject, echoCode, echoPlugin } from './project.ts';
import type { Started } from './start-once.mjs';

const rounds = 5;
const kinds = [
  ...Array.from({ length: 40 }, () => 'runtime: inline\nmodule: ./index.ts'),
  ...Array.from({ length: 5 }, () => 'runtime: worker\nmodule: ./index.ts'),
  ...Array.from({ length: 5 }, () => 'runtime: process\ncommand: [node, index.ts]'),
];

export function start(installed: Installed): void {
  const project = benchProject();
  kinds.forEach((how, k) => {
    // A busy machine may take its time with what is counted in CPU.
    project.write(
      `plugins/p${k}/plugin.yaml`,
      echoPlugin(`p${k}`, `${how}\ndeadlines: { on_load_ms: 120000 }`),
    );
    project.write(`plugins/p${k}/index.ts`, echoCode(`p${k}`));
  });
  const where = { cwd: project.root, cache: mkdtempSync(join(tmpdir(), 'chassis-bench-cache-')) };
  const once = (runtime: string): Started => {
    const program = join(import.meta.dirname, 'start-once.mjs');
    const { active, problem, ...costs } = JSON.parse(fresh([program, runtime], where).printed) as Started;
    if (active !== kinds.length)
      throw new Error(`${active} of ${kinds.length} plugins are active: ${problem}`);
    return { active, ...costs };
  };
  console.log(
    '50 plugins (40 inline, 5 worker, 5 process), from the start of the process until all are active',
  );
  for (const [name, runtime] of [
    ['published packages', installed.file('runtime/dist/index.js')],
    ['from source', join(import.meta.dirname, '../../packages/runtime/src/index.ts')],
  ] as const) {
    const first = once(runtime);
    const next = Array.from({ length: rounds }, () => once(runtime));
    const figures = (of: (one: Started) => number): string => {
      const all = next.map(of);
      return `${Math.round(Math.min(...all))} ms, ${Math.round(median(all))} ms (${Math.round(of(first))} ms with a cold cache)`;
    };
    console.log(`  ${name}: best and median of ${rounds}`);
    console.log(`    CPU of all processes  ${figures((one) => one.own + one.others)}`);
    console.log(`    of the harness alone  ${figures((one) => one.own)}`);
    console.log(`    wall time             ${figures((one) => one.wall)}`);
  }
  rmSync(where.cache, { recursive: true, force: true });
  project.remove();
}
