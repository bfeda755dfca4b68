/**
 * A header block: name, colon, value; one a line; names in any case.
 *
 * Promise: either one length, or one sentence that says why the stream cannot be trusted any more.
 */

/** @param lines the block's lines without their line ends and without the blank one */
export function parseHeader(lines: readonly string[]): { length: number } | string {
  let length: number | undefined;
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon < 1) return `a header line has no name and value: ${quoted(line)}`;
    const name = line.slice(0, colon).trim().toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (name === 'content-length') {
      if (!/^\d{1,15}$/.test(value)) return `Content-Length is no number of bytes: ${quoted(value)}`;
      if (length !== undefined && length !== Number(value))
        return 'two Content-Length headers contradict each other';
      length = Number(value);
    }
    if (name === 'content-type') {
      const charset = /charset\s*=\s*"?([^";\s]+)/i.exec(value)?.[1];
      if (charset !== undefined && !/^utf-?8$/i.test(charset))
        return `charset ${quoted(charset)} is not utf-8`;
    }
  }
  return length === undefined ? 'a header block has no Content-Length' : { length };
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}
