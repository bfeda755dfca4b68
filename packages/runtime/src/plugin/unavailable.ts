/** How the one record of a missing capability is made. */
import { type ErrorRecord, toChassisError } from '@chassis/errors';
import type { Unavailable } from '../capability.ts';

export interface UnavailableParts {
  readonly capability: string;
  readonly owner: string | null;
  readonly phase: Unavailable['phase'];
  readonly cause: unknown;
  readonly fix: string;
  readonly since?: number;
  readonly retry_at?: number;
  readonly alternatives?: readonly string[];
}

export function unavailable(parts: UnavailableParts): Unavailable {
  const { capability, owner, phase, fix, retry_at } = parts;
  return {
    capability,
    owner,
    phase,
    cause: causeRecord(parts.cause),
    since: parts.since ?? Date.now(),
    ...(retry_at === undefined ? {} : { retry_at }),
    alternatives: parts.alternatives ?? [],
    fix,
  };
}

/** A thrown value as a record. Never a stack; `data` only when it is plain JSON. */
function causeRecord(cause: unknown): ErrorRecord {
  const { data, ...record } = toChassisError(cause).record();
  return isJson(data) ? { ...record, data } : record;
}

function isJson(data: unknown): boolean {
  if (data === undefined) return false;
  try {
    return JSON.stringify(data) !== undefined;
  } catch {
    return false;
  }
}

/** The same record as seen from another capability of the same plugin. */
export function asCapability(record: Unavailable, capability: string): Unavailable {
  return { ...record, capability };
}
