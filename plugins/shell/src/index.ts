/**
 * The `shell` plugin: `run_command`.
 *
 * Promise: an exit code is an answer; only a command that could not be started or was cancelled is an error.
 * This plugin sandboxes nothing: `cwd` and the built environment are care, not a fence.
 */
import { existsSync, realpathSync } from 'node:fs';
import { ChassisError } from '@chassis/errors';
import { definePlugin, type InvokeContext } from '@chassis/sdk';
import type { JsonObject } from '@chassis/types';
import { CAPTURE_LIMITS, WorkspaceCapture } from './capture.ts';
import { killAll, runCommand } from './command.ts';
import { environment } from './environment.ts';
import { startFolder } from './folder.ts';

interface Settings {
  readonly env: readonly string[];
  readonly timeout_ms: number;
  readonly output_bytes: number;
  readonly capture: boolean;
}

interface RunInput {
  readonly argv?: readonly string[];
  readonly script?: string;
  readonly cwd?: string;
  readonly timeout_ms?: number;
}

const DEFAULTS: Settings = { env: [], timeout_ms: 120_000, output_bytes: 65_536, capture: true };
let settings = DEFAULTS;
const captures = new Map<string, WorkspaceCapture>();

async function run(input: RunInput, ctx: InvokeContext): Promise<JsonObject> {
  const argv = argvOf(input);
  const cwd = await startFolder(ctx.workspace, input.cwd ?? '.');
  ctx.signal.throwIfAborted();
  const outcome = await captured(ctx, () =>
    runCommand({
      argv,
      cwd,
      env: environment(settings.env),
      timeoutMs: input.timeout_ms ?? settings.timeout_ms,
      outputBytes: settings.output_bytes,
      signal: ctx.signal,
    }),
  );
  ctx.effect({ kind: 'process', argv, exit_code: outcome.exitCode });
  ctx.signal.throwIfAborted();
  const { stdout, stderr } = outcome;
  return {
    exit_code: outcome.exitCode,
    ...(outcome.signal === null ? {} : { signal: outcome.signal }),
    timed_out: outcome.timedOut,
    stdout: stdout.text,
    stderr: stderr.text,
    truncated: stdout.truncated || stderr.truncated,
    stdout_bytes: stdout.bytes,
    stderr_bytes: stderr.bytes,
    ...(stdout.notUtf8 || stderr.notUtf8 ? { not_utf8: true } : {}),
  };
}

/** Runs it, and declares what it changed in the workspace: also when it failed half-way. */
async function captured<T>(ctx: InvokeContext, command: () => Promise<T>): Promise<T> {
  if (!settings.capture) return command();
  const root = realpathSync(ctx.workspace);
  const capture = captures.get(root) ?? new WorkspaceCapture(root);
  captures.set(root, capture);
  if (!capture.begin())
    ctx.log(
      'warn',
      `the workspace has more than ${CAPTURE_LIMITS.entries} files: what this command changes is not on record`,
    );
  try {
    return await command();
  } finally {
    for (const change of capture.end()) ctx.effect(change);
  }
}

function argvOf({ argv, script }: RunInput): readonly string[] {
  if ((argv === undefined) === (script === undefined)) {
    throw new ChassisError('InvalidParams', 'give either argv or script');
  }
  const words = argv ?? shell(script ?? '');
  if (words.length === 0 || words[0] === '') throw new ChassisError('InvalidParams', 'argv names no program');
  if (words.some((word) => word.includes('\0'))) {
    throw new ChassisError('InvalidParams', 'a command cannot contain the character U+0000');
  }
  return words;
}

function shell(script: string): readonly string[] {
  return existsSync('/bin/bash')
    ? ['/bin/bash', '--noprofile', '--norc', '-c', script]
    : ['/bin/sh', '-c', script];
}

export default definePlugin({
  on_load: (config: JsonObject) => {
    settings = { ...DEFAULTS, ...(config as Partial<Settings>) };
  },
  on_shutdown: killAll,
  tools: { run_command: run },
});
