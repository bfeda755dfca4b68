/**
 * An answer about something else than was asked: other results of the tool repeat an argument at this place, this one has
 * another value there. Which places those are is learnt from the run; no name tells it.
 */
import type { Json } from '@chassis/types';
import { leavesOf } from '../json.ts';
import type { Rule } from './rule.ts';

interface Told {
  readonly tool: string;
  readonly asked: readonly (readonly [key: string, text: string])[];
  readonly answered: readonly (readonly [pointer: string, text: string])[];
}

const mostLeaves = 24;

export const otherAnswer: Rule<Told> = {
  name: 'other-answer',
  see({ kind, status, name, input }, output) {
    if (kind !== 'tool' || status !== 'ok' || typeof output !== 'object' || output === null) return undefined;
    if (typeof input !== 'object' || input === null) return undefined;
    const asked = top(input as Json).filter(([, text]) => text.length > 1);
    const answered = asked.length === 0 ? [] : top(output);
    return answered.length === 0 ? undefined : { tool: name, asked, answered };
  },
  *find(_, seen) {
    const tools = Map.groupBy(seen, ([, { tool }]) => tool);
    for (const [tool, calls] of tools) {
      if (calls.length < 2) continue;
      const repeats = new Map<string, number>();
      const differs = new Map<string, { step: number; asked: string; pointer: string; text: string }[]>();
      for (const [step, { asked, answered }] of calls)
        for (const [key, text] of asked)
          for (const [pointer, value] of answered) {
            const place = `${key} ${pointer}`;
            if (value === text) repeats.set(place, (repeats.get(place) ?? 0) + 1);
            else
              differs.set(place, [
                ...(differs.get(place) ?? []).slice(0, 2),
                { step, asked: text, pointer, text: value },
              ]);
          }
      for (const [place, times] of repeats) {
        const [odd, ...more] = differs.get(place) ?? [];
        if (!odd || more.length > 0 || isPart(odd.asked, odd.text)) continue;
        yield {
          step: odd.step,
          pointer: `/output${odd.pointer}`,
          value: odd.text,
          text: `${tool} was asked for ${JSON.stringify(odd.asked)} and answered for ${JSON.stringify(odd.text)}; its other results repeat here what was asked`,
          score: times > 1 ? 0.74 : 0.66,
          kind: 'missing',
        };
      }
    }
  },
};

/** The leaves of a value that stand in no list, the first few. */
function top(value: Json): [string, string][] {
  return leavesOf(value)
    .slice(0, mostLeaves)
    .flatMap(({ pointer, text }): [string, string][] =>
      /\/\d/.test(pointer) || text.length > 80 ? [] : [[pointer, text]],
    );
}

function isPart(asked: string, answered: string): boolean {
  const [a, b] = [asked.toLowerCase(), answered.toLowerCase()];
  return a.length > 1 && b.length > 1 && (a.includes(b) || b.includes(a));
}
