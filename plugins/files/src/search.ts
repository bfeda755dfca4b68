/**
 * `search_files`: lines that match a regular expression.
 *
 * Promise: linear time whatever the pattern (RE2), bounded output, and what was not searched is counted.
 */
import type { InvokeContext } from '@chassis/sdk';
import type { JsonObject } from '@chassis/types';
import { RE2JS } from 're2js';
import { fileProblem, wrong } from './problem.ts';
import { decodeText, looksBinary } from './text.ts';
import { type Entry, globTest, walk } from './walk.ts';

const MAX_FILE_BYTES = 4 * 1024 * 1024;
const MAX_LINE = 400;

export interface SearchInput {
  readonly pattern: string;
  readonly path?: string;
  readonly glob?: string;
  readonly ignore_case?: boolean;
  readonly all?: boolean;
  readonly limit?: number;
}

export async function searchFiles(input: SearchInput, ctx: InvokeContext): Promise<JsonObject> {
  const start = input.path ?? '.';
  const limit = input.limit ?? 200;
  const pattern = compile(input);
  const matchesGlob = globTest(input.glob);
  const matches: JsonObject[] = [];
  const skipped = { binary: 0, too_large: 0, unreadable: 0 };
  let files_searched = 0;
  let truncated = false;
  try {
    const options = { all: input.all ?? false, deep: true, signal: ctx.signal };
    search: for await (const entry of walk(ctx.workspace, start, options)) {
      if (entry.type !== 'file' || !matchesGlob(entry.below)) continue;
      const text = await textOf(entry);
      if (typeof text === 'string') {
        skipped[text]++;
        continue;
      }
      files_searched++;
      for (const [i, line] of text.lines.entries()) {
        const match = pattern.matcher(line);
        if (!match.find()) continue;
        if (matches.length === limit) {
          truncated = true;
          break search;
        }
        matches.push({ path: entry.path, line: i + 1, ...shortened(line, match.start()) });
      }
    }
  } catch (error) {
    throw fileProblem(start, error);
  }
  return { matches, files_searched, skipped, truncated };
}

function compile({ pattern, ignore_case }: SearchInput): RE2JS {
  try {
    return RE2JS.compile(pattern, ignore_case === true ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (error) {
    throw wrong('pattern', `no valid regular expression (RE2 syntax): ${(error as Error).message}`, {
      pattern,
    });
  }
}

async function textOf(entry: Entry): Promise<{ lines: string[] } | 'binary' | 'too_large' | 'unreadable'> {
  if (entry.bytes > MAX_FILE_BYTES) return 'too_large';
  let bytes: Buffer;
  try {
    await using file = await entry.folder.file(entry.name, entry.path);
    bytes = await file.readFile();
  } catch {
    return 'unreadable';
  }
  const text = looksBinary(bytes) ? undefined : decodeText(bytes);
  if (text === undefined) return 'binary';
  const lines = (text.startsWith('\uFEFF') ? text.slice(1) : text).split('\n');
  if (lines.at(-1) === '') lines.pop();
  return { lines: lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line)) };
}

/** The line, or of a long one the part around the match, never half a character. */
function shortened(line: string, match: number): { text: string; cut?: true } {
  if (line.length <= MAX_LINE) return { text: line };
  let start = Math.min(Math.max(match - MAX_LINE / 4, 0), line.length - MAX_LINE);
  let end = start + MAX_LINE;
  if (/[\uDC00-\uDFFF]/.test(line[start] ?? '')) start++;
  if (/[\uD800-\uDBFF]/.test(line[end - 1] ?? '')) end--;
  return { text: line.slice(start, end), cut: true };
}
