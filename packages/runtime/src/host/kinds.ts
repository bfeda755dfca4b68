/** Which host runs which plugin. */
import { ChassisError } from '@chassis/errors';
import { bareProtocol } from './bare-protocol.ts';
import { type HostOptions, PhaseError, type PluginHost } from './host.ts';
import { inlineHost } from './inline.ts';
import { processHost } from './process.ts';
import { chassisProtocol } from './protocol.ts';

/** @throws PhaseError for a runtime that this version does not have */
export function hostFor(options: HostOptions): PluginHost {
  const { entry } = options;
  const { runtime, protocol } = entry.source.manifest;
  switch (runtime) {
    case 'inline':
      return inlineHost(options);
    case 'process':
      return processHost(options, protocol === 'jsonrpc' ? bareProtocol() : chassisProtocol);
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
