#!/usr/bin/env node
/**
 * Starts the chassis command: from source in a checkout, from dist/ in a published package.
 *
 * Promise: plain JavaScript that Node 20 understands. Under a Node that is too old it hands over to the one that the
 * checkout pins, with stdio, signals and exit passed on. Never a stack trace, except with --debug or CHASSIS_DEBUG.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const source = new URL('../src/main.ts', import.meta.url);
const inCheckout = existsSync(source);
const checkout = fileURLToPath(new URL('../../..', import.meta.url));
const [major, minor] = process.versions.node.split('.').map(Number);

if (inCheckout && !existsSync(join(checkout, 'node_modules')))
  stop(`nothing is installed yet: run \`npm run demo\` or \`npm ci\` in ${checkout} first`);
else if (major > 24 || (major === 24 && minor >= 11)) await start();
else handOver();

function stop(line) {
  process.stderr.write(`chassis: ${line}\n`);
  process.exitCode = 2;
}

async function start() {
  oneAtATime();
  cacheCompiledCode();
  try {
    await import(inCheckout ? source : new URL('../dist/main.js', import.meta.url));
  } catch (error) {
    const debug = process.env.CHASSIS_DEBUG || process.argv.includes('--debug');
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error);
    process.stderr.write(debug ? `${error?.stack ?? error}\n` : `chassis: could not start: ${reason}\n`);
    process.exitCode = 1;
  }
}

function cacheCompiledCode() {
  let folder = process.env.NODE_COMPILE_CACHE;
  try {
    // A private folder, not the shared temporary one: whoever may write to a compile cache decides what runs.
    folder ||= join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'chassis', 'compile');
  } catch {
    return; // no home folder: starts without a cache
  }
  module.enableCompileCache(folder);
}

/**
 * A terminal sends Ctrl-C to every process in front, `timeout` sends SIGTERM to a whole group: this process then gets
 * the same signal again from the launcher or from npm, which pass on what they received. Two of a kind that arrive
 * within a moment are one; nobody's second thought is that fast.
 */
function oneAtATime() {
  const last = { SIGINT: -1000, SIGTERM: -1000, SIGHUP: -1000 };
  const emit = process.emit;
  process.emit = function (event, ...args) {
    if (Object.hasOwn(last, event)) {
      if (performance.now() - last[event] < 100) return true;
      last[event] = performance.now();
    }
    return Reflect.apply(emit, this, [event, ...args]);
  };
}

function handOver() {
  const pinned = join(checkout, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node');
  if (!inCheckout || !existsSync(pinned))
    return stop(`needs Node 24.11 or newer, this is ${process.versions.node}`);
  const child = spawn(pinned, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => stop(`${pinned} does not start: ${error.message}`));
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    for (const name of signals) process.removeAllListeners(name);
    process.kill(process.pid, signal);
  });
}
