/** Where in a plugin's own files an error arose, from its stack. Pure. */
import { fileURLToPath, pathToFileURL } from 'node:url';

/** `file:line:column` (or `file:line`) of the innermost place inside the folder; undefined when there is none. */
export function placeInStack(error: unknown, folder: string): string | undefined {
  const stack = (error as { stack?: unknown } | null | undefined)?.stack;
  if (typeof stack !== 'string') return undefined;
  const start = `${pathToFileURL(folder).href}/`;
  const from = stack.indexOf(start);
  if (from < 0) return undefined;
  const found = /^([^\s()?]+?)(?:\?digest=[^\s:]*)?:(\d+)(?::(\d+))?/.exec(stack.slice(from));
  if (found?.[1] === undefined) return undefined;
  const [, url, line, column] = found;
  return `${fileURLToPath(url)}:${line}${column === undefined ? '' : `:${column}`}`;
}
