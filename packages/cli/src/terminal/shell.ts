/**
 * Words of a command line that a person may copy into a shell.
 *
 * Promise: whatever the text is (a key of a stranger's JSON, a path), the shell takes it as one word and as nothing else.
 */
import { visible } from './text.ts';

export function shellWord(text: string): string {
  const shown = visible(text);
  if (/^[A-Za-z0-9_@%+:,./-]+$/.test(shown)) return shown;
  return `'${shown.replaceAll("'", "'\\''")}'`;
}
