/**
 * Where the leaves of a JSON text stand in that text.
 *
 * A model's tool call is JSON inside a string: to say which characters became an argument, the text is read once
 * more with positions. Ranges are half-open and in UTF-16 units; a string's range excludes its quotes.
 */
import { parseDocument } from './json.ts';
import { pointer } from './pointer.ts';
import { plainLeaves } from './text-data.ts';

export interface TextLeaf {
  /** Within the document that the text holds. */
  readonly pointer: string;
  readonly range: readonly [number, number];
  /** A string with its escapes undone; any other leaf as it is written. */
  readonly text: string;
  readonly quoted: boolean;
}

const space = /[ \t\n\r]*/y;
const literal = /[^\s,\]}]+/y;
const string = /"(?:[^"\\]|\\.)*"/y;

/** The leaves of the data given as text, JSON or plain; empty when the text is no data. */
export function textLeaves(text: string): readonly TextLeaf[] {
  return parseDocument(text) === undefined ? plainLeaves(text) : jsonLeaves(text);
}

function jsonLeaves(text: string): TextLeaf[] {
  const found: TextLeaf[] = [];
  let at = 0;
  const take = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const match = pattern.exec(text)?.[0] ?? '';
    at += match.length;
    return match;
  };
  const value = (path: string): void => {
    take(space);
    const start = at;
    const first = text[at];
    if (first === '{' || first === '[') {
      at++;
      take(space);
      for (let index = 0; text[at] !== '}' && text[at] !== ']'; index++) {
        take(space);
        let key: string | number = index;
        if (first === '{') {
          key = JSON.parse(take(string)) as string;
          take(space);
          at++;
        }
        value(path + pointer(key));
        take(space);
        if (text[at] === ',') at++;
      }
      at++;
    } else if (first === '"') {
      const written = take(string);
      found.push({
        pointer: path,
        range: [start + 1, at - 1],
        text: JSON.parse(written) as string,
        quoted: true,
      });
    } else {
      const written = take(literal);
      found.push({ pointer: path, range: [start, at], text: written, quoted: false });
    }
  };
  value('');
  return found;
}

/** Where the leaf at a pointer stands in a JSON text. Of two members with one name the last counts, as in `JSON.parse`. */
export function locate(text: string, path: string): TextLeaf | undefined {
  return textLeaves(text).findLast((leaf) => leaf.pointer === path);
}

/** Where a part of a string leaf stands in the JSON text; escapes before or in it are counted as they are written. */
export function writtenRange(
  text: string,
  leaf: TextLeaf,
  [from, to]: readonly [number, number],
): readonly [number, number] {
  // Only JSON writes escapes.
  if (leaf.text.length === leaf.range[1] - leaf.range[0]) return [leaf.range[0] + from, leaf.range[0] + to];
  const starts: number[] = [];
  let at = leaf.range[0];
  while (at < leaf.range[1]) {
    starts.push(at);
    at += text[at] !== '\\' ? 1 : text[at + 1] === 'u' ? 6 : 2;
  }
  starts.push(leaf.range[1]);
  return [starts[from] ?? leaf.range[1], starts[to] ?? leaf.range[1]];
}
