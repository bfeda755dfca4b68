/** The end of a plugin's program in words for a person: what happened, and what to do about it. */
import { join } from 'node:path';
import { ChassisError, ErrorCode, toChassisError } from '@chassis/errors';
import { type CloseReason, RpcError } from '@chassis/jsonrpc';
import { commandOf } from './command.ts';
import { type HostOptions, PhaseError } from './host.ts';
import { lastError } from './stack-place.ts';

/** The plugin's end as the error of everyone who waits for it. */
export function died({ entry }: HostOptions, reason: CloseReason): ChassisError {
  return new ChassisError('Unavailable', `plugin ${entry.name}: ${told(reason, entry.folder)}`, {
    data: {
      ...(reason.exitCode === undefined ? {} : { exit_code: reason.exitCode }),
      ...(reason.signal === undefined ? {} : { signal: reason.signal }),
      ...(reason.stderr === undefined ? {} : { stderr: reason.stderr.slice(-2_000) }),
    },
  });
}

/** A program that is not there: waiting does not bring it. */
export function notStarted(options: HostOptions, reason: CloseReason): PhaseError {
  const program = options.entry.source.manifest.command?.[0];
  return new PhaseError(
    'spawn',
    died(options, reason),
    `install ${program}, or correct command in plugin.yaml`,
  );
}

/** Whether an error of the connection says that it is over. A plugin may send the same code, but not such data. */
export function isEndOfConnection(error: unknown): error is RpcError {
  if (!(error instanceof RpcError) || error.code !== ErrorCode.Unavailable) return false;
  const { kind } = (error.data ?? {}) as { kind?: unknown };
  return kind === 'closed' || kind === 'ended' || kind === 'error' || kind === 'exit';
}

/** An error of the way there, with the address; anything else as it is. */
export function onTheWay({ entry }: HostOptions, error: unknown): ChassisError {
  const { url } = entry.source.manifest;
  const found = toChassisError(error);
  if (url === undefined || !(error instanceof RpcError) || error.code !== ErrorCode.Unavailable) return found;
  return new ChassisError('Unavailable', `plugin ${entry.name}: ${url}: ${found.message}`, {
    data: found.data,
  });
}

/** The end of a process in words: with the error that it printed and its place, not just its last line. */
function told({ message, stderr = '' }: CloseReason, folder: string): string {
  const last = stderr.trimEnd().split('\n').at(-1)?.trim() ?? '';
  if (last === '' || !message.endsWith(last)) return message;
  return `${message.slice(0, -last.length)}${lastError(stderr, folder)}`;
}

/** A program that ends well before it has answered has most likely defined its plugin and not served it. */
export function unserved({ entry }: HostOptions, over: CloseReason | undefined): string {
  const { command = [], protocol, runtime } = entry.source.manifest;
  if (over?.exitCode !== 0 || runtime !== 'process' || protocol === 'jsonrpc') return '';
  if (isPython(command)) return '; did you call plugin.run()?';
  return command[0] === 'node' ? '; did you call serve()?' : '; it must go on until its stdin ends';
}

function isPython(command: readonly string[]): boolean {
  return command.some((part) => /(?:^|\/)python[\d.]*$|\.py$/.test(part));
}

/** What to do when it cannot be loaded: a command that a shell takes, and that finds the SDK as the harness lets it. */
export function lookAt({ entry, env }: HostOptions, cause: ChassisError): string {
  const { command, module, url } = entry.source.manifest;
  const { status } = (cause.data ?? {}) as { status?: unknown };
  if (status === 401 || status === 403) {
    return `give it credentials that the server takes: headers in plugin.yaml, or plugins.${entry.name}.headers`;
  }
  if (url !== undefined) return `check that the server at ${url} is up and lets ${entry.name} in`;
  if (command === undefined) return `look at ${join(entry.folder, module ?? '')}`;
  const sdk = isPython(command) && env.PYTHONPATH ? [`PYTHONPATH=${quoted(env.PYTHONPATH)}`] : [];
  const words = [...sdk, ...commandOf(command, entry.folder).map(quoted)];
  return `run it by hand: cd ${quoted(entry.folder)} && ${words.join(' ')}`;
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
