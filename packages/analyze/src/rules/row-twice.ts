/** One row with an id of its own stands on two pages of a list: who adds the pages up counts it twice. */
import { peek, type Step } from '@chassis/journal';
import type { Json } from '@chassis/types';
import { canonical } from '../json.ts';
import { opened } from '../opened.ts';
import { inputKey } from '../outcome.ts';
import { follow, pointer } from '../pointer.ts';
import { isDistinctive } from '../search.ts';
import { brief } from './looks.ts';
import type { Rule } from './rule.ts';

/** A list of rows, each as a number that is equal for equal rows and hardly ever for others. */
interface Rows {
  readonly at: string;
  readonly prints: readonly number[];
}

interface Place {
  readonly step: Step;
  readonly at: string;
}

const mostRows = 500;
/** The newest pages of a tool; those that overlap are near to each other. */
const mostPages = 500;

export const rowTwice: Rule<readonly Rows[]> = {
  name: 'row-twice',
  see({ kind, status }, output) {
    if (kind !== 'tool' || status !== 'ok') return undefined;
    const lists: Rows[] = [];
    listsIn(output, '', 0, lists);
    return lists.length > 0 ? lists : undefined;
  },
  *find({ tools }, seen) {
    for (const { name, fresh } of tools) {
      const pages = fresh.slice(-mostPages).filter(({ number }) => seen.has(number));
      if (pages.length < 2) continue;
      /** Rows by their print; of a row only its number in the order of all. */
      const first = new Map<number, number>();
      const starts: { readonly from: number; readonly step: Step; readonly at: string }[] = [];
      let doubled: { readonly here: number; readonly before: number } | undefined;
      let [shared, all] = [0, 0];
      for (const step of pages) {
        const own = all;
        for (const { at, prints } of seen.get(step.number) ?? []) {
          starts.push({ from: all, step, at });
          for (const print of prints) {
            const before = first.get(print);
            if (before === undefined) first.set(print, all);
            else if (before < own) {
              shared++;
              doubled ??= { here: all, before };
            }
            all++;
          }
        }
      }
      // Pages part their rows. Results that have much in common are other views of the same.
      if (!doubled || shared * 4 > all) continue;
      const placeOf = (row: number): Place => {
        const { from, step, at } = starts.findLast((one) => one.from <= row) as (typeof starts)[number];
        return { step, at: at + pointer(row - from) };
      };
      const [here, before] = [placeOf(doubled.here), placeOf(doubled.before)];
      const row = rowAt(here);
      const id = idOf(row);
      if (inputKey(before.step) === inputKey(here.step)) continue;
      if (id === undefined || canonical(row as Json) !== canonical(rowAt(before) as Json)) continue;
      const text = `${brief(id)} stands here and in :${before.step.number}, and in no other way do results of ${name} overlap`;
      yield {
        step: here.step.number,
        pointer: `/output${here.at}`,
        value: id,
        text,
        score: 0.64,
        kind: 'value',
      };
    }
  },
};

function listsIn(value: unknown, at: string, depth: number, found: Rows[]): void {
  if (typeof value !== 'object' || value === null || depth > 3) return;
  if (!Array.isArray(value)) {
    for (const [key, member] of Object.entries(value)) listsIn(member, at + pointer(key), depth + 1, found);
    return;
  }
  const rows: readonly unknown[] = value.length > mostRows ? value.slice(0, mostRows) : value;
  if (rows.length > 0 && rows.every(isRow)) found.push({ at, prints: rows.map(printOf) });
}

function isRow(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Looked at are the members themselves; of a longer text its length and its ends. */
function printOf(row: object): number {
  let print = 7;
  for (const member of Object.values(row) as unknown[]) {
    print = Math.imul(print, 31);
    if (typeof member === 'number') print = (print + Math.trunc(member * 1000)) | 0;
    else if (typeof member === 'string') {
      const { length } = member;
      print = (print + length) | 0;
      for (let at = 0; at < length; at = at === 15 && length > 32 ? length - 16 : at + 1)
        print = (Math.imul(print, 31) + member.charCodeAt(at)) | 0;
    } else print = (print + (member === null ? 3 : member === true ? 5 : 11)) | 0;
  }
  return print;
}

function rowAt({ step, at }: Place): unknown {
  return follow(opened(peek(step, 'output')), at);
}

/** What a row is called by, if it has something beside that. */
function idOf(row: unknown): string | undefined {
  const members: readonly unknown[] = isRow(row) ? Object.values(row) : [];
  const id = members.find(
    (member) => typeof member === 'string' && /\d/.test(member) && isDistinctive(member),
  );
  return members.length < 2 || typeof id !== 'string' ? undefined : id;
}
