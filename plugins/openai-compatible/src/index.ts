/**
 * The `openai-compatible` plugin: models behind a chat-completions API.
 *
 * Promise: what a model said and what the provider counted arrive unchanged in meaning, whatever the dialect;
 * see `generate.ts` for one call, `endpoint.ts` for the models there are.
 */
import { ChassisError } from '@chassis/errors';
import { definePlugin } from '@chassis/sdk';
import type { JsonObject } from '@chassis/types';
import type { Dispatcher } from 'undici';
import { type Endpoint, endpoints, type ModelConfig } from './endpoint.ts';
import { generate } from './generate.ts';
import { openTransport, type TransportConfig } from './transport.ts';

interface Config extends TransportConfig {
  readonly models?: { readonly [name: string]: ModelConfig };
}

let models: ReadonlyMap<string, Endpoint> = endpoints();
let transport: Dispatcher | undefined;

async function close(): Promise<void> {
  const open = transport;
  transport = undefined;
  await open?.close();
}

export default definePlugin({
  on_load: async (config: JsonObject, ctx) => {
    const block = config as Config;
    const known = endpoints(block.models);
    const opened = await openTransport(block, ctx.project);
    await close();
    models = known;
    transport = opened;
  },
  on_shutdown: close,
  models: {
    '*': async (request, ctx) => {
      const endpoint = models.get(ctx.model);
      if (endpoint === undefined) {
        throw new ChassisError(
          'InvalidParams',
          `no model ${ctx.model}; there are ${[...models.keys()].join(', ')}`,
        );
      }
      if (transport === undefined) throw new ChassisError('Unavailable', 'the plugin is not loaded');
      return generate(endpoint, request, ctx, transport);
    },
  },
});
