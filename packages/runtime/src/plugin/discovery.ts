/**
 * Where plugins are looked for, in order: given folders, configured paths, the project's `plugins/`, the
 * user's, npm packages, first-party ones. Only folder names are read here.
 */
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { ChassisError, fileProblem } from '@chassis/errors';
import type { Unavailable } from '../capability.ts';
import { MANIFEST_FILE } from './manifest.ts';
import { unavailable } from './unavailable.ts';

export type PluginOrigin = 'option' | 'config' | 'project' | 'user' | 'npm' | 'first-party';

export interface Candidate {
  readonly folder: string;
  readonly origin: PluginOrigin;
}

export interface SearchPlaces {
  /** Folders given on the command line: each a plugin, or a folder of plugins. */
  readonly given: readonly string[];
  /** Folders named in the configuration, with the place that names them. */
  readonly configured: readonly { readonly path: string; readonly at: string }[];
  readonly root: string;
  readonly userFolder: string;
  /** Names of packages, with the place that names them. */
  readonly npm: readonly { readonly name: string; readonly at: string }[];
  readonly firstParty: readonly string[];
}

/** Names that a manifest is given by mistake. */
const NEAR_MISSES = ['plugin.yml', 'plugin.json', 'manifest.yaml', 'manifest.json'];
/** Files that a plugin begins with. */
const ENTRY = /^(?:main|index|plugin|server|app)\.(?:py|[cm]?[jt]s)$/;

export async function search(
  places: SearchPlaces,
): Promise<{ readonly candidates: readonly Candidate[]; readonly missing: readonly Unavailable[] }> {
  const missing: Unavailable[] = [];
  const candidates: Candidate[] = [];
  const ours = within(places.firstParty);
  const addAll = async (folder: string, origin: PluginOrigin): Promise<number> => {
    const found = isPlugin(folder) ? [folder] : await pluginsIn(folder, missing);
    candidates.push(...found.map((path) => ({ folder: path, origin: ours(path) ? 'first-party' : origin })));
    return found.length;
  };

  for (const path of places.given) {
    if ((await addAll(resolve(path), 'option')) === 0) throw noPlugin(`--plugin ${path}`, resolve(path));
  }
  for (const { path, at } of places.configured) {
    if ((await addAll(path, 'config')) === 0) throw noPlugin(at, path);
  }
  await addAll(join(places.root, 'plugins'), 'project');
  await addAll(join(places.userFolder, 'plugins'), 'user');
  for (const { name, at } of places.npm) {
    const folder = packageFolder(name, places.root);
    if (folder !== undefined && isPlugin(folder)) candidates.push({ folder, origin: 'npm' });
    else missing.push(missingPackage(name, at, folder));
  }
  for (const folder of places.firstParty) await addAll(resolve(folder), 'first-party');
  return { candidates, missing };
}

/**
 * Whether a folder is one of these, or stands in one, by whatever way it was found: the project that is worked in may
 * be this very installation.
 */
function within(folders: readonly string[]): (path: string) => boolean {
  const real = new Set(folders.map(realPath));
  return (path) => real.has(realPath(path)) || real.has(dirname(realPath(path)));
}

function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : resolve(path);
}

function isPlugin(folder: string): boolean {
  return existsSync(join(folder, MANIFEST_FILE));
}

async function pluginsIn(folder: string, missing: Unavailable[]): Promise<string[]> {
  if (!existsSync(folder)) return [];
  const items = await readdir(folder, { withFileTypes: true }).catch((error: Error) => {
    missing.push(unreadable(folder, error));
    return [];
  });
  const found: string[] = [];
  for (const item of items.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    if (item.name.startsWith('.') || item.name === 'node_modules') continue;
    if (!item.isDirectory() && !item.isSymbolicLink()) continue;
    const path = join(folder, item.name);
    if (isPlugin(path)) found.push(path);
    else {
      const near = NEAR_MISSES.find((name) => existsSync(join(path, name)));
      if (near !== undefined) missing.push(nearMiss(path, item.name, near));
      else if (entriesOf(path).some((file) => ENTRY.test(file))) missing.push(noManifest(path, item.name));
    }
  }
  return found;
}

/** A link may lead nowhere, or to a file. */
function entriesOf(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

/** The folder of an installed package, looked for upwards as Node does. */
function packageFolder(name: string, root: string): string | undefined {
  for (let folder = root; ; folder = dirname(folder)) {
    const path = join(folder, 'node_modules', name);
    if (existsSync(path)) return path;
    if (dirname(folder) === folder) return undefined;
  }
}

function noPlugin(where: string, path: string): ChassisError {
  const what = existsSync(path)
    ? `no ${MANIFEST_FILE} in ${path}, nor in a folder of it`
    : `${path} does not exist`;
  return new ChassisError('InvalidParams', `${where}: ${what}`);
}

function nearMiss(path: string, name: string, file: string): Unavailable {
  return unavailable({
    capability: `plugin.${name}`,
    owner: name,
    phase: 'manifest',
    cause: new ChassisError('InvalidParams', `${path}/${file}: a manifest is named ${MANIFEST_FILE}`),
    fix: `rename ${path}/${file} to ${MANIFEST_FILE}`,
  });
}

function noManifest(path: string, name: string): Unavailable {
  return unavailable({
    capability: `plugin.${name}`,
    owner: name,
    phase: 'manifest',
    cause: new ChassisError('InvalidParams', `there is no ${MANIFEST_FILE} in ${path}`),
    fix: `write ${path}/${MANIFEST_FILE}; chassis plugin new shows one`,
  });
}

function unreadable(folder: string, cause: Error): Unavailable {
  return unavailable({
    capability: 'plugin.*',
    owner: null,
    phase: 'manifest',
    cause: new ChassisError(
      'Unavailable',
      `plugins in ${folder} cannot be looked for: ${fileProblem(cause)}`,
      {
        cause,
      },
    ),
    fix: `make ${folder} readable, or remove it`,
  });
}

function missingPackage(name: string, at: string, folder: string | undefined): Unavailable {
  const cause =
    folder === undefined
      ? `${at}: package ${name} is not installed`
      : `${at}: package ${name} has no ${MANIFEST_FILE}, so it is no plugin`;
  return unavailable({
    capability: `plugin.${name}`,
    owner: name,
    phase: 'manifest',
    cause: new ChassisError('InvalidParams', cause),
    fix: folder === undefined ? `run: npm install ${name}` : `remove ${name} from plugins.npm`,
  });
}
