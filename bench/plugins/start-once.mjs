/**
 * Starts the plugins of the project in the working folder once and prints what it took: `node start-once.mjs RUNTIME`.
 *
 * @typedef {object} Started
 * @property {number} active how many plugins are
 * @property {string} [problem] why one is not
 * @property {number} wall milliseconds since the process began
 * @property {number} own CPU milliseconds of this process, its threads included
 * @property {number} others CPU milliseconds of the processes that it started
 */
import { readdirSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const { openProject, startRegistry } = await import(pathToFileURL(process.argv[2] ?? '').href);
const cwd = process.cwd();
const env = { PATH: process.env.PATH, HOME: cwd };
const registry = await startRegistry(await openProject({ cwd, home: cwd, env }));
const wall = performance.now();
const { user, system } = process.cpuUsage();
const others = cpuBelow(process.pid);
const active = registry.plugins().filter(({ state }) => state === 'active').length;
const problem = registry.problems()[0]?.cause.message;
await registry.close();
console.log(JSON.stringify({ active, problem, wall, own: (user + system) / 1_000, others }));
process.exit();

/**
 * @param {number} pid
 * @returns {number} CPU milliseconds of all processes that it has below it, from the kernel
 */
function cpuBelow(pid) {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const stats = all.flatMap((name) => {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const fields = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .map(Number);
      return [{ pid: Number(name), parent: fields[1], ticks: (fields[11] ?? 0) + (fields[12] ?? 0) }];
    } catch {
      return []; // ended meanwhile
    }
  });
  const below = (/** @type {number} */ of) =>
    stats
      .filter(({ parent }) => parent === of)
      .reduce((sum, { pid: child, ticks }) => sum + ticks + below(child), 0);
  return below(pid) * 10;
}
