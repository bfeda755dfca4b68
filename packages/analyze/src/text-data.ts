/**
 * Data in texts that are no JSON: tables with separators, `key: value` lines, `key=value` lines, XML and HTML.
 *
 * Only what is plainly one of these is read; prose and anything doubtful stays a text. A leaf says where it stands, so that
 * what is found in it can be shown in the text.
 */
import type { Json } from '@chassis/types';
import { markupLeaves } from './markup.ts';
import { leafAt, type PlainLeaf } from './plain-leaf.ts';
import { keysOf, pointer } from './pointer.ts';
import { tableLeaves } from './table-text.ts';

const longest = 60_000;

/** The leaves of the data in a text, in their order; empty when it is no data. */
export function plainLeaves(text: string): readonly PlainLeaf[] {
  if (text.length < 6 || text.length > longest) return [];
  const first = text.trimStart()[0];
  if (first === '{' || first === '[') return [];
  if (first === '<') return markupLeaves(text);
  if (!/[:=,;|\t]/.test(text)) return [];
  if (!text.trimEnd().includes('\n')) return clauses(text);
  const table = tableLeaves(text);
  if (table.length > 0) return table;
  const pairs = pairLines(text);
  return pairs.length > 0 ? pairs : taggedLines(text);
}

const pair = /^(\s*)(- )?\s*([\p{L}_@"'][^:=\n]{0,40}?)["']?\s*(?::|=)(?:[ \t]+(\S.*?))?\s*$/u;
const item = /^(\s*)- +(\S.*?)\s*$/;

/** `key: value`, one on a line, deeper with more space before it; nearly all lines must be such. */
function pairLines(text: string): PlainLeaf[] {
  const leaves: PlainLeaf[] = [];
  const open: { indent: number; path: string; items: number }[] = [{ indent: -1, path: '', items: 0 }];
  const taken = new Map<string, number>();
  let at = 0;
  let other = 0;
  let pairs = 0;
  for (const line of text.split('\n')) {
    const start = at;
    at += line.length + 1;
    if (line.trim() === '' || /^(?:---|\.\.\.|\s*#)/.test(line)) continue;
    const listed = item.exec(line);
    const said = pair.exec(line);
    if (!said && !listed) {
      other++;
      continue;
    }
    const indent = (said?.[1] ?? listed?.[1] ?? '').length;
    while ((open.at(-1)?.indent ?? -1) >= indent && open.length > 1) {
      const top = open.at(-1);
      // The items of a list may stand as far left as its name.
      if (top && top.indent === indent && (said?.[2] || (listed && !said)) && !top.path.endsWith('~item'))
        break;
      open.pop();
    }
    const top = open.at(-1) ?? { indent: -1, path: '', items: 0 };
    if (!said && listed) {
      const value = listed[2] ?? '';
      leaves.push(leafAt(`${top.path}${pointer(top.items++)}`, text, start + line.lastIndexOf(value), value));
      continue;
    }
    const [, , dash, key = '', value] = said ?? [];
    pairs++;
    let parent = top.path;
    if (dash) {
      parent = `${top.path}${pointer(top.items++)}`;
      open.push({ indent: indent + 1, path: parent, items: 0 });
    }
    const own = `${parent}${pointer(plainKey(key))}`;
    const times = taken.get(own) ?? 0;
    taken.set(own, times + 1);
    const path = times === 0 ? own : `${own}${pointer(` ${times}`)}`;
    if (value === undefined) open.push({ indent: dash ? indent + 2 : indent, path, items: 0 });
    else leaves.push(leafAt(path, text, start + line.lastIndexOf(value), value));
  }
  if (pairs === 1 && other <= 1)
    return leaves.every(({ text: value }) => /^\S{1,40}$/.test(value)) ? leaves : [];
  return pairs >= 2 && other <= 0.25 * (pairs + leaves.length) ? leaves : [];
}

const tagged = /([A-Za-z_][\w.-]{0,30})=("[^"\n]*"|[^\s"]+)/g;

/** Lines of a log with `key=value` in them. */
function taggedLines(text: string): PlainLeaf[] {
  const leaves: PlainLeaf[] = [];
  let at = 0;
  let lines = 0;
  let with_ = 0;
  for (const line of text.split('\n')) {
    const start = at;
    at += line.length + 1;
    if (line.trim() === '') continue;
    const found = [...line.matchAll(tagged)];
    lines++;
    if (found.length === 0) continue;
    const row = with_++;
    for (const { index, 1: key = '', 2: value = '' } of found)
      leaves.push(leafAt(pointer('lines', row, key), text, start + index + key.length + 1, value));
  }
  return with_ >= 2 && with_ >= 0.6 * lines ? leaves : [];
}

const named = /^([\p{L}_][^:=]{0,30}?)\s*[:=]\s*(\S.*)$/u;
const figure = /^([\p{L}_][\p{L}\s_-]{0,30}?)\s+([-+]?\d.*)$/u;

/** One line of clauses, `tank 3: 20 l, temp 4 C`: each names a value or tells a figure. */
function clauses(text: string): PlainLeaf[] {
  if (text.length > 200 || !/\d/.test(text)) return [];
  const leaves: PlainLeaf[] = [];
  let at = 0;
  for (const part of text.trimEnd().split(/(?<=[,;])\s+/)) {
    const said = part.replace(/[,;]$/, '');
    const found = named.exec(said) ?? figure.exec(said);
    const [, key = '', value = ''] = found ?? [];
    if (!found || value.split(/\s+/).length > 3) return [];
    const start = text.indexOf(part, at);
    at = start + part.length;
    leaves.push(leafAt(pointer(plainKey(key)), text, start + said.lastIndexOf(value), value));
  }
  return leaves;
}

/** A name without the numbers in it, which are those of what it is about. */
function plainKey(key: string): string {
  return key.replaceAll(/\s*\d+\s*/g, ' ').trim() || key;
}

/** The data in a text as a value; undefined when it is none. */
export function plainData(text: string): Json | undefined {
  const leaves = plainLeaves(text);
  if (leaves.length === 0) return undefined;
  const root: Open = new Map();
  for (const leaf of leaves) {
    const keys = keysOf(leaf.pointer);
    let at = root;
    for (const key of keys.slice(0, -1)) {
      const known = at.get(key);
      const inner: Open = known instanceof Map ? known : new Map();
      at.set(key, inner);
      at = inner;
    }
    at.set(keys.at(-1) ?? '', leaf.quoted ? leaf.text : (JSON.parse(leaf.text) as Json));
  }
  return closed(root);
}

type Open = Map<string, Json | Open>;

function closed(value: Json | Open): Json {
  if (!(value instanceof Map)) return value;
  const keys = [...value.keys()];
  if (keys.every((key, index) => key === String(index))) return [...value.values()].map(closed);
  return Object.fromEntries([...value].map(([key, inner]) => [key, closed(inner)]));
}
