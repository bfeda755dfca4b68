/** A result is about another place than the person asked for: another region, environment, cluster, branch or account. */
import { type Leaf, leavesOf, outputLeaves } from '../json.ts';
import { findExact } from '../match.ts';
import { lastKey } from '../pointer.ts';
import type { Rule } from './rule.ts';

const placeName =
  /^(?:context|region|zone|environment|env|stage|namespace|ns|cluster|branch|project|account|tenant|workspace|database|db|schema|host|hostname|server|site|store|warehouse|country|locale)$/i;
const mostLeaves = 60;

export const otherPlace: Rule<readonly Leaf[]> = {
  name: 'other-place',
  see({ kind, status }, output) {
    if (kind !== 'tool' || status !== 'ok') return undefined;
    const places = outputLeaves(output).slice(0, mostLeaves).filter(isPlace);
    return places.length > 0 ? places : undefined;
  },
  *find({ view, steps }, seen) {
    const asked = view.turns.map(({ input }) => input).join('\n');
    /** Places by the kind of their name that the person spoke of, as results and calls have them. */
    const meant = new Map<string, string>();
    const remember = (leaves: readonly Leaf[]): void => {
      for (const { pointer, text } of leaves)
        if (findExact(text, asked)) meant.set(lastKey(pointer).toLowerCase(), text);
    };
    for (const step of steps) {
      if (step.kind !== 'tool') continue;
      remember(leavesOf(step.input, '/input').filter(isPlace));
      remember(listed(step.output));
    }
    for (const step of steps) {
      if (step.kind !== 'tool' || step.status !== 'ok') continue;
      for (const { pointer, text, value } of seen.get(step.number) ?? []) {
        const wanted = meant.get(lastKey(pointer).toLowerCase());
        if (wanted === undefined || wanted === text || findExact(text, asked)) continue;
        // Who was asked about that place answers about it.
        if (leavesOf(step.input).some((leaf) => leaf.text === text)) continue;
        const said = `${lastKey(pointer)} is ${JSON.stringify(text)} here, the person spoke of ${JSON.stringify(wanted)}`;
        yield { step: step.number, pointer, value, text: said, score: 0.66, kind: 'act' };
      }
    }
  },
};

function isPlace({ pointer, value, text }: Leaf): boolean {
  return (
    typeof value === 'string' && text.length >= 2 && text.length <= 60 && placeName.test(lastKey(pointer))
  );
}

/** Items of lists that are called by the plural of a place: `contexts`, `regions`. */
function listed(output: unknown): Leaf[] {
  if (typeof output !== 'object' || output === null) return [];
  return Object.entries(output).flatMap(([key, list]) => {
    const one = key.replace(/(?:es|s)$/, '');
    const kind = placeName.test(one) ? one : placeName.test(`${one}e`) ? `${one}e` : undefined;
    if (kind === undefined || !Array.isArray(list)) return [];
    return (list as readonly unknown[])
      .filter((item) => typeof item === 'string')
      .map((text) => ({ pointer: `/${kind}`, value: text, text }));
  });
}
