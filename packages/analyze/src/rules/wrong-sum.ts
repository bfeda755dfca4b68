/** A result states a sum that is not the sum of its rows. */
import type { Json } from '@chassis/types';
import { pointer } from '../pointer.ts';
import type { Rule, Suspect } from './rule.ts';

const sumName =
  /^(?:(?:grand_?|sub_?)?total|sum|total_?(?:amount|price|cost|sum)|gesamt(?:betrag|summe)?|summe|合计|总额|合計)$/i;

export const wrongSum: Rule<Omit<Suspect, 'step'>> = {
  name: 'wrong-sum',
  see({ kind, status }, output) {
    return kind === 'tool' && status === 'ok' ? inside(output, '/output', 0) : undefined;
  },
  *find(_, seen) {
    for (const [step, suspect] of seen) yield { step, ...suspect };
  },
};

function inside(value: Json | undefined, at: string, depth: number): Omit<Suspect, 'step'> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || depth > 3) return undefined;
  const members = Object.entries(value as { readonly [key: string]: Json });
  const stated = members.find(([key, member]) => sumName.test(key) && typeof member === 'number');
  const lists = members.filter(([, member]) => Array.isArray(member) && member.length > 1);
  if (stated && lists.length === 1) {
    const rows = lists[0]?.[1] as readonly Json[];
    const sums = columnSums(rows);
    const [only] = sums;
    const [key, total] = stated as [string, number];
    // A total may also count the rows, or hold more than they do: only one column, and a number that none of that explains.
    if (
      only &&
      sums.length === 1 &&
      total !== rows.length &&
      Math.abs(total - only.sum) > 0.005 * Math.max(1, rows.length)
    )
      return {
        pointer: at + pointer(key),
        value: total,
        text: `${key} is ${total}, the ${rows.length} rows beside it have together ${Math.round(only.sum * 100) / 100} as ${only.name}`,
        score: 0.57,
        kind: 'value',
      };
  }
  for (const [key, member] of members) {
    const found = inside(member, at + pointer(key), depth + 1);
    if (found) return found;
  }
  return undefined;
}

/** The sums of the members that are numbers in every row. */
function columnSums(rows: readonly Json[]): { name: string; sum: number }[] {
  const first = rows[0];
  if (typeof first !== 'object' || first === null || Array.isArray(first)) return [];
  return Object.keys(first).flatMap((name) => {
    const values = rows.map((row) => (row as { readonly [key: string]: Json } | null)?.[name]);
    if (!values.every((value) => typeof value === 'number')) return [];
    return [{ name, sum: values.reduce((sum: number, value) => sum + (value as number), 0) }];
  });
}
