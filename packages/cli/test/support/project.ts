/** A small project in a folder of its own: a script for the scripted model, and a tool that a test can lean on. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TempFolder, tempFolder } from './chassis.ts';

export interface Project extends TempFolder {
  write(path: string, text: string): void;
}

/** Waits until a file named `go` is in the workspace, and says in a file named `waiting` that it does. */
const GATE = `import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
export default {
  tools: {
    wait: async (_input, ctx) => {
      writeFileSync(join(ctx.workspace, 'waiting'), String(process.pid));
      while (!existsSync(join(ctx.workspace, 'go'))) {
        if (ctx.signal.aborted) throw new Error('stopped');
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      return { waited: true };
    },
    echo: (input) => input,
    refuse: () => {
      throw Object.assign(new Error('that is no order number'), { code: -32602, data: {} });
    },
  },
};
`;

const MANIFEST = `name: gate
version: 1.0.0
description: Waits, echoes, refuses.
chassis: ">=0.1 <1"
kind: tool
runtime: inline
module: ./index.ts
tools:
  - { name: wait, description: Waits., input: { type: object }, effects: read, idempotent: true, timeout_ms: 120000 }
  - { name: echo, description: Echoes., input: { type: object }, effects: none }
  - { name: refuse, description: Refuses., input: { type: object }, effects: none }
`;

/**
 * @param turns the script's turns, as YAML
 * @param config further lines of chassis.yaml
 */
export function project(turns: string, config = ''): Project {
  const folder = tempFolder();
  const write = (path: string, text: string): void => {
    const file = join(folder.path, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  write(
    'chassis.yaml',
    `model: scripted\nplugins:\n  scripted: { config: { script: ./script.yaml } }\n${config}`,
  );
  write('script.yaml', `turns:\n${turns}`);
  write('plugins/gate/plugin.yaml', MANIFEST);
  write('plugins/gate/index.ts', GATE);
  return { ...folder, write, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

/** A turn that says something and is done. */
export const says = (text: string): string => `  - { say: ${JSON.stringify(text)} }\n`;
/** A turn that calls a tool, then one that says something. */
export const calls = (tool: string, args: object, then: string): string =>
  `  - { call: [{ name: ${tool}, arguments: ${JSON.stringify(args)} }] }\n${says(then)}`;
