/** `node bench/plugins/run.ts [latency|start|soak|list]…`: all of them without a name. */
import { type Installed, published } from '../published.ts';

const parts = {
  latency: async () => (await import('./latency.ts')).latency(),
  start: async () => (await import('./start.ts')).start(installed()),
  soak: async () => (await import('./soak.ts')).soak(),
  list: async () => (await import('./list.ts')).list(installed()),
};

let packages: Installed | undefined;
function installed(): Installed {
  packages ??= published();
  return packages;
}

const given = process.argv.slice(2);
const unknown = given.find((name) => !Object.hasOwn(parts, name));
if (unknown !== undefined)
  throw new Error(`there is no part ${unknown}; there are ${Object.keys(parts).join(', ')}`);
for (const [name, run] of Object.entries(parts)) if (given.length === 0 || given.includes(name)) await run();
packages?.remove();
process.exit();
