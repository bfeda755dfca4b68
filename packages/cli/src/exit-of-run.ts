/** The exit code of a run, from how it ended: documented, so that a script can act on it. */
import { ErrorCode, type ErrorRecord, ExitCode, exitCodeOf } from '@chassis/errors';
import type { SessionView } from '@chassis/journal';
import type { TurnResult } from '@chassis/runtime';

/** `file:line:column` of what is wrong, where an error names a place that a person wrote. */
export function mistakeAt({ data }: Pick<ErrorRecord, 'data'>): string | undefined {
  const at = (data as { at?: unknown } | null | undefined)?.at;
  return typeof at === 'string' ? at : undefined;
}

/**
 * A tool's own code says what is wrong with a call, not with the command line: InvalidParams of a tool is a failed run (1),
 * and so is a page that a tool could not fetch. A model or plugin that cannot be reached is 3, a refusal 4.
 */
export function exitOfRun(
  result: Pick<TurnResult, 'outcome' | 'error' | 'failed_step'>,
  view: SessionView,
): number {
  if (result.outcome === 'ok') return ExitCode.ok;
  if (result.outcome === 'cancelled') return ExitCode.interrupted;
  if (result.outcome === 'interrupted' || result.error === undefined) return ExitCode.failed;
  const { code } = result.error;
  const step = result.failed_step === undefined ? undefined : view.step(result.failed_step);
  if (step?.kind === 'tool' && step.status !== 'denied' && code !== ErrorCode.Unavailable)
    return ExitCode.failed;
  // A model that is read from a file, and the file has a mistake: nothing is down that could come back.
  if (code === ErrorCode.ModelError && mistakeAt(result.error) !== undefined) return ExitCode.usage;
  const exit = exitCodeOf(code);
  return exit === ExitCode.usage || exit === ExitCode.interrupted ? ExitCode.failed : exit;
}
