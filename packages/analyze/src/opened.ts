/**
 * A result with the documents that its strings hold opened, JSON, tables and the like: what a tool wraps as text is data
 * like any other.
 *
 * A pointer into an opened result may lead through such a string; `placeIn` says where that is in the record: the string,
 * and the range in it.
 */
import type { Json } from '@chassis/types';
import { parseDocument } from './json.ts';
import { locate } from './json-text.ts';
import { keysOf, pointer } from './pointer.ts';
import { plainData } from './text-data.ts';

const deepest = 4;

/** The value itself when no string in it holds a document. */
export function opened(value: Json | undefined, depth = 0): Json | undefined {
  if (typeof value === 'string')
    return value.length > 1 ? (parseDocument(value) ?? plainData(value) ?? value) : value;
  if (typeof value !== 'object' || value === null || depth >= deepest) return value;
  if (Array.isArray(value)) {
    // Rows of a table hold no documents; the parts of a wrapped answer are few.
    if (value.length > 8) return value;
    const items = value.map((item: Json) => opened(item, depth + 1) as Json);
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  let copy: { [key: string]: Json } | undefined;
  for (const key of Object.keys(value)) {
    const member = (value as { readonly [key: string]: Json })[key] as Json;
    if (typeof member !== 'object' && typeof member !== 'string') continue;
    const inner = opened(member, depth + 1) as Json;
    if (inner === member) continue;
    copy ??= { ...(value as { [key: string]: Json }) };
    copy[key] = inner;
  }
  return copy ?? value;
}

/** Where a pointer into an opened result leads in the recorded one. */
export function placeIn(
  recorded: Json | undefined,
  path: string,
): { pointer: string; range?: readonly [number, number] } {
  let at: unknown = recorded;
  const keys = keysOf(path);
  for (const [index, key] of keys.entries()) {
    if (typeof at === 'string') {
      const outer = pointer(...keys.slice(0, index));
      const leaf = locate(at, pointer(...keys.slice(index)));
      return leaf ? { pointer: outer, range: leaf.range } : { pointer: outer };
    }
    at = typeof at === 'object' && at !== null ? (at as { readonly [key: string]: unknown })[key] : undefined;
  }
  return { pointer: path };
}
