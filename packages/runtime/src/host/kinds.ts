/** Which host runs which plugin. */
import { ChassisError } from '@chassis/errors';
import { bareProtocol } from './bare-protocol.ts';
import type { HostOptions, PluginHost } from './host.ts';
import { inlineHost } from './inline.ts';
import type { Connect } from './link.ts';
import { networkLink } from './network-link.ts';
import { overPeer } from './peer-conversation.ts';
import { processLink } from './process-link.ts';
import { chassisProtocol, type Protocol } from './protocol.ts';
import { remoteHost } from './remote.ts';
import { workerLink } from './worker-link.ts';

/** Of a plugin that brings only skills, which nobody calls. */
const nothingToRun: PluginHost = {
  load: async () => ({ tools: [], models: [], agents: [], dropped: [] }),
  ready: async () => ({ ready: true }),
  invoke: async () => {
    throw new ChassisError('MethodNotFound', 'the plugin brings only skills');
  },
  close: async () => {},
  gone: new Promise(() => {}),
};

export function hostFor(options: HostOptions): PluginHost {
  const { runtime, protocol } = options.entry.source.manifest;
  const spoken: Protocol = protocol === 'jsonrpc' ? bareProtocol() : chassisProtocol;
  const over = (connect: Connect): PluginHost => remoteHost(options, overPeer(spoken, connect));
  switch (runtime) {
    case 'inline':
      return inlineHost(options);
    case 'process':
      return over(processLink);
    case 'worker':
      return over(workerLink);
    case 'http':
      return over(networkLink);
    case 'none':
      return nothingToRun;
    case 'mcp':
      // The client's packages cost a tenth of a second: only who has an MCP server pays.
      return remoteHost(options, async (given) => (await import('./mcp/conversation.ts')).overMcp(given));
  }
}
