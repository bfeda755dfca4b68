import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { longTests } from '../long-tests.mjs';

test('the long suites are the test files that look at the variable, also through a file beside them', () => {
  const root = mkdtempSync(join(tmpdir(), 'chassis-long-'));
  const files = {
    'packages/a/src/direct.test.ts': 'const full = process.env.CHASSIS_FULL;',
    'packages/a/src/plain.test.ts': "import { x } from './plain.ts';",
    'packages/a/src/plain.ts': "export * from './plain.ts';",
    'packages/a/node_modules/b/b.test.ts': 'CHASSIS_FULL',
    'plugins/c/test/through.test.ts': "import { seeds } from './seeds.ts';",
    'plugins/c/test/seeds.ts': 'export const seeds = process.env.CHASSIS_FULL ? 1000 : 10;',
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  expect(longTests(root)).toEqual(['packages/a/src/direct.test.ts', 'plugins/c/test/through.test.ts']);
  rmSync(root, { recursive: true });
});
