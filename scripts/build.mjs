/** `npm run build`: compiles every package into its dist/ folder and packs the publishable ones into dist-pack/. */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { exitLike, main, root, run } from './pinned-node.mjs';
import { setup } from './setup.mjs';

await main(async () => {
  await setup();
  // A file whose source is gone must not be published.
  for (const kind of ['packages', 'plugins'])
    for (const entry of readdirSync(join(root, kind), { withFileTypes: true }))
      if (entry.isDirectory()) rmSync(join(root, kind, entry.name, 'dist'), { recursive: true, force: true });
  const compiled = await run('tsc', ['-b', 'tsconfig.build.json']);
  exitLike(compiled.code === 0 ? await run('node', [join(root, 'scripts', 'pack.ts')]) : compiled);
});
