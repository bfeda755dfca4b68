/**
 * Finds a member of a JSON object in bytes without parsing what stands around it.
 *
 * Promise: for JSON as our writers write it (no white space between tokens) the range is exact; anything else is not found.
 */

export interface Range {
  readonly start: number;
  readonly end: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** Where the value of the first member of that name stands; `at` is where the object begins, `limit` where the text ends. */
export function memberRange(bytes: Buffer, at: number, limit: number, name: Buffer): Range | undefined {
  if (bytes[at] !== OPEN) return undefined;
  for (let next = at + 1; next < limit && bytes[next] === QUOTE; ) {
    const keyEnd = stringEnd(bytes, next, limit);
    if (keyEnd < 0 || bytes[keyEnd] !== COLON) return undefined;
    const start = keyEnd + 1;
    const end = valueEnd(bytes, start, limit);
    if (end < 0) return undefined;
    if (keyEnd - next === name.length + 2 && isAt(bytes, next + 1, name)) return { start, end };
    if (bytes[end] !== COMMA) return undefined;
    next = end + 1;
  }
  return undefined;
}

function isAt(bytes: Buffer, at: number, text: Buffer): boolean {
  for (let i = 0; i < text.length; i++) if (bytes[at + i] !== text[i]) return false;
  return true;
}

/** Behind a value, or −1. */
function valueEnd(bytes: Buffer, at: number, limit: number): number {
  const first = bytes[at];
  if (first === QUOTE) return stringEnd(bytes, at, limit);
  if (first === OPEN || first === OPEN_LIST) return nestedEnd(bytes, at, limit);
  let end = at;
  while (end < limit && bytes[end] !== COMMA && bytes[end] !== CLOSE && bytes[end] !== CLOSE_LIST) end++;
  return end < limit ? end : -1;
}

/** Behind a string that begins at `at`, or −1. */
function stringEnd(bytes: Buffer, at: number, limit: number): number {
  for (let i = at + 1; i < limit; i++) {
    const byte = bytes[i];
    if (byte === QUOTE) return i + 1;
    if (byte === BACKSLASH) i++;
  }
  return -1;
}

/** Behind an object or array that begins at `at`, or −1. */
function nestedEnd(bytes: Buffer, at: number, limit: number): number {
  let depth = 0;
  for (let i = at; i < limit; i++) {
    const byte = bytes[i] as number;
    if (byte === QUOTE) {
      for (i++; i < limit && bytes[i] !== QUOTE; i++) if (bytes[i] === BACKSLASH) i++;
    } else if (byte === OPEN || byte === OPEN_LIST) depth++;
    else if ((byte === CLOSE || byte === CLOSE_LIST) && --depth === 0) return i + 1;
  }
  return -1;
}
