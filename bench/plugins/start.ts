/** From nothing to a usable control plane with 50 plugins: 40 in this process, 5 in threads, 5 in processes of their own. */
import module from 'node:module';
import { join } from 'node:path';
import { startRegistry } from '../../packages/runtime/src/index.ts';
import { benchProject, echoCode, echoPlugin } from './project.ts';

const kinds = [
  ...Array.from({ length: 40 }, () => 'runtime: inline\nmodule: ./index.ts'),
  ...Array.from({ length: 5 }, () => 'runtime: worker\nmodule: ./index.ts'),
  ...Array.from({ length: 5 }, () => 'runtime: process\ncommand: [node, index.ts]'),
];

export async function start(): Promise<void> {
  const project = benchProject();
  // As the command does; the first start finds it empty.
  module.enableCompileCache(join(project.root, 'compile-cache'));
  kinds.forEach((how, k) => {
    project.write(`plugins/p${k}/plugin.yaml`, echoPlugin(`p${k}`, how));
    project.write(`plugins/p${k}/index.ts`, echoCode(`p${k}`));
  });
  const walls: number[] = [];
  const cpus: number[] = [];
  for (let round = 0; round < 5; round++) {
    const began = performance.now();
    const before = process.cpuUsage();
    const registry = await startRegistry(await project.open());
    const { user, system } = process.cpuUsage(before);
    walls.push(performance.now() - began);
    cpus.push((user + system) / 1_000);
    const active = registry.plugins().filter(({ state }) => state === 'active').length;
    const [problem] = registry.problems();
    if (active !== kinds.length)
      throw new Error(`${active} of ${kinds.length} plugins are active: ${problem?.cause.message}`);
    await registry.close();
  }
  const first = (list: readonly number[]): string => `${Math.round(list[0] ?? 0)} ms`;
  const least = (list: readonly number[]): string => `${Math.round(Math.min(...list))} ms`;
  console.log('50 plugins (40 inline, 5 worker, 5 process), from opening the project until all are active');
  console.log(
    `  first start ${first(walls)} (CPU of this process ${first(cpus)}), best of five ${least(walls)} (${least(cpus)})`,
  );
  project.remove();
}
