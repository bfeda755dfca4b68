/**
 * A plugin as a child process.
 *
 * Promise: the program is started from its argv, never through a shell, in its own folder and process group, with
 * an environment made for it. Its stderr is its log, always drained. Nothing of the group outlives `end`, nor
 * the harness.
 */
import { spawnTransport } from '@chassis/jsonrpc';
import { forgetGroup, guardGroup, launcherOf } from '@chassis/sdk';
import { commandOf, preload } from './command.ts';
import type { HostOptions } from './host.ts';
import { LineLog } from './line-log.ts';
import type { Link } from './link.ts';

/** Time for the group between SIGTERM and SIGKILL. */
const GRACE_MS = 1_000;

export function processLink({ entry, env, log }: HostOptions): Link {
  const stderr = new LineLog((line) => log('info', line));
  const noise = new LineLog((line) => log('warn', `on stdout, no message: ${line}`));
  const command = commandOf(entry.source.manifest.command ?? [], entry.folder, preload());
  const transport = spawnTransport({
    command,
    launcher: launcherOf(command[0] ?? '', { cwd: entry.folder, env }),
    cwd: entry.folder,
    env,
    onStderr: (text) => stderr.add(text),
    onNoise: (line) => noise.add(`${line}\n`),
  });
  const { pid } = transport;
  if (pid !== undefined) guardGroup(pid);
  return {
    transport,
    started: pid !== undefined,
    remote: false,
    explain: (reason) => reason,
    diagnostics: () => ({
      pid: pid ?? null,
      stderr: transport.stderr,
      noise: noise.kept,
      noise_lines: transport.noiseCount,
    }),
    async end() {
      await transport.kill(GRACE_MS);
      stderr.end();
      if (pid !== undefined) forgetGroup(pid);
    },
  };
}
