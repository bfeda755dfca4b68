/**
 * A plugin's tools for tests, held to their own manifest: of every call that succeeds, input and output must fit
 * the schemas in `plugin.yaml`, and manifest and module must name the same tools.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileSchema, parseDocument } from '@chassis/schema';
import type { InvokeContext, ToolHandler } from '@chassis/sdk';

type Tools = { readonly [name: string]: ToolHandler };

/** @param folder the plugin's folder */
export function checkedTools<T extends Tools>(tools: T, folder: string): T {
  const file = join(folder, 'plugin.yaml');
  const manifest = parseDocument(readFileSync(file, 'utf8'), file).value as {
    tools: { name: string; input: object; output: object }[];
  };
  const named = manifest.tools.map((tool) => tool.name).toSorted();
  if (named.join() !== Object.keys(tools).toSorted().join())
    throw new Error(`${file} names other tools: ${named.join(', ')}`);
  const checked = manifest.tools.map(({ name, input, output }) => {
    const [checkInput, checkOutput] = [compileSchema({ ...input }), compileSchema({ ...output })];
    const handler = async (given: never, ctx: InvokeContext): Promise<unknown> => {
      const answer = await tools[name]?.(given, ctx);
      expectNothing(`input of ${name}`, checkInput(given));
      expectNothing(`output of ${name}`, checkOutput(JSON.parse(JSON.stringify(answer))));
      return answer;
    };
    return [name, handler];
  });
  return Object.fromEntries(checked) as T;
}

function expectNothing(what: string, issues: readonly object[]): void {
  if (issues.length > 0) throw new Error(`${what} breaks its schema: ${JSON.stringify(issues)}`);
}
