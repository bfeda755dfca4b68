/** `--script FILE`: the scripted model plays this file, whatever the project says. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { usage } from './failure.ts';

export function scriptOverrides(script: string | undefined, cwd: string): string[] {
  if (script === undefined) return [];
  const file = resolve(cwd, script);
  if (!existsSync(file)) throw usage(`--script ${script}: there is no such file`);
  // As JSON, so that a name that looks like a number stays a text.
  return [`plugins.scripted.config.script=${JSON.stringify(file)}`];
}
