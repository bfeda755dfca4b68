/**
 * 10,000 calls while the plugins that answer them are reloaded 100 times: no call may fail, and afterwards there must be
 * neither a process nor a file descriptor nor a timer more than before.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { startRegistry } from '../../packages/runtime/src/index.ts';
import { benchProject, echoCode, echoPlugin } from './project.ts';
import { callThrough, unrecordedGate } from './ungated.ts';

const calls = 10_000;
const reloads = 100;

interface Held {
  readonly processes: number;
  readonly descriptors: number;
  readonly timers: number;
}

export async function soak(): Promise<void> {
  const project = benchProject();
  const plugins = [
    ['inline', 'runtime: inline\nmodule: ./index.ts'],
    ['process', 'runtime: process\ncommand: [node, index.ts]'],
    ['worker', 'runtime: worker\nmodule: ./index.ts'],
  ] as const;
  for (const [name, how] of plugins) {
    project.write(`plugins/${name}/plugin.yaml`, echoPlugin(name, how));
    project.write(`plugins/${name}/index.ts`, echoCode(name));
  }
  // Once before it counts: what is loaded at the first use stays.
  await round(project, 100, 3);
  const before = held();
  const started = performance.now();
  const failed = await round(project, calls, reloads);
  const seconds = (performance.now() - started) / 1_000;
  const after = await settled(before);
  console.log(
    `${calls.toLocaleString('en')} calls during ${reloads} reloads of an inline, a process and a worker plugin`,
  );
  console.log(
    `  failed calls ${failed.length}${failed.length > 0 ? `: ${failed[0]}` : ''}, ${seconds.toFixed(1)} s`,
  );
  for (const kind of ['processes', 'descriptors', 'timers'] as const)
    console.log(`  ${kind.padEnd(12)} ${before[kind]} before, ${after[kind]} after`);
  if (failed.length > 0 || JSON.stringify(before) !== JSON.stringify(after)) process.exitCode = 1;
  project.remove();
}

async function round(
  project: ReturnType<typeof benchProject>,
  count: number,
  times: number,
): Promise<readonly string[]> {
  const registry = await startRegistry(await project.open());
  const gate = unrecordedGate(registry);
  const names = ['inline', 'process', 'worker'];
  const failed: string[] = [];
  let made = 0;
  let done = false;
  const caller = async (): Promise<void> => {
    while (!done || made < count) {
      const name = `${names[made % 3]}_echo`;
      made++;
      await callThrough(gate, name, { text: `call ${made}` }).catch((error: Error) =>
        failed.push(error.message),
      );
      // Calls go on as long as the reloads do, in step with them.
      if (made > count) await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const callers = Array.from({ length: 8 }, caller);
  for (let time = 0; time < times; time++) {
    const name = names[time % 3] as string;
    project.write(`plugins/${name}/index.ts`, `${echoCode(name)}// version ${time}\n`);
    await registry.reload(name);
    while (made < (count / times) * time && !done) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  done = true;
  await Promise.all(callers);
  await registry.close();
  return failed;
}

/** What this process holds: children of its own, open files, timers that keep it alive. */
function held(): Held {
  return {
    processes: childrenOf(process.pid),
    descriptors: readdirSync('/proc/self/fd').length,
    timers: process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length,
  };
}

/** Ends are asynchronous: a process is gone a moment after it was told to go. */
async function settled(wanted: Held): Promise<Held> {
  let now = held();
  for (let tries = 0; tries < 100 && JSON.stringify(now) !== JSON.stringify(wanted); tries++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    now = held();
  }
  return now;
}

function childrenOf(pid: number): number {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === pid;
    } catch {
      return false;
    }
  }).length;
}
