/** A result has far fewer rows, or lines, than every other result of the same tool, which all have about as many; or a row twice. */
import type { Json } from '@chassis/types';
import { canonical, leafText } from '../json.ts';
import { pointer } from '../pointer.ts';
import type { Rule } from './rule.ts';

interface Extent {
  readonly rows: number;
  readonly what: 'rows' | 'lines';
  /** A row that stands twice. */
  readonly twice?: string;
}

const leastOthers = 2;

export const fewerRows: Rule<Extent> = {
  name: 'fewer-rows',
  see(step, output, recorded) {
    if (step.kind !== 'tool' || step.status !== 'ok') return undefined;
    const list = listIn(output, '/output', 0);
    if (list) return { rows: list.rows.length, what: 'rows', ...repeated(list) };
    const text = typeof recorded === 'string' ? recorded : undefined;
    return text === undefined ? undefined : { rows: text.split('\n').length, what: 'lines' };
  },
  *find({ tools }, seen) {
    for (const { name, fresh } of tools) {
      const counted = fresh.flatMap((step) => {
        const extent = seen.get(step.number);
        return extent ? [{ step, ...extent }] : [];
      });
      for (const { step, twice } of counted) {
        if (twice === undefined || counted.filter((one) => one.twice !== undefined).length > 1) continue;
        yield {
          step: step.number,
          pointer: twice,
          text: 'this row stands twice in the list',
          score: 0.56,
          kind: 'value',
        };
      }
      const [fewest, ...others] = counted.toSorted((a, b) => a.rows - b.rows);
      const [low, high] = [others[0], others.at(-1)];
      // The last page of a listing has what is left.
      const isLast = fewest !== undefined && fewest.step === fresh.at(-1) && fewest.what === 'rows';
      if (!fewest || !low || !high || others.length < leastOthers || isLast || fewest.rows === 0) continue;
      if (high.rows > 1.3 * low.rows || low.rows < 1.5 * fewest.rows || low.rows - fewest.rows < 2) continue;
      const text = `${fewest.rows} ${fewest.what} here; the ${others.length} other results of ${name} have ${low.rows === high.rows ? low.rows : `${low.rows} to ${high.rows}`}`;
      yield { step: fewest.step.number, pointer: '/output', text, score: 0.57, kind: 'missing' };
    }
  },
};

/** The one list of a result, at its top or in an envelope. */
function listIn(
  value: Json | undefined,
  at: string,
  depth: number,
): { at: string; rows: readonly Json[] } | undefined {
  if (Array.isArray(value)) return { at, rows: value as readonly Json[] };
  if (typeof value !== 'object' || value === null || depth > 2) return undefined;
  const lists = Object.entries(value).filter(([, member]) => Array.isArray(member));
  const [only] = lists;
  if (only && lists.length === 1) return { at: at + pointer(only[0]), rows: only[1] as readonly Json[] };
  for (const [key, member] of lists.length === 0 ? Object.entries(value) : []) {
    const found = Array.isArray(member) ? undefined : listIn(member as Json, at + pointer(key), depth + 1);
    if (found) return found;
  }
  return undefined;
}

/** The first row that is equal to one before it; rows of one member may well be. */
function repeated({ at, rows }: { at: string; rows: readonly Json[] }): { twice?: string } {
  if (rows.length < 3 || rows.length > 1000) return {};
  const known = new Map<string, Json>();
  for (const [index, row] of rows.entries()) {
    if (typeof row !== 'object' || row === null || Array.isArray(row)) return {};
    const members = Object.keys(row);
    const first =
      members[0] === undefined ? undefined : leafText((row as { [key: string]: Json })[members[0]]);
    if (members.length < 2 || first === undefined) return {};
    const before = known.get(first);
    if (before === undefined) known.set(first, row);
    else if (canonical(before) === canonical(row)) return { twice: at + pointer(index) };
  }
  return {};
}
