/**
 * Old formats are read through pure upgraders, one for each step from `v` to `v + 1`; files are never rewritten.
 *
 * Promise: a record of a newer major version is refused with both versions named and stays as it is.
 */
import { ChassisError } from '@chassis/errors';
import type { Event, UnknownEvent } from './event.ts';

/** The format that this version writes: `v` of headers and events. */
export const FORMAT_VERSION = 1;

type Raw = UnknownEvent | Event;
type Upgrader = (event: Raw) => Raw;

/** `upgraders[n]` turns an event of format n into one of format n + 1. */
const upgraders: Readonly<Record<number, Upgrader>> = {};

/**
 * @throws ChassisError InvalidParams (exit code 2) when `v` is newer than this version reads, or is no version at all
 */
export function checkVersion(v: unknown, what: string): void {
  if (typeof v === 'number' && Number.isInteger(v) && v >= 1 && v <= FORMAT_VERSION) return;
  const newer = typeof v === 'number' && Number.isInteger(v) && v > FORMAT_VERSION;
  throw new ChassisError(
    'InvalidParams',
    newer
      ? `${what} has format version ${v}; this Chassis reads versions up to ${FORMAT_VERSION}. Use a newer Chassis; nothing was changed.`
      : `${what} has no valid format version (${JSON.stringify(v)}); this Chassis reads versions 1 to ${FORMAT_VERSION}.`,
    { data: { found: v ?? null, supported: FORMAT_VERSION } },
  );
}

/** An event in today's format. */
export function upgradeEvent(event: Raw): Raw {
  if (event.v === FORMAT_VERSION) return event;
  checkVersion(event.v, `event ${event.seq} of session ${event.session}`);
  let current = event;
  while (current.v < FORMAT_VERSION) {
    const upgrade = upgraders[current.v];
    if (!upgrade) {
      throw new ChassisError(
        'InternalError',
        `there is no way from format version ${current.v} to ${current.v + 1}`,
      );
    }
    current = upgrade(current);
  }
  return current;
}
