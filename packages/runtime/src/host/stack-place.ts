/** Where in a plugin's own files an error arose. */
import { execFile } from 'node:child_process';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { frameIn } from '@chassis/sdk';

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
  const found = frameIn(stack, folder);
  if (found === undefined) return undefined;
  return `${found.path}:${found.line}${found.column === undefined ? '' : `:${found.column}`}`;
}

const PYTHON = /^\s*File "(.+)", line (\d+)/gm;
const NODE = /^(?:file:\/\/)?(\/[^\n]+?):(\d+)$/m;

/**
 * What a process said about its end: the line that names the error, with `file:line` of the plugin's own code when its
 * stderr holds one. A trace does not always end with its error.
 */
export function lastError(stderr: string, folder: string): string {
  const lines = stderr.trimEnd().split('\n');
  const said = lines.findLast((line) => /^[\w.]*(?:Error|Exception)\b/.test(line)) ?? lines.at(-1) ?? '';
  const inside = [...stderr.matchAll(PYTHON)].filter(([, path = '']) => own(path, folder)).at(-1);
  const first = NODE.exec(stderr);
  const found = inside ?? (first?.[1] !== undefined && own(first[1], folder) ? first : undefined);
  const frame = found === undefined ? frameIn(stderr, folder) : { path: found[1] ?? '', line: found[2] };
  const place = frame === undefined ? '' : ` (${relative(folder, frame.path)}:${frame.line})`;
  return `${said.trim()}${place}`;
}

function own(path: string, folder: string): boolean {
  return (
    path.startsWith(`${folder}/`) && !path.includes('/node_modules/') && !path.includes('/site-packages/')
  );
}
