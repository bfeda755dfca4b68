/** The packages as they are published, and what a fresh process of them costs. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

export interface Installed {
  /** A file of a package: `cli/bin/chassis.mjs`. */
  file(path: string): string;
  remove(): void;
}

/** Builds the packages and installs them in a folder of their own. */
export function published(): Installed {
  must(root, process.execPath, join(root, 'scripts/build.mjs'));
  const folder = mkdtempSync(join(tmpdir(), 'chassis-bench-published-'));
  const dependencies = Object.fromEntries(
    readdirSync(join(root, 'dist-pack'))
      .filter((name) => name.endsWith('.tgz'))
      .map((name) => [
        name.replace(/^chassis-(.*)-\d+\.\d+\.\d+.*\.tgz$/, '@chassis/$1'),
        `file:${join(root, 'dist-pack', name)}`,
      ]),
  );
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
  must(folder, 'npm', 'install', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund');
  return {
    file: (path) => join(folder, 'node_modules/@chassis', path),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function must(cwd: string, program: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

/**
 * Runs Node in a fresh process with nothing from outside but a compile cache that stays warm.
 *
 * @returns what it printed, and the CPU milliseconds of it and of what it waited for, to the kernel's tick of 10 ms
 */
export function fresh(
  args: readonly string[],
  where: { readonly cwd: string; readonly cache: string },
): { readonly printed: string; readonly cpu: number } {
  const before = childCpu();
  const ended = spawnSync(process.execPath, args, {
    cwd: where.cwd,
    env: { PATH: process.env.PATH, HOME: where.cwd, NODE_COMPILE_CACHE: where.cache },
    encoding: 'utf8',
  });
  if (ended.status !== 0) throw new Error(`node ${args.join(' ')}: ${ended.stdout}${ended.stderr}`);
  return { printed: ended.stdout, cpu: childCpu() - before };
}

function childCpu(): number {
  const stat = execFileSync('cat', [`/proc/${process.pid}/stat`], { encoding: 'utf8' });
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
