import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

// Part of the full share only (CHASSIS_FULL=1): it builds every package and installs third-party ones.
const root = join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'chassis-published-'));
const sh = (cwd: string, command: string, ...args: string[]): string =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });

beforeAll(() => {
  sh(root, process.execPath, join(root, 'scripts', 'build.mjs'));
  const tarballs = readdirSync(join(root, 'dist-pack')).filter((name) => name.endsWith('.tgz'));
  const dependencies = Object.fromEntries(
    tarballs.map((name) => [
      name.replace(/^chassis-(.*)-\d+\.\d+\.\d+.*\.tgz$/, '@chassis/$1'),
      `file:${join(root, 'dist-pack', name)}`,
    ]),
  );
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
  sh(
    folder,
    'npm',
    'install',
    '--prefer-offline',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('the published command runs from the tarballs alone', () => {
  const version = sh(folder, join(folder, 'node_modules', '.bin', 'chassis'), '--version');
  expect(version).toMatch(/^(chassis )?0\.1\.0/);
});

test('every published package can be imported by its name', () => {
  const names = readdirSync(join(folder, 'node_modules', '@chassis'));
  const imports = names.map((name) => `await import('@chassis/${name}');`).join('');
  expect(sh(folder, process.execPath, '--input-type=module', '-e', `${imports}console.log('ok')`)).toBe(
    'ok\n',
  );
});

test('a manifest points at a module that is there', () => {
  const manifests = sh(folder, 'find', 'node_modules/@chassis', '-name', 'plugin.yaml').trim().split('\n');
  for (const manifest of manifests) {
    const module = /^module:\s*["']?([^\s"'#]+)/m.exec(sh(folder, 'cat', manifest))?.[1];
    if (module) sh(folder, 'test', '-f', join(manifest, '..', module));
  }
  expect(manifests.length).toBeGreaterThan(0);
});
