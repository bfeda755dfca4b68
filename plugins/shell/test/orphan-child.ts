/** Starts a command with a grandchild, whose process id it writes to the named file; its first act is to kill us. */
import { runCommand } from '../src/command.ts';

await runCommand({
  argv: ['sh', '-c', `sleep 300 & echo $! > "$1"; kill -s KILL $PPID; wait`, 'sh', process.argv[2] ?? ''],
  cwd: '/',
  env: { PATH: process.env.PATH ?? '' },
  timeoutMs: 600_000,
  outputBytes: 1000,
  signal: new AbortController().signal,
});
