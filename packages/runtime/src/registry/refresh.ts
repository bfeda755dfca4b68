/** A plugin's catalogue entry as it is on disk now, for a load or a reload. */
import { ChassisError } from '@chassis/errors';
import { didYouMean } from '@chassis/schema';
import type { CatalogueEntry } from '../plugin/catalogue.ts';
import type { Project } from '../project/project.ts';

/** @throws InvalidParams when there is no such plugin, it is disabled, or its manifest is broken */
export function entryOf(name: string, project: Project): CatalogueEntry {
  const { catalogue } = project;
  const entry = catalogue.find(name);
  if (entry?.enabled === true) return entry;
  if (entry !== undefined)
    throw new ChassisError(
      'InvalidParams',
      `${project.origin(['plugins', name, 'enabled'])?.text ?? 'configuration'}: plugin ${name} is disabled`,
      { data: { fix: `set plugins.${name}.enabled to true` } },
    );
  const broken = catalogue.broken.find((plugin) => plugin.name === name);
  if (broken !== undefined)
    throw new ChassisError(
      'InvalidParams',
      `plugin ${name} cannot be loaded: ${broken.record.cause.message}`,
      {
        data: broken.record,
      },
    );
  const names = [...catalogue.entries, ...catalogue.broken].map((known) => known.name);
  throw new ChassisError('InvalidParams', `there is no plugin "${name}"${didYouMean(name, names)}`);
}
