/**
 * A project, opened: its folder, its configuration with the origin of every value, its catalogue of plugins.
 *
 * Promise: opening reads files and runs nothing. A broken configuration is one InvalidParams error with every
 * place; a broken plugin is a record in the catalogue.
 */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { buildCatalogue, type Catalogue, type LeaveOut } from '../plugin/catalogue.ts';
import { findSkills, type Skills } from '../skills/find.ts';
import { checkAgainstManifests } from './against-manifests.ts';
import { type Config, typedConfig } from './config.ts';
import { CONFIG_SCHEMA } from './config-schema.ts';
import {
  defaultsLayer,
  fileLayer,
  type Merged,
  merge,
  type Origin,
  optionLayer,
  userFolder,
  variableLayers,
} from './layers.ts';
import { findRoot, PROJECT_FILE } from './root.ts';

export interface OpenProject {
  readonly cwd: string;
  /** `--config KEY=VALUE`, in order. */
  readonly overrides?: readonly string[];
  /** `--plugin PATH`, in order; relative to `cwd`. */
  readonly pluginPaths?: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly home?: string;
  /** Folders of plugins that come with the command line; searched last. */
  readonly firstParty?: readonly string[];
  readonly leaveOut?: LeaveOut;
  /** False: only plugins bring skills. */
  readonly ownSkills?: boolean;
}

export interface Project {
  /** The project's folder, absolute. */
  readonly root: string;
  /** Its `chassis.yaml`, if it has one. */
  readonly file: string | null;
  readonly config: Config;
  readonly catalogue: Catalogue;
  /** Skills that there are, of plugins too. */
  readonly skills: Skills;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The user's own folder of configuration, plugins and trust. */
  readonly userFolder: string;
  /** Where a value came from, by dotted key (`limits.steps`) or by its keys. */
  origin(path: string | readonly string[]): Origin | undefined;
  /** The merged configuration as it was written, placeholders unexpanded. */
  readonly written: Merged['value'];
  /** Reads everything anew, as it is now. @throws as `openProject` does */
  reopen(): Promise<Project>;
}

/** @throws InvalidParams when a configuration file, variable or option is broken, or a given path is no plugin */
export async function openProject(options: OpenProject): Promise<Project> {
  const { cwd, env = process.env } = options;
  const folder = userFolder(options.home ?? homedir());
  const { root, file } = findRoot(cwd);
  const user = await fileLayer('user', join(folder, 'config.yaml'));
  const own = await fileLayer('project', join(root, PROJECT_FILE));
  const merged = merge([
    defaultsLayer(root),
    ...(user === undefined ? [] : [user]),
    ...(own === undefined ? [] : [own]),
    ...variableLayers(env, cwd),
    ...(options.overrides ?? []).map((override) => optionLayer(override, cwd)),
  ]);
  const config = typedConfig(merged);
  const at = (keys: readonly string[]): string => merged.origin(keys)?.text ?? 'configuration';
  const catalogue = await buildCatalogue(
    {
      given: (options.pluginPaths ?? []).map((path) => resolve(cwd, path)),
      configured: config.plugins.paths.map((path, i) => ({ path, at: at(['plugins', 'paths', String(i)]) })),
      root,
      userFolder: folder,
      npm: config.plugins.npm.map((name, i) => ({ name, at: at(['plugins', 'npm', String(i)]) })),
      firstParty: options.firstParty ?? [],
    },
    config,
    at,
    options.leaveOut,
  );
  checkAgainstManifests(config, catalogue, (keys) => merged.origin(keys));
  const skills = await findSkills({
    configured: config.skills.paths.map((path, i) => ({ path, at: at(['skills', 'paths', String(i)]) })),
    root,
    userFolder: folder,
    plugins: catalogue.entries,
    ...(options.ownSkills === undefined ? {} : { own: options.ownSkills }),
  });
  return {
    root,
    file,
    config,
    catalogue,
    skills,
    env,
    userFolder: folder,
    written: merged.value,
    reopen: () => openProject(options),
    origin: (path) => merged.origin(typeof path === 'string' ? path.split('.') : path),
  };
}

export interface ConfigLine {
  readonly key: string;
  readonly value: unknown;
  readonly origin: string;
}

interface SchemaPart {
  readonly properties?: Readonly<Record<string, SchemaPart>>;
  readonly default?: unknown;
}

/**
 * Every value of the configuration with its origin, for `config show`. Placeholders are shown as written.
 *
 * @param options `unset`: also keys that nobody has set, with what holds then
 */
export function configLines(
  project: Pick<Project, 'written' | 'origin'>,
  options: { readonly unset?: boolean } = {},
): ConfigLine[] {
  const lines: ConfigLine[] = [];
  const walk = (value: unknown, keys: readonly string[]): void => {
    const members =
      typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
    if (members.length === 0) {
      lines.push({ key: keys.join('.'), value, origin: project.origin(keys)?.text ?? 'default' });
    }
    for (const [key, member] of members) walk(member, [...keys, key]);
  };
  walk(project.written, []);
  const set = new Set(lines.map(({ key }) => key));
  const unset = (schema: SchemaPart, keys: readonly string[]): void => {
    const key = keys.join('.');
    if (schema.properties === undefined || keys.length > 1) {
      if (!set.has(key) && !lines.some((line) => line.key.startsWith(`${key}.`)))
        lines.push({
          key,
          value: schema.default ?? null,
          origin: schema.default === undefined ? 'not set' : 'default',
        });
      return;
    }
    for (const [name, part] of Object.entries(schema.properties)) unset(part, [...keys, name]);
  };
  if (options.unset === true) unset(CONFIG_SCHEMA as SchemaPart, []);
  return lines;
}
