/** Two members of one result have changed places: each has a figure like those that the other has in all other results. */
import { type Column, pointerOf } from '../columns.ts';
import type { Rule } from './rule.ts';

const least = 3;
const mostColumns = 24;

export const swapped: Rule = {
  name: 'swapped',
  *find({ tools }) {
    for (const { name, columns } of tools) {
      const numbers = columns
        .filter(({ shape, middles }) => !shape.includes('*') && middles.length >= least)
        .slice(0, mostColumns);
      for (const [index, a] of numbers.entries())
        for (const b of numbers.slice(index + 1)) {
          const at = swappedIn(a, b);
          if (!at) continue;
          const text = `${a.name} and ${b.name} have changed places: the figures of each are those that the other has in the ${a.middles.length - 1} other results of ${name}`;
          yield {
            step: at.step.number,
            pointer: pointerOf(a, at),
            value: at.value,
            text,
            score: 0.66,
            kind: 'value',
          };
        }
    }
  },
};

function swappedIn(a: Column, b: Column): Column['middles'][number]['at'] | undefined {
  if (a.middles.length !== b.middles.length) return undefined;
  for (const [index, { at, middle }] of a.middles.entries()) {
    const other = b.middles[index]?.middle;
    if (other === undefined || b.middles[index]?.at.step !== at.step) return undefined;
    const [own, theirs] = [rangeWithout(a, index), rangeWithout(b, index)];
    const apart = own.high < theirs.low || theirs.high < own.low;
    if (apart && isNear(middle, theirs, own) && isNear(other, own, theirs)) return at;
  }
  return undefined;
}

function rangeWithout({ middles }: Column, index: number): { low: number; high: number } {
  const rest = middles.filter((_, other) => other !== index).map(({ middle }) => middle);
  return { low: Math.min(...rest), high: Math.max(...rest) };
}

/** Nearer to the one range than to the other. */
function isNear(
  value: number,
  to: { low: number; high: number },
  than: { low: number; high: number },
): boolean {
  const away = ({ low, high }: { low: number; high: number }): number =>
    Math.max(0, low - value, value - high);
  return away(to) * 2 < away(than);
}
