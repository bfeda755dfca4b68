/** A plugin on the command line: its folder, its manifest, or its name in the project. */
import { existsSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Project } from '@chassis/runtime';
import { didYouMean } from '@chassis/schema';
import { usage } from './failure.ts';

/**
 * @returns the plugin's folder, absolute
 * @throws InvalidParams when there is no such plugin
 */
export function pluginFolder(given: string, cwd: string, { catalogue }: Project): string {
  const path = resolve(cwd, given);
  const there = statSync(path, { throwIfNoEntry: false });
  if (there?.isFile() === true && basename(path) === 'plugin.yaml') return dirname(path);
  if (there?.isDirectory() === true && existsSync(join(path, 'plugin.yaml'))) return path;
  const plugins = [...catalogue.entries, ...catalogue.broken];
  const named = plugins.find(({ name }) => name === given);
  if (named !== undefined) return resolve(named.folder);
  if (there === undefined) {
    const near = didYouMean(
      given,
      plugins.map(({ name }) => name),
    );
    throw usage(
      `${given}: there is no such folder, and no plugin of that name${near}; chassis plugin ls lists them`,
    );
  }
  throw usage(
    there.isDirectory()
      ? `${given}: there is no plugin.yaml in it; give the folder of a plugin, or the name of one`
      : `${given}: this is no plugin.yaml; give the folder of a plugin, its plugin.yaml, or its name`,
  );
}

/** @throws InvalidParams when the project has no plugin of that name */
export function demandPlugin(name: string, { catalogue }: Project): void {
  const names = [...catalogue.entries, ...catalogue.broken].map((plugin) => plugin.name);
  if (!names.includes(name))
    throw usage(`there is no plugin "${name}"${didYouMean(name, names)}; chassis plugin ls lists them`);
}
