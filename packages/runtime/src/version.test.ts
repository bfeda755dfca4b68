import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CHASSIS_VERSION } from './version.ts';

test('the version that manifests are checked against is the one that is published', () => {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  expect(CHASSIS_VERSION).toBe((JSON.parse(manifest) as { version: string }).version);
});
