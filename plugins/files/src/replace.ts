/**
 * The text side of `edit_file`: finds a piece of text whatever its line ends, and replaces only that.
 *
 * Promise: pure; every character outside of the replaced pieces stays as it is, and of the replaced piece the
 * lines that the new text repeats at its beginning and end keep their own line ends too.
 */

export interface Replaced {
  readonly text: string;
  /** Line, from 1, at which each replaced piece began. */
  readonly lines: readonly number[];
}

/** Lines, from 1, on which `wanted` begins in `text`; line ends count as equal. Overlapping finds count. */
export function occurrences(text: string, wanted: string): number[] {
  const flat = flatten(text);
  return positions(flat, flatten(wanted), 1).map((at) => lineAt(flat, at));
}

/** Replaces every occurrence of `wanted`; occurrences do not overlap. */
export function replaceAll(text: string, wanted: string, replacement: string): Replaced {
  const flat = flatten(text);
  const flatWanted = flatten(wanted);
  const found = positions(flat, flatWanted, Math.max(flatWanted.length, 1));
  const raw = rawOffsets(text);
  const pieces: string[] = [];
  let done = 0;
  for (const at of found) {
    const start = raw(at);
    const end = raw(at + flatWanted.length);
    pieces.push(text.slice(done, start), fitted(text, start, end, replacement));
    done = end;
  }
  pieces.push(text.slice(done));
  return { text: pieces.join(''), lines: found.map((at) => lineAt(flat, at)) };
}

function flatten(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

function positions(text: string, wanted: string, step: number): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + step)) found.push(at);
  return found;
}

function lineAt(flat: string, offset: number): number {
  let line = 1;
  for (let at = flat.indexOf('\n'); at >= 0 && at < offset; at = flat.indexOf('\n', at + 1)) line++;
  return line;
}

/** Turns rising offsets into the flattened text into offsets into the text itself. */
function rawOffsets(text: string): (flat: number) => number {
  let carriage = text.indexOf('\r\n');
  let removed = 0;
  return (flat) => {
    while (carriage >= 0 && carriage - removed < flat) {
      removed++;
      carriage = text.indexOf('\r\n', carriage + 2);
    }
    return flat + removed;
  };
}

/** The replacement with the line ends that belong there. */
function fitted(text: string, start: number, end: number, replacement: string): string {
  const old = linesOf(text.slice(start, end));
  const fresh = linesOf(replacement);
  const least = Math.min(old.length, fresh.length);
  let head = 0;
  while (head < least - 1 && old[head]?.words === fresh[head]?.words) head++;
  let tail = 0;
  while (tail < least - head && same(old.at(-1 - tail), fresh.at(-1 - tail))) tail++;
  const replacedEnds = old
    .slice(head, old.length - tail)
    .flatMap((line) => (line.end === '' ? [] : [line.end]));
  const fallback = replacedEnds.at(-1) ?? endNear(text, start);
  let used = 0;
  return fresh
    .map((line, i) => {
      if (i < head) return line.words + (old[i]?.end ?? '');
      if (i >= fresh.length - tail) return line.words + (old[old.length - fresh.length + i]?.end ?? '');
      return line.end === '' ? line.words : line.words + (replacedEnds[used++] ?? fallback);
    })
    .join('');
}

interface Line {
  readonly words: string;
  readonly end: '' | '\n' | '\r\n';
}

/** The last element is what follows the last line end, possibly nothing. */
function linesOf(text: string): Line[] {
  return text.split('\n').map((words, i, all) => {
    if (i === all.length - 1) return { words, end: '' };
    return words.endsWith('\r') ? { words: words.slice(0, -1), end: '\r\n' } : { words, end: '\n' };
  });
}

function same(a: Line | undefined, b: Line | undefined): boolean {
  return a?.words === b?.words && (a?.end === '') === (b?.end === '');
}

/** The line end of the line at an offset, else of the line before it, else `\n`. */
function endNear(text: string, offset: number): string {
  const next = text.indexOf('\n', offset);
  const at = next >= 0 ? next : text.lastIndexOf('\n', offset);
  return at > 0 && text[at - 1] === '\r' ? '\r\n' : '\n';
}
