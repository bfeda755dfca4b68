/** Tables in text: a line of names, and rows with as many fields; with commas, semicolons, tabs, or bars between them. */
import { leafAt, type PlainLeaf } from './plain-leaf.ts';
import { pointer } from './pointer.ts';

const mostBeside = 2;
const leastLines = 3;

interface Line {
  readonly start: number;
  readonly text: string;
}

/** The fields of all rows, by the names in the first; what stands beside the table is not read. */
export function tableLeaves(text: string): PlainLeaf[] {
  const lines = linesOf(text);
  for (const separator of [',', ';', '\t', '|']) {
    const found = rowsBy(text, lines, separator);
    if (found.length > 0) return found;
  }
  return [];
}

function rowsBy(text: string, lines: readonly Line[], separator: string): PlainLeaf[] {
  const first = lines.slice(0, mostBeside + 1).findIndex((line) => line.text.includes(separator));
  const head = lines[first];
  if (!head) return [];
  const names = fieldsOf(head, separator).map(({ value }) => value);
  if (names.length < 2 || new Set(names).size < names.length || !names.every(isName)) return [];
  const leaves: PlainLeaf[] = [];
  let rows = 0;
  let beside = first;
  for (const line of lines.slice(first + 1)) {
    if (/^[\s|:+-]+$/.test(line.text)) continue;
    const fields = fieldsOf(line, separator);
    if (fields.length !== names.length) {
      if (++beside > mostBeside) return [];
      continue;
    }
    for (const [index, { start, value }] of fields.entries())
      if (value !== '') leaves.push(leafAt(pointer('rows', rows, names[index] ?? index), text, start, value));
    rows++;
  }
  return rows + 1 >= leastLines || (rows >= 1 && names.length >= 3) ? leaves : [];
}

function isName(text: string): boolean {
  return text !== '' && text.length <= 40 && !/^[-+]?\d/.test(text);
}

function linesOf(text: string): Line[] {
  const lines: Line[] = [];
  let start = 0;
  for (const line of text.split('\n')) {
    if (line.trim() !== '') lines.push({ start, text: line.replace(/\r$/, '') });
    start += line.length + 1;
  }
  return lines;
}

/** The fields of a line; a separator within quotation marks is none. */
function fieldsOf({ start, text }: Line, separator: string): { start: number; value: string }[] {
  const fields: { start: number; value: string }[] = [];
  let from = 0;
  let quoted = false;
  const end = (to: number): void => {
    const raw = text.slice(from, to);
    const value = raw.trim();
    fields.push({ start: start + from + raw.indexOf(value), value });
    from = to + 1;
  };
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '"') quoted = !quoted;
    else if (!quoted && text[at] === separator) end(at);
  }
  end(text.length);
  // A row between bars begins and ends with one.
  if (separator === '|' && /^\s*\|.*\|\s*$/.test(text)) return fields.slice(1, -1);
  return fields;
}
