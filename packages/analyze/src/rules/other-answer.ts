/**
 * An answer about something else than was asked: other results of the tool repeat an argument at this place, this one has
 * another value there. Which places those are is learnt from the run; no name tells it.
 */
import type { Json } from '@chassis/types';
import { leafText } from '../json.ts';
import { pointer } from '../pointer.ts';
import type { Rule } from './rule.ts';

interface Told {
  readonly tool: string;
  readonly asked: readonly (readonly [key: string, text: string])[];
  readonly answered: readonly (readonly [pointer: string, text: string])[];
}

interface Differing {
  readonly step: number;
  readonly asked: string;
  readonly pointer: string;
  readonly text: string;
}

/** The first two: more than one is no exception. */
function add(differs: Map<string, Differing[]>, place: string, found: Differing): void {
  const known = differs.get(place);
  if (!known) differs.set(place, [found]);
  else if (known.length < 2) known.push(found);
}

const mostLeaves = 24;
const deepest = 3;

export const otherAnswer: Rule<Told> = {
  name: 'other-answer',
  see(step, output) {
    // The input of a model step is long, and asked for nothing here.
    const { kind, status, name } = step;
    if (kind !== 'tool' || status !== 'ok' || typeof output !== 'object' || output === null) return undefined;
    const { input } = step;
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
      const differs = new Map<string, Differing[]>();
      for (const [step, { asked, answered }] of calls)
        for (const [key, text] of asked)
          for (const [path, value] of answered) {
            const place = `${key} ${path}`;
            if (value === text) repeats.set(place, (repeats.get(place) ?? 0) + 1);
            else add(differs, place, { step, asked: text, pointer: path, text: value });
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
  const found: [string, string][] = [];
  const walk = (at: Json, path: string, depth: number): void => {
    if (typeof at !== 'object' || at === null || Array.isArray(at)) return;
    for (const key of Object.keys(at)) {
      if (found.length >= mostLeaves) return;
      const member = (at as { readonly [key: string]: Json })[key] as Json;
      const text = leafText(member);
      if (text === undefined) {
        if (depth < deepest) walk(member, path + pointer(key), depth + 1);
      } else if (text.length <= 80) found.push([path + pointer(key), text]);
    }
  };
  walk(value, '', 0);
  return found;
}

function isPart(asked: string, answered: string): boolean {
  const [a, b] = [asked.toLowerCase(), answered.toLowerCase()];
  return a.length > 1 && b.length > 1 && (a.includes(b) || b.includes(a));
}
