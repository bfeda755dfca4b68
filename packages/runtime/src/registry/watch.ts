/**
 * Plugins that are being written: a change of their files, or of their block in the configuration, is taken in while a run goes on.
 *
 * Promise: a change that cannot be taken in is told and leaves what runs; each state of the files is tried once. Plugins of npm
 * packages and those that come with Chassis are not watched.
 */
import { basename, join, sep } from 'node:path';
import { toChassisError } from '@chassis/errors';
import type { CatalogueEntry } from '../plugin/catalogue.ts';
import type { Project } from '../project/project.ts';
import { PROJECT_FILE } from '../project/root.ts';
import type { LiveRegistry } from './options.ts';

export interface PluginWatch {
  /** Takes in what has changed until now. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export type Told = (plugin: string, outcome: 'reloaded' | 'unloaded' | 'refused', text: string) => void;

/** Files are written in several steps: nothing is read before they have been still for so long. */
const STILL_MS = 150;

export async function watchPlugins(registry: LiveRegistry, told: Told): Promise<PluginWatch> {
  const seen = new Map(watched(registry.project).map((entry) => [entry.name, stateOf(entry)]));
  const complained = new Map<string, string>();
  let timer: NodeJS.Timeout | undefined;
  let work: Promise<void> = Promise.resolve();

  const refuse = (plugin: string, text: string): void => {
    if (complained.get(plugin) !== text) told(plugin, 'refused', text);
    complained.set(plugin, text);
  };

  const takeIn = async (entry: CatalogueEntry): Promise<void> => {
    const { name } = entry;
    if (seen.get(name) === stateOf(entry)) return;
    const running = registry.plugins().find((plugin) => plugin.name === name);
    const known = seen.has(name);
    seen.set(name, stateOf(entry));
    // One that this run does without is none of its business.
    if (known && running?.state === 'stopped') return;
    try {
      const { version } = await registry.reload(name);
      complained.delete(name);
      told(name, 'reloaded', version);
    } catch (error) {
      refuse(name, toChassisError(error).message);
    }
  };

  const sync = async (): Promise<void> => {
    let project: Project;
    try {
      project = await registry.project.reopen();
    } catch (error) {
      refuse('', toChassisError(error).message);
      return;
    }
    complained.delete('');
    for (const entry of watched(project)) if (entry.enabled) await takeIn(entry);
    for (const plugin of project.catalogue.broken)
      if (plugin.enabled && plugin.origin !== 'npm') refuse(plugin.name, plugin.record.cause.message);
    for (const { name, enabled } of project.catalogue.entries) {
      const running = registry.plugins().find((plugin) => plugin.name === name);
      if (enabled || running === undefined || running.state === 'disabled' || running.state === 'stopped')
        continue;
      seen.delete(name);
      await registry.unload(name).then(
        () => told(name, 'unloaded', 'it is disabled'),
        (error: unknown) => refuse(name, toChassisError(error).message),
      );
    }
  };

  const settled = (): Promise<void> => {
    clearTimeout(timer);
    work = work.then(sync).catch(() => {});
    return work;
  };
  // Only a session that watches pays for the watcher.
  const { watch } = await import('chokidar');
  const watcher = watch(placesOf(registry.project), {
    ignoreInitial: true,
    ignored: (path) => /^(?:node_modules|__pycache__|\..+)$/.test(basename(path)),
  });
  watcher.on('all', () => {
    clearTimeout(timer);
    timer = setTimeout(() => void settled(), STILL_MS);
  });
  await new Promise<void>((resolve) => watcher.once('ready', resolve));
  return {
    settled,
    async close() {
      clearTimeout(timer);
      await watcher.close();
      await work;
    },
  };
}

function watched({ catalogue }: Project): readonly CatalogueEntry[] {
  return catalogue.entries.filter(({ origin }) => origin !== 'npm' && origin !== 'first-party');
}

/** Of a plugin and all that the configuration says about it: another state is worth another try. */
function stateOf({ digest, enabled, block }: CatalogueEntry): string {
  return JSON.stringify([digest, enabled, block]);
}

/** Folders of plugins, those in which new ones may appear, and the configuration. */
function placesOf(project: Project): string[] {
  const folders = [
    join(project.root, 'plugins'),
    join(project.userFolder, 'plugins'),
    ...project.config.plugins.paths,
    ...watched(project).map(({ folder }) => folder),
  ];
  const outermost = folders.filter(
    (folder) => !folders.some((other) => other !== folder && folder.startsWith(`${other}${sep}`)),
  );
  const file = project.file ?? join(project.root, PROJECT_FILE);
  return [...new Set([...outermost, file, join(project.userFolder, 'config.yaml')])];
}
