/**
 * What a model may have meant by a value that it wrote itself: the value in its sight that is nearest to it.
 *
 * A hint, never a link: the bytes differ.
 */
import type { SessionView } from '@chassis/journal';
import { holdersOfOutput } from './holders.ts';
import { sameName, sameStem } from './names.ts';
import type { Span } from './place.ts';
import { neighboursOf, type Spot, spotsOf } from './spots.ts';

export interface Nearest extends Span {
  /** How the value relates to this one: `×100`, a few letters, or no more than that it is the only one of its name. */
  readonly relation: 'scaled' | 'similar' | 'named';
  /** The value divided by this one, when scaled. */
  readonly factor?: number;
}

/** Factors between units: thousandths, cents, seconds, minutes, kibibytes. */
const factors = [10, 100, 1000, 10_000, 1_000_000, 60, 3600, 24, 1024, 1_048_576];

/** The nearest value under a like name, or undefined when none is near. */
export function nearestOf(view: SessionView, needle: Spot): Nearest | undefined {
  const step = view.step(needle.step);
  if (step?.kind !== 'model') return undefined;
  let similar: Nearest | undefined;
  /** The values of just that name in results. */
  const named = new Map<string, Spot>();
  const judged = new Map<string, boolean>();
  const isAlike = (name: string): boolean => {
    const known = judged.get(name) ?? sameStem(needle.name, name);
    judged.set(name, known);
    return known;
  };
  for (const holder of holdersOfOutput(view, step)) {
    for (const spot of spotsOf(view, holder.step, holder.root)) {
      if (spot.type === 'boolean' || spot.type === 'null' || spot.text === needle.text) continue;
      const alike = isAlike(spot.name);
      if (alike && holder.kind === 'tool' && sameName(needle.name, spot.name)) named.set(spot.text, spot);
      const factor = alike ? factorOf(needle.text, spot.text) : undefined;
      if (factor !== undefined) return { ...bare(spot), relation: 'scaled', factor };
      if (!similar && (alike || needle.text.length >= 8) && isSimilar(needle.text, spot.text)) {
        similar = { ...bare(spot), relation: 'similar' };
      }
    }
  }
  if (similar) return similar;
  // Of several of that name it can only be the one beside the same things.
  const beside = neighboursOf(view, needle);
  const meant = [...named.values()].filter(
    (spot) => named.size === 1 || [...neighboursOf(view, spot)].some((text) => beside.has(text)),
  );
  return meant[0] && meant.length === 1 ? { ...bare(meant[0]), relation: 'named' } : undefined;
}

function factorOf(a: string, b: string): number | undefined {
  const [x, y] = [Number(a), Number(b)];
  if (
    a.trim() === '' ||
    b.trim() === '' ||
    !Number.isFinite(x) ||
    !Number.isFinite(y) ||
    y === 0 ||
    x === 0 ||
    x === y
  )
    return undefined;
  return factors
    .flatMap((factor) => [factor, 1 / factor])
    .find((factor) => Math.abs(x / y / factor - 1) < 1e-9);
}

function isSimilar(a: string, b: string): boolean {
  const longest = Math.max(a.length, b.length);
  if (longest < 4 || longest > 200) return false;
  // The greater part is the same, at both ends together: an address at another host.
  let [head, tail] = [0, 0];
  const shorter = Math.min(a.length, b.length);
  while (head < shorter && a[head] === b[head]) head++;
  while (tail < shorter - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  if (longest >= 12 && head >= 4 && head + tail >= 0.7 * longest) return true;
  const most = Math.max(1, Math.floor(longest / 5));
  return Math.abs(a.length - b.length) <= most && distance(a, b) <= most;
}

/** Levenshtein distance. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + cost));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

function bare(spot: Spot): Span {
  const span = { step: spot.step, pointer: spot.pointer, text: spot.text };
  return spot.range ? { ...span, range: spot.range } : span;
}
