/**
 * What a model may have meant by a value that it wrote itself: the value in its sight that is nearest to it.
 *
 * A hint, never a link: the bytes differ.
 */
import type { SessionView } from '@chassis/journal';
import { holdersOfOutput } from './holders.ts';
import { sameStem } from './names.ts';
import type { Span } from './place.ts';
import { type Spot, spotsOf } from './spots.ts';

export interface Nearest extends Span {
  /** How the value relates to this one: `×100`, or a few letters. */
  readonly relation: 'scaled' | 'similar';
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
  const alike = new Map<string, boolean>();
  const isAlike = (name: string): boolean => {
    const known = alike.get(name) ?? sameStem(needle.name, name);
    alike.set(name, known);
    return known;
  };
  for (const holder of holdersOfOutput(view, step)) {
    for (const spot of spotsOf(view, holder.step, holder.root)) {
      if (spot.type === 'boolean' || spot.type === 'null' || spot.text === needle.text) continue;
      const named = isAlike(spot.name);
      const factor = named ? factorOf(needle.text, spot.text) : undefined;
      if (factor !== undefined) return { ...bare(spot), relation: 'scaled', factor };
      if (!similar && (named || needle.text.length >= 8) && isSimilar(needle.text, spot.text)) {
        similar = { ...bare(spot), relation: 'similar' };
      }
    }
  }
  return similar;
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
