/**
 * Processes that a plugin or its host starts must not outlive the harness, even when it is killed and can do nothing any more.
 *
 * A small shell process waits at the end of a pipe that only the harness holds. When the pipe breaks, it kills
 * every process group that it was told of and not told to forget. It runs only while there are such groups.
 */
import { type ChildProcess, spawn } from 'node:child_process';

const SCRIPT = `
groups=$*
while read -r sign group; do
  rest=
  for g in $groups; do [ "$g" = "$group" ] || rest="$rest $g"; done
  groups=$rest
  [ "$sign" = + ] && groups="$groups $group"
done
for g in $groups; do kill -s KILL -- "-$g"; done
`;

const groups = new Set<number>();
let watcher: ChildProcess | undefined;

/** From now on the process group that the child leads dies with this process. @param pid of a child started `detached` */
export function guardGroup(pid: number): void {
  groups.add(pid);
  tell(`+ ${pid}\n`);
}

/** The group has ended; its number may be given to another. */
export function forgetGroup(pid: number): void {
  if (!groups.delete(pid)) return;
  tell(`- ${pid}\n`);
  if (groups.size > 0) return;
  watcher?.stdin?.end();
  watcher = undefined;
}

function tell(line: string): void {
  if (process.platform === 'win32') return;
  // A new watcher is started with the groups that are there: what a pipe still holds would die with us.
  if (watcher === undefined) watcher = startWatcher();
  else watcher.stdin?.write(line);
}

function startWatcher(): ChildProcess {
  // A group of its own: the interrupt key ends the harness's group, and the watcher is needed just then.
  const child = spawn('/bin/sh', ['-c', SCRIPT, 'sh', ...[...groups].map(String)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    env: {},
  });
  child.on('error', () => {}); // without a shell there is no such protection; the rest works
  child.stdin?.on('error', () => {});
  child.unref();
  (child.stdin as unknown as { unref?(): void } | null)?.unref?.();
  child.once('exit', () => {
    if (watcher === child) watcher = undefined;
  });
  return child;
}
