/** `npm run demo`: makes the checkout ready, then runs `chassis demo` from source; further arguments go to it. */

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { exitLike, main, root, run, SetupError } from './pinned-node.mjs';
import { setup } from './setup.mjs';

await main(async () => {
  if (spawnSync('python3', ['--version']).status !== 0)
    throw new SetupError(
      'demo: one of its plugins is written in Python: install Python 3.9 or newer (command python3)',
    );
  await setup();
  const launcher = join(root, 'packages', 'cli', 'bin', 'chassis.mjs');
  exitLike(await run('node', [launcher, 'demo', ...process.argv.slice(2)]));
});
