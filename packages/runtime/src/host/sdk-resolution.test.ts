import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'chassis-sdk-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a plugin without the SDK gets ours, one that brings a copy along gets that, wherever on its way up it stands', () => {
  const code = `import * as sdk from '@chassis/sdk';\nconsole.log(sdk.whose ?? typeof sdk.definePlugin);\n`;
  const copy = join(folder, 'own', 'node_modules', '@chassis', 'sdk');
  for (const path of [join(folder, 'own', 'deep'), join(folder, 'none'), copy])
    mkdirSync(path, { recursive: true });
  writeFileSync(
    join(copy, 'package.json'),
    '{ "name": "@chassis/sdk", "type": "module", "exports": "./index.js" }',
  );
  writeFileSync(join(copy, 'index.js'), `export const whose = 'its own';\n`);
  const told = ['own/deep', 'none'].map((path) => {
    const file = join(folder, path, 'index.mjs');
    writeFileSync(file, code);
    const hooks = new URL('sdk-resolution.ts', import.meta.url).href;
    return execFileSync(process.execPath, ['--import', hooks, file], { encoding: 'utf8' }).trim();
  });
  expect(told).toEqual(['its own', 'function']);
});
