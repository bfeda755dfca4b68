/**
 * Runs one command.
 *
 * Promise: the command leads a process group of its own, and when this function settles, whichever way, that
 * group is gone; it is also gone when the harness is killed. (A process that leaves the group on purpose, with setsid, is out of reach.)
 */
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { ChassisError } from '@chassis/errors';
import { forgetGroup, guardGroup, launcherOf } from '@chassis/sdk';
import { HeadAndTail, type Output } from './output.ts';

export interface Command {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: { readonly [name: string]: string };
  readonly timeoutMs: number;
  readonly outputBytes: number;
  /** Aborting kills the command; what it had written is still returned. */
  readonly signal: AbortSignal;
}

export interface Outcome {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly timedOut: boolean;
  readonly stdout: Output;
  readonly stderr: Output;
}

/** Between asking a group to end and ending it. */
const GRACE_MS = 2000;
/** How long output of a process that left the group may hold the pipes open. */
const DRAIN_MS = 1000;

const running = new Set<ChildProcess>();

/** Kills every command that runs, at once: for shutdown, and for an exit that does not wait. */
export function killAll(): void {
  for (const child of running) signalGroup(child, 'SIGKILL');
}

export async function runCommand(command: Command): Promise<Outcome> {
  const [program = ''] = command.argv;
  const launcher = launcherOf(program, command);
  const [first = program, ...args] = [...(launcher?.command ?? []), ...command.argv];
  const child = spawn(first, args, {
    cwd: command.cwd,
    env: command.env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', ...(launcher?.stdio ?? [])],
  }) as ChildProcessByStdio<null, Readable, Readable>;
  if (running.size === 0) process.on('exit', killAll);
  running.add(child);
  if (child.pid !== undefined) guardGroup(child.pid);
  const stdout = new HeadAndTail(command.outputBytes);
  const stderr = new HeadAndTail(command.outputBytes);
  child.stdout.on('data', (piece: Buffer) => stdout.add(piece));
  child.stderr.on('data', (piece: Buffer) => stderr.add(piece));

  let timedOut = false;
  let force: NodeJS.Timeout | undefined;
  const stop = (): void => {
    signalGroup(child, 'SIGTERM');
    force ??= setTimeout(() => signalGroup(child, 'SIGKILL'), GRACE_MS);
  };
  const timer = setTimeout(() => {
    timedOut = true;
    stop();
  }, command.timeoutMs);
  if (command.signal.aborted) stop();
  command.signal.addEventListener('abort', stop, { once: true });
  try {
    const { exitCode, signal } = await ended(child, program);
    return { exitCode, signal, timedOut, stdout: stdout.end(), stderr: stderr.end() };
  } finally {
    clearTimeout(timer);
    clearTimeout(force);
    command.signal.removeEventListener('abort', stop);
    running.delete(child);
    if (child.pid !== undefined) forgetGroup(child.pid);
    if (running.size === 0) process.off('exit', killAll);
  }
}

function ended(
  child: ChildProcess,
  program: string,
): Promise<{ exitCode: number | null; signal: NodeJS.Signals | null }> {
  return new Promise((resolve, reject) => {
    let drain: NodeJS.Timeout | undefined;
    child.once('error', (cause: NodeJS.ErrnoException) => {
      const what =
        cause.code === 'ENOENT' ? 'there is no such program' : `it cannot be started (${cause.code})`;
      reject(
        new ChassisError('InvalidParams', `${program}: ${what}`, {
          cause,
          data: { program, errno: cause.code },
        }),
      );
    });
    child.once('exit', () => {
      // What the command left in the background would keep the pipes, and the machine, busy.
      signalGroup(child, 'SIGKILL');
      drain = setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
      }, DRAIN_MS);
    });
    child.once('close', (exitCode, signal) => {
      clearTimeout(drain);
      resolve({ exitCode, signal });
    });
  });
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // The group is gone already.
  }
}
