/**
 * Which skills there are, from their front matter alone.
 *
 * Promise: no text of a skill is kept, and no code of a plugin runs. A broken skill costs only itself and leaves a record; of two
 * with one name the first in the order (configuration, project, user, plugins) wins and the other is listed as shadowed;
 * two plugins with one name are both kept, under `PLUGIN/NAME`.
 */
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ChassisError, fileProblem } from '@chassis/errors';
import type { Unavailable } from '../capability.ts';
import type { CatalogueEntry } from '../plugin/catalogue.ts';
import { unavailable } from '../plugin/unavailable.ts';
import { readSkill, SKILL_FILE, type Skill, type SkillOrigin } from './skill.ts';

export interface Skills {
  /** Sorted by name. */
  readonly found: readonly Skill[];
  readonly broken: readonly Unavailable[];
  readonly shadowed: readonly (Skill & { /** Folder of the one that is used. */ readonly by: string })[];
}

export interface SkillPlaces {
  /** Folders named in the configuration, absolute, with the place that names them. */
  readonly configured: readonly { readonly path: string; readonly at: string }[];
  readonly root: string;
  readonly userFolder: string;
  /** Plugins, whose manifests name folders. */
  readonly plugins: readonly CatalogueEntry[];
  /** False: only those of plugins. */
  readonly own?: boolean;
}

/** A folder that is looked at: itself a skill, or full of them. */
interface Place {
  readonly folder: string;
  readonly origin: SkillOrigin;
  readonly plugin?: string;
  /** Who names it; it must hold a skill then. */
  readonly at?: string;
}

export async function findSkills(places: SkillPlaces): Promise<Skills> {
  return skillsOf(placesOf(places));
}

/** Those that one plugin's manifest names. */
export async function skillsIn(folder: string, source: CatalogueEntry['source']): Promise<Skills> {
  return skillsOf(broughtBy({ name: source.manifest.name, folder, source }));
}

async function skillsOf(places: readonly Place[]): Promise<Skills> {
  const looked = await Promise.all(places.map(look));
  const broken = looked.flatMap((one) => one.broken);
  const own = looked.flatMap((one) => one.skills);
  const byName = new Map<string, Skill>();
  const shadowed: Skills['shadowed'][number][] = [];
  const brought = new Map<string, Skill[]>();
  for (const skill of own) {
    const winner = byName.get(skill.name);
    if (skill.plugin !== undefined && (winner === undefined || winner.plugin !== undefined)) {
      const same = brought.get(skill.name) ?? [];
      if (same.some(({ plugin }) => plugin === skill.plugin))
        shadowed.push({ ...skill, by: same[0]?.folder ?? '' });
      else brought.set(skill.name, [...same, skill]);
    } else if (winner === undefined) byName.set(skill.name, skill);
    else if (winner.folder !== skill.folder) shadowed.push({ ...skill, by: winner.folder });
  }
  for (const [name, skills] of brought) {
    for (const skill of skills) {
      const called = skills.length > 1 ? `${skill.plugin}/${name}` : name;
      byName.set(called, { ...skill, name: called });
    }
  }
  const found = [...byName.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return { found, broken, shadowed };
}

function placesOf({ configured, root, userFolder, plugins, own = true }: SkillPlaces): Place[] {
  const brought = plugins.filter(({ enabled }) => enabled).flatMap(broughtBy);
  if (!own) return brought;
  return [
    ...configured.map(({ path, at }): Place => ({ folder: path, origin: 'config', at })),
    { folder: join(root, 'skills'), origin: 'project' },
    { folder: join(root, '.agents', 'skills'), origin: 'project' },
    { folder: join(userFolder, 'skills'), origin: 'user' },
    ...brought,
  ];
}

function broughtBy({ name, folder, source }: Pick<CatalogueEntry, 'name' | 'folder' | 'source'>): Place[] {
  return source.manifest.skills.map((path, i) => ({
    folder: resolve(folder, path),
    origin: 'plugin',
    plugin: name,
    at: source.at(`/skills/${i}`),
  }));
}

interface Looked {
  readonly skills: Skill[];
  readonly broken: Unavailable[];
}

async function look(place: Place): Promise<Looked> {
  const { folder, at } = place;
  let items: Dirent[];
  try {
    items = await readdir(folder, { withFileTypes: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Nobody has to have the usual folders; one that is there and cannot be read is told.
    if (at === undefined && (code === 'ENOENT' || code === 'ENOTDIR')) return { skills: [], broken: [] };
    const what = `the folder of skills ${folder} cannot be read: ${fileProblem(error)}`;
    return lost(place, new ChassisError('InvalidParams', at === undefined ? what : `${at}: ${what}`));
  }
  if (items.some(({ name }) => name === SKILL_FILE)) return read(place, folder);
  const inside = items
    .filter((item) => !item.name.startsWith('.') && (item.isDirectory() || item.isSymbolicLink()))
    .map(({ name }) => join(folder, name))
    .sort();
  const looked = await Promise.all(inside.map((one) => readIfSkill(place, one)));
  const all = { skills: looked.flatMap((one) => one.skills), broken: looked.flatMap((one) => one.broken) };
  if (at === undefined || all.skills.length + all.broken.length > 0) return all;
  return lost(
    place,
    new ChassisError('InvalidParams', `${at}: there is no ${SKILL_FILE} in ${folder}, nor in a folder of it`),
  );
}

async function readIfSkill(place: Place, folder: string): Promise<Looked> {
  const files = await readdir(folder).catch((): string[] => []);
  const file = files.find((name) => name.toLowerCase() === SKILL_FILE.toLowerCase());
  if (file === undefined) return { skills: [], broken: [] };
  if (files.includes(SKILL_FILE)) return read(place, folder);
  return lost(
    { ...place, folder },
    new ChassisError('InvalidParams', `${join(folder, file)}: the file of a skill is named ${SKILL_FILE}`),
  );
}

async function read({ origin, plugin }: Place, folder: string): Promise<Looked> {
  try {
    const { name, description } = await readSkill(folder);
    const skill: Skill = {
      name,
      description,
      folder,
      origin,
      ...(plugin === undefined ? {} : { plugin }),
    };
    return { skills: [skill], broken: [] };
  } catch (error) {
    return lost({ origin, folder, ...(plugin === undefined ? {} : { plugin }) }, error);
  }
}

function lost({ folder, plugin }: Place, cause: unknown): Looked {
  const name = folder.slice(folder.lastIndexOf('/') + 1);
  const record = unavailable({
    capability: `skill.${name}`,
    owner: plugin ?? null,
    phase: 'manifest',
    cause,
    fix: `correct ${join(folder, SKILL_FILE)}, or remove it`,
  });
  return { skills: [], broken: [record] };
}
