/** `list_files`: the entries of a folder, or everything below it that a glob matches. */
import type { InvokeContext } from '@chassis/sdk';
import type { JsonObject } from '@chassis/types';
import { fileProblem } from './problem.ts';
import { globTest, walk } from './walk.ts';
import { find, shownPath } from './workspace.ts';

export interface ListInput {
  readonly path?: string;
  readonly glob?: string;
  readonly all?: boolean;
  readonly limit?: number;
}

export async function listFiles(input: ListInput, ctx: InvokeContext): Promise<JsonObject> {
  const start = input.path ?? '.';
  const limit = input.limit ?? 1000;
  const matches = globTest(input.glob);
  const entries: JsonObject[] = [];
  let truncated = false;
  try {
    const { parts } = await find(ctx.workspace, start);
    const options = { all: input.all ?? false, deep: input.glob !== undefined, signal: ctx.signal };
    for await (const entry of walk(ctx.workspace, start, options)) {
      if (!matches(entry.below)) continue;
      if (entries.length === limit) {
        truncated = true;
        break;
      }
      const { path, type, bytes } = entry;
      entries.push(type === 'file' ? { path, type, bytes } : { path, type });
    }
    return { path: shownPath(parts), entries, truncated };
  } catch (error) {
    throw fileProblem(start, error);
  }
}
