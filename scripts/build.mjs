/**
 * `npm run build`: compiles every package into dist/ and packs the publishable ones into dist-pack/.
 * Both are folders of the root: a plugin's content hash covers its own folder, so nothing built may appear in there.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { exitLike, main, root, run } from './pinned-node.mjs';
import { setup } from './setup.mjs';

await main(async () => {
  await setup();
  // A file whose source is gone must not be published.
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  const compiled = await run('tsc', ['-b', 'tsconfig.build.json']);
  exitLike(compiled.code === 0 ? await run('node', [join(root, 'scripts', 'pack.ts')]) : compiled);
});
