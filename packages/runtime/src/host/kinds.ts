/** Which host runs which plugin. */
import { ChassisError } from '@chassis/errors';
import { type HostOptions, PhaseError, type PluginHost } from './host.ts';
import { inlineHost } from './inline.ts';

/** @throws PhaseError for a runtime that this version does not have */
export function hostFor(options: HostOptions): PluginHost {
  const { entry } = options;
  const { runtime } = entry.source.manifest;
  switch (runtime) {
    case 'inline':
      return inlineHost(options);
    case 'process':
    case 'worker':
    case 'mcp':
    case 'http':
      throw new PhaseError(
        'spawn',
        new ChassisError(
          'Unavailable',
          `${entry.source.at('/runtime')}: this version cannot run runtime: ${runtime}`,
        ),
        'use runtime: inline or runtime: process',
      );
  }
}
