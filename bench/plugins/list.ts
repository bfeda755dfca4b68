/**
 * `chassis plugin ls --static` of 50 plugins in the published form: what it costs in CPU, and that no plugin's code runs for it.
 * Builds the packages and installs them in a folder of their own first.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { benchProject, echoPlugin } from './project.ts';

const root = join(import.meta.dirname, '../..');

export function list(): void {
  const installed = published();
  const command = join(installed, 'node_modules/@chassis/cli/bin/chassis.mjs');
  const project = benchProject();
  const marker = join(project.root, 'ran');
  for (let k = 0; k < 50; k++) {
    project.write(`plugins/p${k}/plugin.yaml`, echoPlugin(`p${k}`, 'runtime: inline\nmodule: ./index.mjs'));
    project.write(
      `plugins/p${k}/index.mjs`,
      `import { appendFileSync } from 'node:fs';\nappendFileSync(${JSON.stringify(marker)}, 'ran\\n');\nexport default {};\n`,
    );
  }
  const cache = mkdtempSync(join(tmpdir(), 'chassis-bench-cache-'));
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 10; round++) {
    const children = childCpu();
    const ended = spawnSync(process.execPath, [command, 'plugin', 'ls', '--static'], {
      cwd: project.root,
      env: { PATH: process.env.PATH, HOME: project.root, NODE_COMPILE_CACHE: cache },
      encoding: 'utf8',
    });
    if (ended.status !== 0) throw new Error(ended.stderr);
    least = Math.min(least, childCpu() - children);
  }
  console.log(
    `plugin ls --static of 50 plugins: ${Math.round(least)} ms CPU; plugin code ran: ${existsSync(marker) ? 'YES' : 'no'}`,
  );
  if (existsSync(marker)) process.exitCode = 1;
  rmSync(installed, { recursive: true, force: true });
  rmSync(cache, { recursive: true, force: true });
  project.remove();
}

/** The packages as they are published, installed in a folder of their own. */
function published(): string {
  const run = (cwd: string, program: string, ...args: string[]): void => {
    const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' });
    if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stdout}${stderr}`);
  };
  run(root, process.execPath, join(root, 'scripts/build.mjs'));
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
  run(folder, 'npm', 'install', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund');
  return folder;
}

/** CPU milliseconds of all children that have ended, from the kernel. */
function childCpu(): number {
  const stat = execFileSync('cat', [`/proc/${process.pid}/stat`], { encoding: 'utf8' });
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) * 10;
}
