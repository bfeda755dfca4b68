/**
 * `pluginScaffold`: a small plugin that works at once, as a starting point.
 *
 * Promise: nothing that is there is overwritten; what is written passes `checkPlugin` without a finding.
 */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ChassisError } from '@chassis/errors';
import { PLUGIN_NAME } from './manifest-schema.ts';

export interface Scaffold {
  readonly kind: 'typescript' | 'python';
  /** A plugin name: a-z, 0-9 and single hyphens. */
  readonly name: string;
  /** Created if it is not there; must be empty. */
  readonly folder: string;
}

/**
 * @returns paths of the files written
 * @throws InvalidParams for a bad name, Conflict for a folder that is not empty
 */
export async function pluginScaffold({ kind, name, folder }: Scaffold): Promise<string[]> {
  if (!new RegExp(PLUGIN_NAME).test(name) || name.length > 64 || name === 'paths' || name === 'npm') {
    throw new ChassisError('InvalidParams', `"${name}" is no plugin name; use a-z, 0-9 and single hyphens`);
  }
  await mkdir(folder, { recursive: true });
  if ((await readdir(folder)).length > 0) {
    throw new ChassisError('Conflict', `${folder} is not empty; a new plugin needs a folder of its own`);
  }
  const tool = `${name.replaceAll('-', '_')}_count_words`.slice(0, 64);
  const files = kind === 'typescript' ? typescript(name, tool) : python(name, tool);
  const written: string[] = [];
  for (const [file, text] of Object.entries(files)) {
    const path = join(folder, file);
    await writeFile(path, text, { flag: 'wx' });
    written.push(path);
  }
  return written;
}

const manifest = (name: string, tool: string, how: string): string => `name: ${name}
version: 0.1.0
description: Counts words.
chassis: ">=0.1 <1"
${how}
tools:
  - name: ${tool}
    description: Counts the words of a text.
    effects: none # it changes nothing, so it runs without asking
    idempotent: true
`;

const typescript = (name: string, tool: string): Record<string, string> => ({
  'plugin.yaml': manifest(
    name,
    tool,
    'runtime: inline # in the harness; "runtime: process" with "command: [node, index.ts]" works too\nmodule: ./index.ts',
  ),
  'index.ts': `import { definePlugin, defineTool, serve } from '@chassis/sdk';

const plugin = definePlugin({
  tools: {
    ${tool}: defineTool({
      // JSON Schema, or a schema of zod or another library. The handler's types follow from it, and no call breaks it.
      input: {
        type: 'object',
        properties: { text: { type: 'string', description: 'what to count in' } },
        required: ['text'],
        additionalProperties: false,
      },
      output: {
        type: 'object',
        properties: { words: { type: 'integer' } },
        required: ['words'],
      },
      run: ({ text }) => ({
        words: text.split(/\\s+/).filter((word) => word !== '').length,
      }),
    }),
  },
});

export default plugin;

// Only when this file is started as a process of its own.
if (import.meta.main) await serve(plugin);
`,
});

const python = (name: string, tool: string): Record<string, string> => ({
  'plugin.yaml': manifest(name, tool, 'runtime: process\ncommand: [python3, main.py]'),
  'main.py': `from typing import TypedDict

from chassis_sdk import Plugin  # found without installing; standard library only

plugin = Plugin()


class Count(TypedDict):
    words: int


@plugin.tool
def ${tool}(text: str) -> Count:
    # The type hints are the schemas of the tool: no call breaks them, and neither may the result.
    return {"words": len(text.split())}


if __name__ == "__main__":
    plugin.run()
`,
});
