/**
 * A capability that is not there, as an error: a mistake in a file or a name is a wrong command line (2), everything else
 * is unavailable (3).
 */
import { ChassisError, ErrorCode } from '@chassis/errors';
import type { Unavailable } from '@chassis/runtime';
import { usage } from './failure.ts';

/** A manifest, configuration or script with a mistake in it: its message names file, line and column. */
export function isMistake({ phase, cause }: Unavailable): boolean {
  const read = phase === 'manifest' || phase === 'config' || phase === 'on_load';
  return phase === 'unknown' || (read && cause.code === ErrorCode.InvalidParams);
}

export function refusalOf(record: Unavailable): ChassisError {
  const { capability, cause, fix } = record;
  if (isMistake(record)) {
    const issues = (cause.data as { issues?: unknown } | undefined)?.issues;
    return usage(`${cause.message}${existing(record)}`, {
      ...record,
      ...(issues === undefined ? {} : { issues }),
    });
  }
  const message = cause.message.includes(capability)
    ? cause.message
    : `${capability} is unavailable: ${cause.message}`;
  return new ChassisError('Unavailable', message, { data: { ...record, fix } });
}

/** For a name that is near to none: those that there are. */
function existing({ phase, cause, alternatives }: Unavailable): string {
  if (phase !== 'unknown' || alternatives.length === 0 || cause.message.includes('did you mean')) return '';
  return `; there ${alternatives.length === 1 ? 'is' : 'are'} ${alternatives.join(', ')}`;
}
