/** References to sessions as people type them: a full id, the beginning of one, `@last`, `@failed`. */
import { ChassisError } from '@chassis/errors';
import { nearest } from './nearest.ts';
import type { SessionSummary } from './store.ts';

/**
 * @param list all summaries, newest first; asked only when needed
 * @throws ChassisError InvalidParams with the candidates, or the nearest ids
 */
export async function findSession(
  reference: string,
  ids: readonly string[],
  list: () => Promise<readonly SessionSummary[]>,
): Promise<string> {
  if (reference.startsWith('@')) {
    if (reference !== '@last' && reference !== '@failed') {
      throw new ChassisError('InvalidParams', `${reference} names no session; there are @last and @failed`, {
        data: { reference },
      });
    }
    const wanted = (await list()).find(({ outcome }) => reference === '@last' || outcome === 'failed');
    if (wanted) return wanted.id;
    const none = reference === '@last' ? 'there is no session yet' : 'no session has failed';
    throw new ChassisError('InvalidParams', `${reference}: ${none}`, { data: { reference } });
  }
  if (ids.includes(reference)) return reference;
  const candidates = reference === '' ? [] : ids.filter((id) => id.startsWith(reference)).sort();
  const [only] = candidates;
  if (only !== undefined && candidates.length === 1) return only;
  if (candidates.length > 1) {
    const shown = candidates.slice(0, 8).join(', ');
    const more = candidates.length > 8 ? ` and ${candidates.length - 8} more` : '';
    throw new ChassisError('InvalidParams', `${reference} could be ${shown}${more}`, {
      data: { reference, candidates },
    });
  }
  const near = nearest(reference, ids);
  const hint = near.length > 0 ? `; did you mean ${near.join(' or ')}?` : '';
  throw new ChassisError('InvalidParams', `there is no session ${reference}${hint}`, {
    data: { reference, nearest: near },
  });
}
