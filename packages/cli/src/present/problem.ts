/** A problem of a record, or what was done about one, in one line with its place. */
import type { Problem } from '@chassis/journal';
import { visible } from '../terminal/text.ts';

export function problemLine({ kind, message, file, offset, length, seq }: Problem): string {
  const place = [
    file === undefined ? '' : visible(file),
    seq === undefined ? '' : `event ${seq}`,
    offset === undefined ? '' : `byte ${offset}`,
    length === undefined ? '' : `${length} bytes`,
  ].filter((part) => part !== '');
  return `${kind}: ${visible(message)}${place.length === 0 ? '' : ` (${place.join(', ')})`}`;
}
