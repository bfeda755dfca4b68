/** Session ids: short enough to type, random enough never to meet (59 bits), fit for file names and URLs. */
import { randomBytes } from 'node:crypto';

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

/** Twelve characters of `a-z2-7`, the first one a letter, from the system's random source. */
export function newSessionId(): string {
  let id = '';
  while (id.length < 12) {
    for (const byte of randomBytes(16)) {
      const value = byte & 31;
      if (id.length === 12 || (id === '' && value >= 26)) continue;
      id += ALPHABET[value];
    }
  }
  return id;
}

/** What a session's id must look like to be a folder's name: the ids above, and those of other tools that were imported. */
export function isSessionId(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(text);
}
