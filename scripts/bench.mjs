/** `npm run bench [-- NAME…]`: runs bench/NAME/run.ts one after another, all of them without a name. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { main, root, run, SetupError } from './pinned-node.mjs';
import { installPackages, setup } from './setup.mjs';

const bench = join(root, 'bench');
const peers = join(bench, 'peers');

await main(async () => {
  const folders = existsSync(bench) ? readdirSync(bench) : [];
  const all = folders.filter((name) => existsSync(join(bench, name, 'run.ts')));
  const wanted = process.argv.slice(2);
  const unknown = wanted.find((name) => !all.includes(name));
  if (unknown !== undefined)
    throw new SetupError(`bench: there is no benchmark "${unknown}"; there are: ${all.join(', ') || 'none'}`);
  await setup();
  // What is compared with is no dependency of ours: it has a lock of its own, outside the workspaces.
  if (existsSync(join(peers, 'package-lock.json'))) await installPackages(peers);
  for (const name of wanted.length > 0 ? wanted : all) {
    console.log(`bench: ${name}`);
    const { code } = await run('node', [join(bench, name, 'run.ts')]);
    if (code !== 0) process.exitCode = 1;
  }
});
