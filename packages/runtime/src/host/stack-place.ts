/** Where in a plugin's own files an error arose. */
import { execFile } from 'node:child_process';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * `file:line:column` (or `file:line`) of the innermost place inside the folder that a stack names; undefined when
 * there is none.
 */
export function placeInStack(error: unknown, folder: string): string | undefined {
  const stack = (error as { stack?: unknown } | null | undefined)?.stack;
  if (typeof stack !== 'string') return undefined;
  return headline(stack, folder) ?? frame(stack, folder);
}

/**
 * Where a module's text is broken. A syntax error of a JavaScript module does not tell; Node's own check does,
 * without running anything.
 */
export function placeOfSyntax(path: string, folder: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['--check', path], { timeout: 10_000 }, (_error, _stdout, stderr) => {
      resolve(headline(stderr, folder));
    });
  });
}

/** Errors of syntax begin with the file and the line, then the line's text, then a mark below the place. */
function headline(text: string, folder: string): string | undefined {
  const [first = '', ...rest] = text.split('\n');
  const found = /^(.+?)(?:\?digest=[^:]*)?:(\d+)$/.exec(first);
  if (found?.[1] === undefined) return undefined;
  const path = found[1].startsWith('file:') ? fileURLToPath(found[1]) : found[1];
  if (!path.startsWith(`${folder}/`)) return undefined;
  const mark = rest.find((line) => /^\s*\^+\s*$/.test(line));
  return `${path}:${found[2]}${mark === undefined ? '' : `:${mark.indexOf('^') + 1}`}`;
}

function frame(stack: string, folder: string): string | undefined {
  const start = `${pathToFileURL(folder).href}/`;
  const from = stack.indexOf(start);
  if (from < 0) return undefined;
  const found = /^([^\s()?]+?)(?:\?digest=[^\s:]*)?:(\d+)(?::(\d+))?/.exec(stack.slice(from));
  if (found?.[1] === undefined) return undefined;
  const [, url, line, column] = found;
  return `${fileURLToPath(url)}:${line}${column === undefined ? '' : `:${column}`}`;
}
