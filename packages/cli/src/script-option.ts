/**
 * `--script FILE`: the scripted model plays this file, whatever the project says.
 *
 * Promise: a session that was started with a script goes on with the same one, until another is given.
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { SessionHeader, SessionView } from '@chassis/journal';
import type { TurnModel } from '@chassis/runtime';
import { usage } from './failure.ts';
import type { Output } from './output.ts';
import { visible } from './terminal/text.ts';

export function scriptOverrides(script: string | undefined, cwd: string): string[] {
  const file = scriptFile(script, cwd);
  // As JSON, so that a name that looks like a number stays a text.
  return file === undefined ? [] : [`plugins.scripted.config.script=${JSON.stringify(file)}`];
}

/** The file of the option. @throws InvalidParams when it is not there */
export function scriptFile(script: string | undefined, cwd: string): string | undefined {
  if (script === undefined) return undefined;
  const file = resolve(cwd, script);
  if (!existsSync(file)) throw usage(`--script ${script}: there is no such file`);
  return file;
}

/**
 * The script for a session that goes on: the one given, else the one that it was started with.
 * @param models those that will be asked: without the scripted one among them no script is played
 * @throws InvalidParams when that file is gone
 */
export function scriptAgain(
  given: string | undefined,
  { id, settings }: SessionHeader,
  models: readonly Pick<TurnModel, 'name' | 'fallbacks'>[],
  { cwd, out }: { readonly cwd: string; readonly out: Output },
): string | undefined {
  if (given !== undefined) return scriptFile(given, cwd);
  const { script } = settings;
  const scripted = models.some(({ name, fallbacks }) =>
    [name, ...fallbacks].some((one) => /^scripted(\/|$)/.test(one.trim())),
  );
  if (typeof script !== 'string' || !scripted) return undefined;
  if (!existsSync(script))
    throw usage(
      `session ${id} was started with the script ${script}, which is not there any more: put it back, or give another with --script`,
    );
  out.progress(`playing the script ${visible(script)}, as this session began`);
  return script;
}

/** The models that a session's turns were given. */
export function modelsOf({ header, turns }: SessionView): readonly Pick<TurnModel, 'name' | 'fallbacks'>[] {
  return turns.length === 0 ? [header.model] : turns.map(({ model }) => model ?? header.model);
}
