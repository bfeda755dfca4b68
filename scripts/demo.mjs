/** `npm run demo`: makes the checkout ready, then runs `chassis demo` from source; further arguments go to it. */
import { join } from 'node:path';
import { exitLike, main, root, run } from './pinned-node.mjs';
import { setup } from './setup.mjs';

await main(async () => {
  await setup();
  const launcher = join(root, 'packages', 'cli', 'bin', 'chassis.mjs');
  exitLike(await run('node', [launcher, 'demo', ...process.argv.slice(2)]));
});
