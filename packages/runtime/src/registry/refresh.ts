/** A plugin's catalogue entry read anew from its folder, for a reload. */
import { ChassisError } from '@chassis/errors';
import { didYouMean } from '@chassis/schema';
import type { CatalogueEntry } from '../plugin/catalogue.ts';
import { contentDigest } from '../plugin/digest.ts';
import { readManifest } from '../plugin/manifest.ts';
import { blockOf } from '../project/config.ts';
import type { Project } from '../project/project.ts';

/** @throws InvalidParams when there is no such plugin, or its manifest is broken or now has another name */
export async function refreshed(name: string, project: Project): Promise<CatalogueEntry> {
  const { entries, broken } = project.catalogue;
  const known = [...entries, ...broken].find((entry) => entry.name === name);
  if (known === undefined) {
    const hint = didYouMean(
      name,
      entries.map((entry) => entry.name),
    );
    throw new ChassisError('InvalidParams', `there is no plugin "${name}"${hint}`);
  }
  const { folder, origin } = known;
  const source = await readManifest(folder);
  const { manifest } = source;
  if (manifest.name !== name) {
    throw new ChassisError(
      'InvalidParams',
      `${source.at('/name')}: the plugin in ${folder} is now called ${manifest.name}`,
    );
  }
  const block = blockOf(project.config, name);
  return {
    name,
    folder,
    origin,
    source,
    digest: await contentDigest(folder),
    enabled: true,
    criticality: block.criticality ?? manifest.criticality,
    block,
  };
}
