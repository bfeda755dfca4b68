/** Where in a plugin's own code an error arose, from its stack. */
import { fileURLToPath } from 'node:url';

export interface Frame {
  readonly path: string;
  readonly line: string;
  readonly column?: string;
}

/** A frame's file, as an address or as a path; a module is loaded under an address with the plugin's digest. */
const FRAME = /(?:file:\/\/\/[^\s()?]+?|(?<=[( ])\/[^()?\n]+?)(?:\?[^\s:()]*)?:(\d+)(?::(\d+))?(?=\)?$)/gm;

/** The innermost frame of a stack inside a folder; what the folder has installed is not its own. */
export function frameIn(stack: string, folder: string): Frame | undefined {
  for (const [whole, line = '', column] of stack.matchAll(FRAME)) {
    const file = whole.replace(/(?:\?[^\s:()]*)?(?::\d+){1,2}$/, '');
    const path = file.startsWith('file:') ? fileURLToPath(file) : file;
    if (!path.startsWith(`${folder}/`) || path.includes('/node_modules/', folder.length)) continue;
    return { path, line, ...(column === undefined ? {} : { column }) };
  }
  return undefined;
}

/**
 * `file:line` inside the folder for what nobody foresaw: an error without a code of its own. An error that was thrown on
 * purpose says what it has to say.
 */
export function placeOf(thrown: unknown, folder: string): string | undefined {
  if (!(thrown instanceof Error) || Number.isSafeInteger((thrown as { code?: unknown }).code))
    return undefined;
  const frame = frameIn(thrown.stack ?? '', folder);
  return frame && `${frame.path.slice(folder.length + 1)}:${frame.line}`;
}
