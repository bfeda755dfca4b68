/** JSON values for people: one short line, or indented. Numbers stay as they were written; nothing in them steers a terminal. */
import type { Json } from '@chassis/types';
import { truncate, visible, visibleLines } from '../terminal/text.ts';

/** At most `width` cells of one line. A text is shown without quotes. */
export function shortValue(value: unknown, width = 60): string {
  if (value === undefined) return '';
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  // What will be cut anyway need not be looked at: a value may be megabytes.
  return truncate(visible(text.length > width * 8 ? text.slice(0, width * 8) : text), width);
}

/** All of it, over several lines; a text as it reads. */
export function fullValue(value: Json | undefined): string {
  if (value === undefined) return '';
  return visibleLines(typeof value === 'string' ? value : JSON.stringify(value, null, 2));
}

/** Every line moved to the right. */
export function indent(text: string, by = 2): string {
  const space = ' '.repeat(by);
  return text
    .split('\n')
    .map((line) => (line === '' ? '' : space + line))
    .join('\n');
}
