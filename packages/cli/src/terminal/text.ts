/**
 * Text on a terminal, measured in cells.
 *
 * Promise: what comes back is never wider than asked for, never holds half a surrogate pair or half of what a person
 * sees as one letter, and has no character left that a terminal would obey.
 */
import { createRequire } from 'node:module';

/** Both bring tables that take longer to load than most commands take: they are left alone until a text needs them. */
let segmenter: Intl.Segmenter | undefined;
let stringWidth: ((text: string) => number) | undefined;

/** Cells that a text takes on a terminal: wide letters and emoji take two, combining marks none. */
export function cells(text: string): number {
  if (isPlain(text)) return text.length;
  stringWidth ??= (createRequire(import.meta.url)('string-width') as typeof import('string-width')).default;
  return stringWidth(text);
}

/** What a person sees as letters, one by one. */
function* letters(text: string): Generator<string> {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  for (const { segment } of segmenter.segment(text)) yield segment;
}

/** Cut to at most `width` cells, with `…` as the last of them when something was cut. */
export function truncate(text: string, width: number): string {
  if (!(width > 0)) return '';
  if (cells(text) <= width) return text;
  let kept = '';
  let used = 0;
  for (const segment of letters(text)) {
    const next = cells(segment);
    if (used + next > width - 1) break;
    kept += segment;
    used += next;
  }
  return `${kept}…`;
}

/** Filled with spaces to `width` cells; a text that is wider stays as it is. */
export function pad(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const space = ' '.repeat(Math.max(0, width - cells(text)));
  return align === 'left' ? text + space : space + text;
}

function isPlain(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

/**
 * Controls of both sets, direction overrides, line separators and byte-order marks: what a terminal obeys, or what shows a
 * text otherwise than it is. Halves of surrogate pairs too.
 */
const OBEYED = /[\p{Cc}\p{Bidi_Control}\p{Surrogate}\u2028\u2029\ufeff]/gu;

/** One line, with every character that a terminal would obey written as an escape (`\n`, `\x1b`, `\u202e`). */
export function visible(text: string): string {
  return text.replace(OBEYED, escaped);
}

/** As `visible`, but lines stay lines; tabs become spaces. */
export function visibleLines(text: string): string {
  return text
    .replace(/\r\n/g, '\n')
    .replace(OBEYED, (character) =>
      character === '\n' ? '\n' : character === '\t' ? '    ' : escaped(character),
    );
}

function escaped(character: string): string {
  const short = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }[character];
  if (short !== undefined) return short;
  const code = character.charCodeAt(0);
  return code < 256 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

/** Broken into lines of at most `width` cells, at spaces where there are some. */
export function wrap(text: string, width: number): string[] {
  const limit = Math.max(1, width);
  return text.split('\n').flatMap((line) => wrapLine(line, limit));
}

function wrapLine(line: string, width: number): string[] {
  if (cells(line) <= width) return [line];
  const lines: string[] = [];
  let current = '';
  let used = 0;
  const flush = (): void => {
    lines.push(current.trimEnd());
    current = '';
    used = 0;
  };
  for (const word of line.split(/(?<= )/)) {
    const size = cells(word);
    if (used + cells(word.trimEnd()) > width && used > 0) flush();
    if (size <= width || cells(word.trimEnd()) <= width) {
      current += word;
      used += size;
      continue;
    }
    for (const segment of letters(word)) {
      // Marks may make one letter wider than a whole line: it is not cut, something stands for it.
      const letter = cells(segment) > width ? '…' : segment;
      const next = cells(letter);
      if (used + next > width && used > 0) flush();
      current += letter;
      used += next;
    }
  }
  if (current !== '') flush();
  return lines;
}
