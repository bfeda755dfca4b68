/** Where the command lines of a page run: a home and a folder of their own, the pinned Node, `npx chassis` from source. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const launcher = join(import.meta.dirname, '../../bin/chassis.mjs');

export interface Shell {
  /** Writes a file that the page shows, relative to the folder that its commands have reached. */
  write(path: string, text: string): void;
  run(command: string): Promise<{ readonly exit: number; readonly output: string }>;
  close(): void;
}

export function openShell(): Shell {
  const base = mkdtempSync(join(tmpdir(), 'chassis-docs-'));
  const home = join(base, 'home');
  const bin = join(base, 'bin');
  const place = join(base, 'pwd');
  for (const folder of [home, bin, join(base, 'work')]) mkdirSync(folder);
  let cwd = join(base, 'work');
  const program = (name: string, text: string): void =>
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  program('node', `exec "${process.execPath}" "$@"`);
  program('chassis', `exec "${process.execPath}" "${launcher}" "$@"`);
  const others = (name: string): string => `echo "${name}: of no use here" >&2; exit 127`;
  program('npx', `[ "$1" = chassis ] || { ${others('npx')}; }\nshift\nexec chassis "$@"`);
  // What it does beside this, setting up a checkout, has tests of its own.
  program('npm', `[ "$1 $2" = 'run demo' ] || { ${others('npm')}; }\nexec chassis demo`);
  const env = {
    PATH: `${bin}:/usr/local/bin:/usr/bin:/bin`,
    HOME: home,
    LANG: 'C.UTF-8',
    NO_COLOR: '1',
    // Compiled code may be shared by all pages: it is the same.
    NODE_COMPILE_CACHE:
      process.env.NODE_COMPILE_CACHE ?? join(import.meta.dirname, '../../../../.cache/docs-compile'),
  };

  return {
    write(path, text) {
      const file = join(cwd, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    },

    async run(command) {
      // The folder is kept from one command to the next, as in a shell that a person types into.
      const script = `exec 2>&1\n${command}\nstatus=$?\npwd > "${place}"\nexit $status`;
      const child = spawn('bash', ['-c', script], { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
      const exit = await new Promise<number>((resolve, reject) => {
        child.once('error', reject);
        child.once('close', (code, signal) => resolve(code ?? (signal === null ? -1 : 128)));
      });
      cwd = readFileSync(place, 'utf8').trim();
      return { exit, output };
    },

    close: () => rmSync(base, { recursive: true, force: true }),
  };
}
