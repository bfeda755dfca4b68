/** One row with an id of its own stands on two pages of a list: who adds the pages up counts it twice. */
import type { Step } from '@chassis/journal';
import type { Json } from '@chassis/types';
import { canonical } from '../json.ts';
import { inputKey } from '../outcome.ts';
import { pointer } from '../pointer.ts';
import { isDistinctive } from '../search.ts';
import { brief } from './looks.ts';
import type { Rule } from './rule.ts';

interface Row {
  readonly print: string;
  readonly id: string;
  readonly at: string;
}

const mostRows = 500;

export const rowTwice: Rule<readonly Row[]> = {
  name: 'row-twice',
  see({ kind, status }, output) {
    if (kind !== 'tool' || status !== 'ok') return undefined;
    const rows = rowsIn(output, '/output', 0);
    return rows.length > 0 ? rows : undefined;
  },
  *find({ tools }, seen) {
    for (const { name, fresh } of tools) {
      const pages = fresh.filter(({ number }) => seen.has(number));
      if (pages.length < 2) continue;
      const first = new Map<string, Step>();
      let doubled: { step: Step; before: Step; row: Row } | undefined;
      let [shared, all] = [0, 0];
      for (const step of pages) {
        for (const row of seen.get(step.number) ?? []) {
          all++;
          const before = first.get(row.print);
          if (!before) first.set(row.print, step);
          else if (inputKey(before) !== inputKey(step)) {
            shared++;
            doubled ??= { step, before, row };
          }
        }
      }
      // Pages part their rows. Results that have much in common are other views of the same.
      if (!doubled || shared * 4 > all) continue;
      const { step, before, row } = doubled;
      const text = `${brief(row.id)} stands here and in :${before.number}, and in no other way do results of ${name} overlap`;
      yield { step: step.number, pointer: row.at, value: row.id, text, score: 0.64, kind: 'value' };
    }
  },
};

/** The rows of the one list of a result that have an id and something beside it. */
function rowsIn(value: unknown, at: string, depth: number): Row[] {
  if (typeof value !== 'object' || value === null || depth > 3) return [];
  if (!Array.isArray(value))
    return Object.entries(value).flatMap(([key, member]) => rowsIn(member, at + pointer(key), depth + 1));
  return value.slice(0, mostRows).flatMap((row: unknown, index): Row[] => {
    if (typeof row !== 'object' || row === null || Array.isArray(row)) return [];
    const members = Object.values(row);
    const id = members.find(
      (member) => typeof member === 'string' && /\d/.test(member) && isDistinctive(member),
    );
    if (typeof id !== 'string' || members.length < 2) return [];
    return [{ print: canonical(row as Json), id, at: at + pointer(index) }];
  });
}
