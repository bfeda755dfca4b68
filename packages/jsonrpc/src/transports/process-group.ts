/**
 * Ending a child process with everything it started.
 *
 * Promise: the group gets time to finish, then SIGTERM, then SIGKILL; when the promise resolves, the child is
 * reaped. A group that is already gone is no error.
 */
import type { ChildProcess } from 'node:child_process';

/** Groups that must not outlive this process. */
const alive = new Set<number>();

/** From now on, what is left of the group dies with this process, even if nobody ends it. */
export function watchGroup(pid: number): void {
  if (alive.size === 0) process.once('exit', killAll);
  alive.add(pid);
}

function killAll(): void {
  for (const pid of alive) signalGroup(pid, 'SIGKILL');
}

function forgetGroup(pid: number): void {
  alive.delete(pid);
  if (alive.size === 0) process.removeListener('exit', killAll);
}

/** False if nothing is left of the group. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pid, signal);
    return true;
  } catch {
    return false;
  }
}

/**
 * @param child started with `detached: true`
 * @param exited settles when the child was reaped
 * @param graceMs how long the group may take after SIGTERM; a quarter of it after the end of stdin
 */
export async function endGroup(
  child: ChildProcess,
  exited: Promise<unknown>,
  graceMs: number,
): Promise<void> {
  const { pid } = child;
  child.stdin?.end();
  if (pid === undefined) return;
  const gone = exited.then(() => true);
  await within(gone, graceMs / 4);
  // Also if the child is gone: what it started may live on without it.
  if (signalGroup(pid, 'SIGTERM')) {
    await within(gone, graceMs);
    await untilGone(pid, graceMs);
    signalGroup(pid, 'SIGKILL');
  }
  await exited;
  forgetGroup(pid);
}

async function within(done: Promise<boolean>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([done, late]);
  clearTimeout(timer);
}

/** Nobody tells us when a grandchild ends. */
async function untilGone(pid: number, ms: number): Promise<void> {
  const until = performance.now() + ms;
  for (let wait = 2; performance.now() < until && signalGroup(pid, 0); wait = Math.min(wait * 2, 50)) {
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}
