/**
 * Finds the long suites: the test files that look at CHASSIS_FULL, themselves or through a file they import by path.
 * With that variable set they run their full share of seeds; without it, a small one.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const left = new Set(['node_modules', 'dist', 'dist-pack', '.git']);

/** @param {string} root @returns {string[]} paths relative to `root`, sorted */
export function longTests(root) {
  return ['packages', 'plugins', 'examples', 'scripts']
    .flatMap((folder) => [...testFiles(join(root, folder))])
    .filter((file) => mentions(file, new Set()))
    .map((file) => relative(root, file))
    .sort((a, b) => a.localeCompare(b));
}

function* testFiles(folder) {
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && !left.has(entry.name)) yield* testFiles(path);
    else if (entry.isFile() && entry.name.endsWith('.test.ts')) yield path;
  }
}

function mentions(file, visited) {
  if (visited.has(file) || !existsSync(file)) return false;
  visited.add(file);
  const text = readFileSync(file, 'utf8');
  if (text.includes('CHASSIS_FULL')) return true;
  const imports = text.matchAll(/\bfrom\s+'(\.{1,2}\/[^']+\.(?:ts|mjs))'/g);
  return [...imports].some(([, path]) => mentions(join(dirname(file), path), visited));
}
