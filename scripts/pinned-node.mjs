/**
 * Starts programs under the Node that this checkout pins, whatever `node` the caller was started with.
 *
 * Promise: runs on Node 20, imports nothing that has to be installed. A child sees the pinned `node` and the
 * tools of node_modules/.bin first in PATH, and gets this process's signals.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');

/** A failure that a person can act on: printed as one line, without a stack. */
export class SetupError extends Error {}

/** True if `version` (as in `process.versions.node`) can run TypeScript sources the way the code expects. */
export function newEnough(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 24 || (major === 24 && minor >= 11);
}

/**
 * The path of the Node to use: the pinned binary if it is there and starts, else the running one if it is new enough.
 *
 * @throws {SetupError} that says what to install
 */
export function pinnedNode() {
  const binary = join(root, 'node_modules', `node-linux-${process.arch}`, 'bin', 'node');
  const found = process.platform === 'linux' && existsSync(binary);
  if (found && (process.execPath === binary || spawnSync(binary, ['--version']).status === 0)) return binary;
  if (newEnough(process.versions.node)) return process.execPath;
  const here = `this is Node ${process.versions.node} on ${process.platform}-${process.arch}`;
  if (found) throw new SetupError(`${binary} does not start here: install Node 24.11 or newer (${here})`);
  if (process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch))
    throw new SetupError(
      `node_modules has no Node of its own: run \`npm ci --include=optional\`, or install Node 24.11 or newer (${here})`,
    );
  throw new SetupError(`Chassis needs Node 24.11 or newer: install it and run this again (${here})`);
}

/** The environment for children: the pinned Node and the installed tools come first in PATH. */
export function childEnv(node = pinnedNode(), extra = {}) {
  const path = [dirname(node), join(root, 'node_modules', '.bin'), process.env.PATH ?? ''];
  return { ...process.env, PATH: path.filter(Boolean).join(delimiter), ...extra };
}

/**
 * Runs a program to its end; `node` means the pinned one, other names are looked up in node_modules/.bin first.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: Record<string, string | undefined>, capture?: boolean }} [options] `env` is added to the
 *   child's environment; with `capture` stdout and stderr are collected instead of shown
 * @returns {Promise<{ code: number, signal: string | null, output: string }>} `code` is 128 + n after signal n
 */
export function run(command, args, { cwd = root, env = {}, capture = false } = {}) {
  const node = pinnedNode();
  return runChild(command === 'node' ? node : command, args, { cwd, env: childEnv(node, env), capture });
}

/** As `run`, with exactly the environment given, and no need for a pinned Node. */
export function runChild(command, args, { cwd, env, capture }) {
  return new Promise((done) => {
    const child = spawn(command, args, { cwd, env, stdio: capture ? ['ignore', 'pipe', 'pipe'] : 'inherit' });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (piece) => {
        output += piece;
      });
    // A terminal sends Ctrl-C to the child as well; it must not arrive twice.
    let received;
    const forward = (signal) => {
      received = signal;
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    };
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
    for (const signal of signals) process.on(signal, forward);
    const settle = (result) => {
      for (const signal of signals) process.off(signal, forward);
      // Who is told to stop stops once its child has: a script must not go on with its next step.
      if (received) process.kill(process.pid, received);
      else done(result);
    };
    child.on('error', (error) => {
      if (!capture) process.stderr.write(`${error.message}\n`);
      settle({ code: 127, signal: null, output: `${output}${error.message}\n` });
    });
    child.on('close', (code, signal) =>
      settle({ code: code ?? 128 + (constants.signals[signal] ?? 0), signal, output }),
    );
  });
}

/** Ends this process as the child ended: with its exit code, or by the same signal. */
export function exitLike({ code, signal }) {
  if (signal) process.kill(process.pid, signal);
  else process.exitCode = code;
}

/** True if `meta` belongs to the file that was started, not to one that is imported. */
export function isMain(meta) {
  return process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(meta.url);
}

/** Runs a script's main function; what a person can act on is printed as one line. */
export async function main(body) {
  try {
    await body();
  } catch (error) {
    if (!(error instanceof SetupError) && error.syscall === undefined) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 2;
  }
}
