/**
 * How a command ends badly: one line on stderr that says what is wrong and what to do, an exit code from the table,
 * and a stack only when it was asked for.
 */
import { ChassisError, ErrorCode, ExitCode, exitCodeOf, toChassisError } from '@chassis/errors';
import type { Output } from './output.ts';
import { visible, visibleLines } from './terminal/text.ts';

/** What a command line that makes no sense is answered with. */
export function usage(message: string, data?: unknown): ChassisError {
  return new ChassisError('InvalidParams', message, data === undefined ? {} : { data });
}

/** The exit code that a thrown error ends the command with. */
function exitOf(thrown: unknown): number {
  const error = toChassisError(thrown);
  // A path that a person typed and that is not there, or may not be read, is a wrong command line.
  if (error.code === ErrorCode.InternalError && isFileError(thrown)) return ExitCode.usage;
  return exitCodeOf(error.code);
}

/** Tells about an error on stderr, and with `--json` as the last record on stdout. Returns the exit code. */
export function report(thrown: unknown, out: Output, debug: boolean): number {
  const error = toChassisError(thrown);
  const exit = exitOf(thrown);
  const message = fileMessage(thrown) ?? messageOf(error);
  out.note(`chassis: ${message}`);
  if (debug) out.note(visibleLines(stackOf(thrown)));
  out.record({ type: 'result', ok: false, exit, error: error.record() });
  return exit;
}

/** A broken file may have many problems, each on a line of its own; anything else is one line. */
function messageOf(error: ChassisError): string {
  const { fix } = (error.data ?? {}) as { fix?: unknown };
  const message = hasIssues(error) ? visibleLines(error.message) : visible(error.message);
  if (typeof fix !== 'string' || message.includes(fix.replace(/^correct /, ''))) return message;
  return `${message} (${visible(fix)})`;
}

function hasIssues({ data }: { readonly data?: unknown }): boolean {
  const { issues, cause } = (data ?? {}) as { issues?: unknown; cause?: { data?: unknown } };
  return Array.isArray(issues) || (cause !== undefined && hasIssues(cause));
}

function stackOf(thrown: unknown): string {
  const parts: string[] = [];
  for (let error = thrown; error instanceof Error && parts.length < 8; error = error.cause)
    parts.push(error.stack ?? String(error));
  return parts.length === 0 ? String(thrown) : parts.join('\ncaused by: ');
}

const cannotWrite = new Map([
  ['EROFS', 'the file system is read-only'],
  ['ENOSPC', 'the disk is full'],
  ['EDQUOT', 'the disk quota is used up'],
  ['EACCES', 'this user may not'],
  ['EPERM', 'this user may not'],
]);

/** What the system would not do to a file, where its own words name a call and no way out. */
function fileMessage(thrown: unknown): string | undefined {
  const { code, path, syscall } = (thrown ?? {}) as NodeJS.ErrnoException;
  const why = cannotWrite.get(code ?? '');
  if (why === undefined || path === undefined || thrown instanceof ChassisError) return undefined;
  const [store] = /^.*\/\.chassis(?=\/|$)/.exec(path) ?? [];
  const way = store === undefined ? '' : ' (--store DIR keeps records in another folder)';
  return visible(`${store ?? path} cannot be used: ${why}, ${code} on ${syscall} ${path}${way}`);
}

function isFileError(thrown: unknown): boolean {
  const { code, path } = (thrown ?? {}) as { code?: unknown; path?: unknown };
  return (
    typeof path === 'string' &&
    typeof code === 'string' &&
    ['ENOENT', 'EACCES', 'EISDIR', 'ENOTDIR', 'EPERM', 'EROFS'].includes(code)
  );
}
