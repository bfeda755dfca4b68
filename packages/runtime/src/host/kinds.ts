/** Which host runs which plugin. */
import { ChassisError } from '@chassis/errors';
import type { CatalogueEntry } from '../plugin/catalogue.ts';
import { bareProtocol } from './bare-protocol.ts';
import { type HostOptions, PhaseError, type PluginHost } from './host.ts';
import { inlineHost } from './inline.ts';
import { mcpProtocol } from './mcp-protocol.ts';
import { processLink } from './process-link.ts';
import { chassisProtocol } from './protocol.ts';
import { remoteHost } from './remote.ts';
import { workerLink } from './worker-link.ts';

/** @throws PhaseError for a runtime that this version does not have */
export function hostFor(options: HostOptions): PluginHost {
  const { entry } = options;
  const { runtime, protocol, command } = entry.source.manifest;
  switch (runtime) {
    case 'inline':
      return inlineHost(options);
    case 'process':
      return remoteHost(options, protocol === 'jsonrpc' ? bareProtocol() : chassisProtocol, processLink);
    case 'worker':
      return remoteHost(options, chassisProtocol, workerLink);
    case 'mcp':
      if (command !== undefined) return remoteHost(options, mcpProtocol(), processLink);
      throw unable(
        entry,
        '/url',
        'this version reaches MCP servers on stdio only',
        'give a command instead of a url',
      );
    case 'http':
      throw unable(
        entry,
        '/runtime',
        'this version cannot run runtime: http',
        'use runtime: inline, worker, process or mcp',
      );
  }
}

function unable({ source }: CatalogueEntry, pointer: string, what: string, fix: string): PhaseError {
  return new PhaseError('spawn', new ChassisError('Unavailable', `${source.at(pointer)}: ${what}`), fix);
}
