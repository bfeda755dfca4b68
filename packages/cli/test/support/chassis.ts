/** The real command as a child process, with an environment of its own and nothing left running afterwards. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const bin = fileURLToPath(new URL('../../bin/chassis.mjs', import.meta.url));
const checkout = fileURLToPath(new URL('../../../..', import.meta.url));
/** Shared by all tests: compiling the sources anew for each child would be most of the time they take. */
const compileCache = join(checkout, 'node_modules', '.cache', 'chassis-cli-tests');

/** Longest that anything here may take; only a machine that is stuck gets there. */
export const PATIENCE_MS = 120_000;

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  stdout(): string;
  stderr(): string;
  /** Resolves when what came on stdout and stderr together matches. */
  seen(pattern: RegExp): Promise<void>;
}

export interface Options {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** What stands on stdin; an empty one otherwise. */
  readonly input?: string;
  /** Program and first arguments, instead of the command itself: `['bash', '-c', …]`. */
  readonly through?: readonly string[];
}

/** The environment of a child: a home of its own, no keys, no colours. */
export function environment(
  cwd: string,
  more: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const home = join(cwd, '.home');
  mkdirSync(home, { recursive: true });
  return {
    PATH: `${join(process.execPath, '..')}:${process.env.PATH ?? ''}`,
    HOME: home,
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    NODE_COMPILE_CACHE: compileCache,
    ...more,
  };
}

export function start(args: readonly string[], { cwd, env, input, through }: Options): Running {
  const [program = '', ...first] = through ?? [process.execPath, bin];
  const child = spawn(program, [...first, ...args], { cwd, env: environment(cwd, env), stdio: 'pipe' });
  let stdout = '';
  let stderr = '';
  const watchers = new Set<() => void>();
  const tell = (): void => {
    for (const watcher of [...watchers]) watcher();
  };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    tell();
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    tell();
  });
  child.stdin?.on('error', () => {});
  child.stdin?.end(input ?? '');
  const deadline = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(deadline);
      tell();
      resolve({ code, signal, stdout, stderr });
    });
  });
  return {
    child,
    ended,
    stdout: () => stdout,
    stderr: () => stderr,
    seen: (pattern) =>
      new Promise((resolve, reject) => {
        const watcher = (): void => {
          if (pattern.test(stdout + stderr)) resolve();
          else if (child.exitCode !== null || child.signalCode !== null)
            reject(new Error(`ended without ${pattern}: ${stdout}\n${stderr}`));
          else return;
          watchers.delete(watcher);
        };
        watchers.add(watcher);
        watcher();
      }),
  };
}

/** Runs the command to its end. */
export function chassis(args: readonly string[], options: Options): Promise<Ended> {
  return start(args, options).ended;
}

/** Every line of stdout as JSON; a line that is none fails. */
export function records(stdout: string): Record<string, unknown>[] {
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

export interface TempFolder extends Disposable {
  readonly path: string;
}

/** A folder that is gone when it goes out of scope. */
export function tempFolder(): TempFolder {
  const path = mkdtempSync(join(tmpdir(), 'chassis-cli-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true, maxRetries: 3 }) };
}
