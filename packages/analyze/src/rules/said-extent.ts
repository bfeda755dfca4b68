/** A text says how much there is of it, and less is there, or the rest was never asked for. */
import type { Step } from '@chassis/journal';
import { type Claim, claimIn } from '../claims.ts';
import { opened } from '../opened.ts';
import { textsOf } from '../survey.ts';
import { brief } from './looks.ts';
import type { Rule } from './rule.ts';

interface Said extends Claim {
  readonly words: string;
  /** How many rows the text really has, when it is a table. */
  readonly rows?: number;
}

export const saidExtent: Rule<Said> = {
  name: 'said-extent',
  see(step, _output, recorded) {
    if (step.kind !== 'tool' || step.status !== 'ok') return undefined;
    for (const text of textsOf(recorded)) {
      if (text.length < 8 || text.length > 60_000) continue;
      const claim = claimIn(text);
      if (!claim) continue;
      const rows = claim.kind === 'rows' ? rowsIn(opened(text)) : undefined;
      return { ...claim, words: text.slice(...claim.range), ...(rows === undefined ? {} : { rows }) };
    }
    return undefined;
  },
  *find({ tools, view }, seen) {
    for (const { name, calls } of tools) {
      const said = calls.flatMap((step) => {
        const claim = seen.get(step.number);
        return claim ? [{ step, claim }] : [];
      });
      if (said.length === 0) continue;
      const pages = new Set(said.flatMap(({ claim }) => (claim.kind === 'page' ? [claim.here] : [])));
      for (const [index, { step, claim }] of said.entries()) {
        const text = judged(name, claim, pages, index === said.length - 1, calls.at(-1) === step);
        if (text === undefined) continue;
        const score = claim.kind === 'part' ? 0.56 : 0.66;
        yield { step: step.number, ...placeOf(view.step(step.number), claim), text, score, kind: 'missing' };
      }
    }
  },
};

function judged(
  tool: string,
  { kind, here, of, rows, words }: Said,
  pages: ReadonlySet<number>,
  last: boolean,
  newest: boolean,
): string | undefined {
  if (kind === 'rows') {
    return rows !== undefined && rows < here ? `it says ${brief(words)}, and has ${rows} rows` : undefined;
  }
  if (kind === 'page') {
    if (here < of && !pages.has(here + 1) && last)
      return `this is ${brief(words)}, and the next was not asked for`;
    // The one after a gap is where something was left out.
    return here > 1 && !pages.has(here - 1)
      ? `this is ${brief(words)}; the one before it was not asked for`
      : undefined;
  }
  if (kind === 'part') return last ? `it says ${brief(words)}` : undefined;
  return newest ? `it ends with ${brief(words)}, and ${tool} was not asked again` : undefined;
}

function rowsIn(value: unknown): number | undefined {
  if (Array.isArray(value)) return value.length;
  if (typeof value !== 'object' || value === null) return undefined;
  const lists = Object.values(value).filter(Array.isArray);
  return lists.length === 1 ? lists[0]?.length : undefined;
}

/** The claim's place in the record; a text in a member has a pointer of its own. */
function placeOf(
  step: Step | undefined,
  { words }: Said,
): { pointer: string; range?: readonly [number, number]; value: string } {
  const output = step?.output;
  const key =
    typeof output === 'object' && output !== null
      ? Object.entries(output).find(([, member]) => typeof member === 'string' && member.includes(words))?.[0]
      : undefined;
  const text =
    typeof output === 'string'
      ? output
      : key === undefined
        ? ''
        : String((output as { [key: string]: unknown })[key]);
  const from = text.indexOf(words);
  const pointer = `/output${key === undefined ? '' : `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`}`;
  return from < 0 ? { pointer, value: words } : { pointer, range: [from, from + words.length], value: words };
}
