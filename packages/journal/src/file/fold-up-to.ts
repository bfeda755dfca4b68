/** Folds a parent's events up to a fork point, and answers the hash there. */
import { ChassisError } from '@chassis/errors';
import type { Resolve } from '../blob-ref.ts';
import { damagedRecord } from '../damaged-record.ts';
import type { Fold } from '../fold.ts';
import { decodeLine } from '../line.ts';
import { KnownLosses } from '../lost.ts';
import type { Problem } from '../problem.ts';
import { unrecorded } from './recorded-losses.ts';
import { type SessionPart, scanPart } from './session-files.ts';

/**
 * @throws ChassisError DamagedRecord when something before the event is not whole and no repair has put that on record,
 *   InvalidParams when there is no such event
 */
export async function foldUpTo(
  seq: number,
  parent: string,
  parts: readonly SessionPart[],
  fold: Fold,
  resolve: Resolve,
): Promise<string> {
  let hash: string | undefined;
  const problems: Problem[] = [];
  for (const part of parts) {
    for await (const lines of scanPart(part, { to: seq })) {
      for (const { bytes, checked, problem } of lines) {
        if (problem && problem.kind !== 'torn') problems.push(problem);
        if (!checked.whole) continue;
        const { event, refs, large } = decodeLine(bytes, true, checked);
        fold.apply(event, refs ? resolve : undefined, large);
        if (checked.head?.seq === seq) hash = checked.hash;
      }
    }
  }
  const shared = parts.map((part) => ({ ...part, last: Math.min(part.last, seq) }));
  const damage = await unrecorded(problems, shared, new KnownLosses());
  if (damage.length > 0)
    throw damagedRecord(parent, `session ${parent} is damaged before event ${seq}`, damage);
  if (hash !== undefined) return hash;
  throw new ChassisError(
    'InvalidParams',
    `session ${parent} has no event ${seq}; its last one is ${fold.view.lastSeq}`,
    { data: { session: parent, seq, last: fold.view.lastSeq } },
  );
}
