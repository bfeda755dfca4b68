/**
 * The things that a call is about: the ids, paths and addresses among its arguments.
 *
 * Values like these are written once and repeated; two calls that hold the same one are about the same thing.
 */
import type { Step } from '@chassis/journal';
import { leavesOf } from './json.ts';
import { findExact } from './match.ts';

/** One word that is a name and no amount, date or ordinary word: letters with digits or joints, or a long number kept as text. */
const identifier = /^(?=\S*\p{L})(?=\S*[\d_/.@#:-])\S{3,120}$|^\d{5,}$/u;

/** Whether a value names a thing. */
export function isIdentifier(value: unknown): value is string {
  return typeof value === 'string' && identifier.test(value);
}

/** Whether an earlier call was about a thing that the failed call, or the words of its failure, name as well. */
export function sharesSubject(step: Step, failed: Step, said: string): boolean {
  const own = new Set(leavesOf(failed.input).flatMap(({ value }) => (isIdentifier(value) ? [value] : [])));
  return leavesOf(step.input).some(
    ({ value }) => isIdentifier(value) && (own.has(value) || findExact(value, said) !== undefined),
  );
}
