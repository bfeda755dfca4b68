/** Starts a command with a grandchild and is then killed by the test: prints the command's own process id. */
import { runCommand } from '../src/command.ts';

await runCommand({
  argv: ['sh', '-c', `sleep 300 & echo $! > "$1"; wait`, 'sh', process.argv[2] ?? ''],
  cwd: '/',
  env: { PATH: process.env.PATH ?? '' },
  timeoutMs: 600_000,
  outputBytes: 1000,
  signal: new AbortController().signal,
});
