/**
 * Processes that a plugin or its host starts must not outlive the harness, even when it is killed and can do nothing any more.
 *
 * A small shell process waits at the end of a pipe. When the last holder of the pipe is gone, it kills every
 * process group that it was told of and not told to forget. It runs only while there are such groups. A command
 * started through `launcherOf` holds the pipe until it has told of itself, so that no moment is left in which
 * the harness could die and the command could not.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, resolve } from 'node:path';
import type { Writable } from 'node:stream';

const WATCH = `
groups=$*
while read -r sign group; do
  rest=
  for g in $groups; do [ "$g" = "$group" ] || rest="$rest $g"; done
  groups=$rest
  [ "$sign" = + ] && groups="$groups $group"
done
for g in $groups; do kill -s KILL -- "-$g"; done
`;

/** Told in a subshell: a broken pipe must not end what is to be started. What a shell adds to the environment is removed again. */
const launch = (env: Environment): string => `
(echo "+ $$" >&3)
unset ${['PWD', 'OLDPWD', 'SHLVL', '_'].filter((name) => env[name] === undefined).join(' ')}
exec "$@" 3>&-
`;

type Environment = Readonly<Record<string, string | undefined>>;

/** What starts a command that leads a process group of its own: the command follows as the last arguments. */
export interface Launcher {
  readonly command: readonly string[];
  /** The descriptor 3 of what is started. */
  readonly stdio: readonly [Writable];
}

const groups = new Set<number>();
let watcher: ChildProcess | undefined;

/**
 * A launcher that registers the command's group before the command itself runs; call `guardGroup` right after the start.
 *
 * @param program name or path, as given to `spawn`
 * @param options what the command is started with
 * @returns undefined if the program is not there (starting it says why) or the system has no such shell
 */
export function launcherOf(
  program: string,
  options: { readonly cwd: string; readonly env: Environment },
): Launcher | undefined {
  if (process.platform === 'win32' || !isProgram(program, options)) return;
  watcher ??= startWatcher();
  if (!watcher.stdin) return;
  return { command: ['/bin/sh', '-c', launch(options.env), 'sh'], stdio: [watcher.stdin] };
}

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
  const child = spawn('/bin/sh', ['-c', WATCH, 'sh', ...[...groups].map(String)], {
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

function isProgram(program: string, { cwd, env }: { cwd: string; env: Environment }): boolean {
  const folders = program.includes('/') ? [''] : (env.PATH ?? '/usr/bin:/bin').split(delimiter);
  return folders.some((folder) => {
    try {
      accessSync(resolve(cwd, folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
