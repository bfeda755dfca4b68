/** A project in a temporary folder with as many plugins as a benchmark needs. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openProject, type Project } from '../../packages/runtime/src/index.ts';

export interface BenchProject {
  readonly root: string;
  open(): Promise<Project>;
  write(path: string, text: string): void;
  remove(): void;
}

export function benchProject(): BenchProject {
  const root = mkdtempSync(join(tmpdir(), 'chassis-bench-'));
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  write('chassis.yaml', '');
  return {
    root,
    write,
    open: () => openProject({ cwd: root, home: root, env: { PATH: process.env.PATH, HOME: root } }),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** One tool that answers its arguments, in a plugin of its own. */
export function echoPlugin(name: string, how: string, effects = 'none'): string {
  return `name: ${name}
version: 1.0.0
description: Echoes.
${how}
tools:
  - name: ${name.replaceAll('-', '_')}_echo
    description: Answers its arguments.
    input: { type: object, properties: { text: { type: string } }, required: [text] }
    output: { type: object, properties: { text: { type: string } }, required: [text] }
    effects: ${effects}
    idempotent: true
`;
}

/** The code of such a plugin, for every runtime that takes a module, and as a program. */
export function echoCode(name: string): string {
  return `import { definePlugin, serve } from '@chassis/sdk';
const plugin = definePlugin({ tools: { ${name.replaceAll('-', '_')}_echo: (input) => input } });
export default plugin;
if (import.meta.main) await serve(plugin);
`;
}
