/**
 * The environment of a plugin's process: built from nothing, never inherited.
 *
 * Promise: it holds `PATH`, `HOME`, `LANG`, `TZ`, the variables that the manifest names and the harness has, what
 * the configuration adds, and the folder of the Python SDK; nothing else.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PluginBlock } from '../project/config.ts';
import { expand, type Lookup } from '../project/placeholders.ts';

const ALWAYS = ['PATH', 'HOME', 'LANG', 'TZ'];

/** Folder of `chassis_sdk.py`: `python/` beside `packages/` in a checkout, inside the package when installed. */
const PYTHON_SDK = ['../../../../python', '../../python']
  .map((path) => fileURLToPath(new URL(path, import.meta.url)))
  .find((folder) => existsSync(join(folder, 'chassis_sdk.py')));

/** @throws PlaceholderError with the JSON Pointer of the variable inside the block's `env` */
export async function buildEnvironment(
  named: readonly string[],
  block: Pick<PluginBlock, 'env'>,
  lookup: Lookup,
  own: Readonly<Record<string, string | undefined>>,
): Promise<Record<string, string>> {
  const env: Record<string, string> = {};
  for (const name of ALWAYS) {
    const value = own[name];
    if (value !== undefined) env[name] = value;
  }
  env.PATH ??= '/usr/local/bin:/usr/bin:/bin';
  if (PYTHON_SDK !== undefined) env.PYTHONPATH = PYTHON_SDK;
  for (const name of named) {
    const value = lookup.env(name);
    if (value !== undefined) env[name] = value;
  }
  Object.assign(env, await expand(block.env, lookup));
  return env;
}
