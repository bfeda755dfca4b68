/** Nearest names: what a person probably meant. Pure. */
import { distance } from 'fastest-levenshtein';

/**
 * The candidate nearest to `word`, or undefined when none is near enough (a third of the longer one's
 * letters may differ). Case, `-`, `_` and spaces count for nothing.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const plain = fold(word);
  let best: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const other = fold(candidate);
    const d = swapped(plain, other) ? 1 : distance(plain, other);
    const longer = Math.max(plain.length, other.length);
    const near = d <= Math.max(1, Math.floor(longer / 3)) && d < longer;
    if (near && d < least) {
      best = candidate;
      least = d;
    }
  }
  return best;
}

/** `; did you mean "x"?`, or nothing. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const best = nearest(word, candidates);
  return best === undefined ? '' : `; did you mean "${best}"?`;
}

/** The same letters in another order: one slip of the fingers, though two edits. */
function swapped(a: string, b: string): boolean {
  return a !== b && a.length === b.length && sorted(a) === sorted(b);
}

function sorted(text: string): string {
  return text.split('').toSorted().join('');
}

function fold(word: string): string {
  return word.toLowerCase().replaceAll(/[-_ ]/g, '');
}
