/** Losses that a repair has put on record, also behind what another session shares of a log. */
import { decodeLine } from '../line.ts';
import { KnownLosses } from '../lost.ts';
import type { Problem } from '../problem.ts';
import { type SessionPart, scanPart } from './session-files.ts';

/**
 * The problems that no repair has put on record. A repair writes at the end of a log: what a fork shares of its parent ends
 * before that, so that the rest of the parent is read too, but only if something is wrong.
 * @param known what the lines that were read say of it; more is added
 */
export async function unrecorded(
  problems: readonly Problem[],
  parts: readonly SessionPart[],
  known: KnownLosses,
): Promise<readonly Problem[]> {
  let open = problems.filter((one) => !known.knows(one));
  for (const part of parts) {
    if (open.length === 0) break;
    if (!Number.isFinite(part.last)) continue;
    const behind = { ...part, last: Number.POSITIVE_INFINITY };
    for await (const lines of scanPart(behind, { from: part.last + 1 })) {
      for (const { bytes, checked } of lines)
        if (checked.whole && checked.head?.type === 'session.repaired')
          known.add(decodeLine(bytes, true, checked).event.data);
    }
    open = open.filter((one) => !known.knows(one));
  }
  return open;
}

/**
 * Of losses that are on record those that stand on a parent's record alone, behind what a fork shares of it. The fork's own
 * lines do not say them, so that it cannot be handed on without its parent.
 */
export async function inheritedLosses(
  losses: readonly Problem[],
  parts: readonly SessionPart[],
): Promise<readonly Problem[]> {
  if (losses.length === 0 || parts.length < 2) return [];
  const known = new KnownLosses();
  for (const part of parts)
    for await (const lines of scanPart(part))
      for (const { bytes, checked } of lines)
        if (checked.whole && checked.head?.type === 'session.repaired')
          known.add(decodeLine(bytes, true, checked).event.data);
  return losses.filter((one) => !known.knows(one));
}
