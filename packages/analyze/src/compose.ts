/**
 * A text put together from pieces that stand in different places: a path from a folder and a name, a query from ids.
 *
 * Every piece is an exact copy. Less than nearly all of the letters and digits covered, or all from one place, is no
 * composition.
 */
import type { SessionView } from '@chassis/journal';
import type { Holder } from './holders.ts';
import { findExact } from './match.ts';
import type { Place } from './place.ts';
import { type Spot, spotsOf } from './spots.ts';

export interface Piece {
  /** Range in the composed text. */
  readonly range: readonly [number, number];
  readonly source: Place;
  readonly holder: Holder;
}

const token = /[^\s/\\?&=#:,;|"'()[\]{}<>]+/g;
const mostTokens = 48;
const mostPieces = 6;
const shortestPiece = 4;
const covering = 0.9;

/** The pieces of a text, in its order; undefined when it is no composition of what was in sight. */
export function compose(
  view: SessionView,
  needle: Spot,
  holders: readonly Holder[],
): readonly Piece[] | undefined {
  const tokens = [...needle.text.matchAll(token)].map(
    (match) => [match.index, match.index + match[0].length] as const,
  );
  if (needle.type !== 'string' || needle.text.length < 8 || tokens.length > mostTokens) return undefined;
  const pieces: Piece[] = [];
  let at = 0;
  while (at < tokens.length) {
    const piece = longestFrom(view, needle, holders, tokens, at);
    if (piece) pieces.push(piece.piece);
    at = piece ? piece.next : at + 1;
  }
  const letters = (text: string): number => text.replaceAll(/[^\p{L}\p{N}]/gu, '').length;
  const covered = pieces.reduce((sum, { range }) => sum + letters(needle.text.slice(...range)), 0);
  const places = new Set(pieces.map(({ source }) => `${source.step}${source.pointer}`));
  const whole = pieces.length <= mostPieces && places.size >= 2 && covered >= covering * letters(needle.text);
  return whole ? pieces : undefined;
}

function longestFrom(
  view: SessionView,
  needle: Spot,
  holders: readonly Holder[],
  tokens: readonly (readonly [number, number])[],
  first: number,
): { piece: Piece; next: number } | undefined {
  const from = tokens[first]?.[0] ?? 0;
  for (let last = tokens.length - 1; last >= first; last--) {
    const to = tokens[last]?.[1] ?? from;
    // A piece may begin with the separator before it: `/srv/data` is a whole value, `srv/data` is not.
    for (const start of new Set([first === 0 ? 0 : from, from])) {
      const text = needle.text.slice(start, to);
      if (text.length < shortestPiece) continue;
      const found = findIn(view, needle, holders, text);
      if (found) return { piece: { ...found, range: [start, to] }, next: last + 1 };
    }
  }
  return undefined;
}

function findIn(
  view: SessionView,
  needle: Spot,
  holders: readonly Holder[],
  text: string,
): { source: Place; holder: Holder } | undefined {
  for (const holder of holders) {
    if (holder.seen !== undefined && !holder.seen.includes(text)) continue;
    for (const spot of spotsOf(view, holder.step, holder.root)) {
      if (spot.step === needle.step && spot.pointer === needle.pointer) continue;
      const place = { step: spot.step, pointer: spot.pointer };
      if (spot.text === text) return { source: spot.range ? { ...place, range: spot.range } : place, holder };
      if (spot.range || spot.type !== 'string') continue;
      const found = findExact(text, spot.text);
      if (found) return { source: { ...place, range: found.range }, holder };
    }
  }
  return undefined;
}
