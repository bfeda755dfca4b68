/**
 * The static layer: which plugins there are, from manifests alone.
 *
 * Promise: no plugin code runs. A broken manifest costs only its own plugin and leaves a record; of two copies
 * of one name the first in the search order wins and the other is listed as shadowed; nothing is dropped
 * without a trace.
 */
import { basename } from 'node:path';
import { ChassisError, fileProblem } from '@chassis/errors';
import { nearest } from '@chassis/schema';
import type { Unavailable } from '../capability.ts';
import { blockOf, type Config, type PluginBlock } from '../project/config.ts';
import { claimsOf } from './claims.ts';
import { contentDigest } from './digest.ts';
import { type Candidate, type PluginOrigin, type SearchPlaces, search } from './discovery.ts';
import { type Criticality, type ManifestSource, readManifest } from './manifest.ts';
import { unavailable } from './unavailable.ts';

export interface CatalogueEntry {
  readonly name: string;
  readonly folder: string;
  readonly origin: PluginOrigin;
  readonly source: ManifestSource;
  /** Content hash of the folder; empty for a disabled plugin, whose files are left alone. */
  readonly digest: string;
  readonly enabled: boolean;
  /** What leaves it out of this start although the project does not: `--safe-mode`. */
  readonly leftOut?: string;
  /** The project's word, else the manifest's. */
  readonly criticality: Criticality;
  readonly block: PluginBlock;
}

export interface Shadowed {
  readonly name: string;
  readonly folder: string;
  readonly origin: PluginOrigin;
  /** Folder of the copy that is used instead. */
  readonly by: string;
}

/** A plugin that is there but cannot be used, with the names that its broken manifest claims. */
export interface BrokenPlugin {
  readonly name: string;
  readonly folder: string;
  readonly origin: PluginOrigin;
  readonly record: Unavailable;
  readonly enabled: boolean;
  readonly criticality: Criticality;
  readonly tools: readonly string[];
  readonly models: readonly string[];
  readonly agents: readonly string[];
}

/** Says what leaves a plugin out of this start, if anything does. */
export type LeaveOut = (name: string, origin: PluginOrigin) => string | undefined;

export interface Catalogue {
  /** Sorted by name. */
  readonly entries: readonly CatalogueEntry[];
  readonly shadowed: readonly Shadowed[];
  readonly broken: readonly BrokenPlugin[];
  /** Everything else that was asked for and is not there: unknown names in the configuration, missing packages. */
  readonly missing: readonly Unavailable[];
  find(name: string): CatalogueEntry | undefined;
}

/**
 * @param originOf place of a plugin's block in the configuration, for a message
 * @throws InvalidParams when a path that a person gave explicitly is no plugin
 */
export async function buildCatalogue(
  places: SearchPlaces,
  config: Config,
  originOf: (keys: readonly string[]) => string,
  leaveOut: LeaveOut = () => undefined,
): Promise<Catalogue> {
  const { candidates, missing } = await search(places);
  const read = await Promise.all(candidates.map((candidate) => readCandidate(candidate, config, leaveOut)));

  const byName = new Map<string, CatalogueEntry | BrokenPlugin>();
  const shadowed: Shadowed[] = [];
  for (const item of read) {
    const winner = byName.get(item.name);
    if (winner === undefined) byName.set(item.name, item);
    else if (winner.folder !== item.folder) {
      shadowed.push({ name: item.name, folder: item.folder, origin: item.origin, by: winner.folder });
    }
  }
  const all = await Promise.all(
    [...byName.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1)).map(withDigest),
  );
  const entries = all.filter((item) => 'source' in item);
  const broken = all.filter((item) => 'record' in item).map((item) => withAlternatives(item, shadowed));
  const unknown = Object.keys(config.plugins.blocks)
    .filter((name) => !byName.has(name))
    .map((name) => unknownBlock(name, [...byName.keys()], originOf(['plugins', name])));

  return {
    entries,
    shadowed,
    broken,
    missing: [...missing, ...unknown],
    find: (name) => entries.find((entry) => entry.name === name),
  };
}

async function readCandidate(
  { folder, origin }: Candidate,
  config: Config,
  leaveOut: LeaveOut,
): Promise<CatalogueEntry | BrokenPlugin> {
  try {
    const source = await readManifest(folder);
    const { name, criticality } = source.manifest;
    const block = blockOf(config, name);
    const wanted = isEnabled(config, source.manifest);
    const leftOut = wanted ? leaveOut(name, origin) : undefined;
    return {
      name,
      folder,
      origin,
      source,
      digest: '',
      enabled: wanted && leftOut === undefined,
      ...(leftOut === undefined ? {} : { leftOut }),
      criticality: block.criticality ?? criticality,
      block,
    };
  } catch (error) {
    const claims = await claimsOf(folder);
    const name = claims.name ?? basename(folder);
    const block = blockOf(config, name);
    const criticality = block.criticality ?? claims.criticality ?? 'optional';
    const record = unavailable({
      capability: `plugin.${name}`,
      owner: name,
      phase: 'manifest',
      cause: error,
      fix: `correct ${folder}/plugin.yaml`,
    });
    const enabled = block.enabled && leaveOut(name, origin) === undefined;
    return { ...claims, name, folder, origin, record, enabled, criticality };
  }
}

/** The project's word, else the manifest's; a block for it means that it is wanted. */
function isEnabled(config: Config, { name, enabled }: ManifestSource['manifest']): boolean {
  return Object.hasOwn(config.plugins.blocks, name) ? blockOf(config, name).enabled : enabled;
}

/** A plugin whose files cannot be read is broken, as one with an unreadable manifest is. */
async function withDigest(item: CatalogueEntry | BrokenPlugin): Promise<CatalogueEntry | BrokenPlugin> {
  if ('record' in item || !item.enabled) return item;
  try {
    return { ...item, digest: await contentDigest(item.folder) };
  } catch (cause) {
    const { name, folder, origin, criticality, enabled } = item;
    const record = unavailable({
      capability: `plugin.${name}`,
      owner: name,
      phase: 'manifest',
      cause: new ChassisError('Unavailable', `${folder} cannot be read: ${fileProblem(cause)}`, {
        cause,
      }),
      fix: `make ${folder} readable`,
    });
    return { ...(await claimsOf(folder)), name, folder, origin, criticality, enabled, record };
  }
}

function withAlternatives(broken: BrokenPlugin, shadowed: readonly Shadowed[]): BrokenPlugin {
  const alternatives = shadowed.filter((copy) => copy.name === broken.name).map((copy) => copy.folder);
  return { ...broken, record: { ...broken.record, alternatives } };
}

function unknownBlock(name: string, known: readonly string[], at: string): Unavailable {
  const near = nearest(name, known);
  const hint = near === undefined ? '' : `; did you mean "${near}"?`;
  return unavailable({
    capability: `plugin.${name}`,
    owner: null,
    phase: 'config',
    cause: new ChassisError('InvalidParams', `${at}: there is no plugin "${name}"${hint}`),
    fix:
      near === undefined ? `install the plugin, or remove plugins.${name}` : `rename it to plugins.${near}`,
    alternatives: near === undefined ? [] : [near],
  });
}
