/**
 * `protocol: jsonrpc`: any JSON-RPC server is a plugin, without a change to it.
 *
 * A tool is a method (`tools[].method`, else `tool.<name>`); its arguments become named params. A manifest without
 * tools lets the server say which it has, through `tool.list`.
 */
import { ChassisError, ErrorCode } from '@chassis/errors';
import { type Peer, RpcError } from '@chassis/jsonrpc';
import { failure } from '@chassis/sdk';
import type { Json, JsonObject, ToolDefinition } from '@chassis/types';
import { toolDefinition } from '../plugin/manifest.ts';
import { CAPABILITY_NAME } from '../plugin/manifest-schema.ts';
import { isEndOfConnection } from './ending.ts';
import { type Offer, PhaseError } from './host.ts';
import { offerOf, quarantine } from './offer.ts';
import type { Protocol } from './protocol.ts';

export function bareProtocol(): Protocol {
  const methods = new Map<string, string>();
  return {
    async load(peer, options) {
      const { source } = options.entry;
      const { manifest } = source;
      const offer =
        manifest.tools.length > 0
          ? offerOf(options.entry.source, options.models)
          : await listedTools(peer, source.at('/protocol'));
      for (const tool of offer.tools) methods.set(tool.name, tool.method ?? `tool.${tool.name}`);
      return offer;
    },

    async ready(peer, link) {
      if (link.remote) await answers(peer);
      return { ready: true };
    },

    async invoke(peer, { payload, ctx, stop }, onProgress) {
      if (!('tool' in payload)) {
        return failure(
          new ChassisError('MethodNotFound', 'a bare JSON-RPC server has tools only'),
          ctx.trace_id,
        );
      }
      const method = methods.get(payload.tool) ?? `tool.${payload.tool}`;
      try {
        const data = await peer.call<Json>(method, payload.input, {
          timeoutMs: 0,
          signal: stop,
          onProgress,
          exact: true,
        });
        return { code: 0, data, error: null, trace_id: ctx.trace_id };
      } catch (error) {
        // The end of the connection is the plugin's end; any other error is the tool's answer.
        if (!(error instanceof RpcError) || isEndOfConnection(error) || stop.aborted) throw error;
        return failure(error, ctx.trace_id);
      }
    },

    async shutdown() {},
  };
}

/** Any answer shows that a JSON-RPC server lives there, also that it has no such method. @throws when none does */
async function answers(peer: Peer): Promise<void> {
  try {
    await peer.call('rpc.discover', undefined, { timeoutMs: 0 });
  } catch (error) {
    if (!(error instanceof RpcError) || error.code === ErrorCode.Unavailable) throw error;
  }
}

async function listedTools(peer: Peer, at: string): Promise<Offer> {
  let answer: unknown;
  try {
    answer = await peer.call('tool.list', undefined, { timeoutMs: 0 });
  } catch (error) {
    if (!(error instanceof RpcError) || error.code !== ErrorCode.MethodNotFound) throw error;
    throw new PhaseError(
      'on_load',
      new ChassisError(
        'Unavailable',
        `${at}: plugin.yaml lists no tools, and the server has no method tool.list`,
      ),
      'list the tools in plugin.yaml, each with its method',
    );
  }
  const list = Array.isArray(answer) ? answer : (answer as { tools?: unknown } | null)?.tools;
  if (!Array.isArray(list)) {
    throw new ChassisError('InvalidOutput', 'tool.list must answer a list of tools, or { tools: […] }');
  }
  const dropped: Offer['dropped'][number][] = [];
  const drop = (capability: string, message: string, fix: string): void => {
    dropped.push({ capability, cause: new ChassisError('InvalidOutput', message), fix });
  };
  const tools = new Map<string, ToolDefinition>();
  for (const item of list) {
    const tool = listedTool(item);
    if (tool === undefined) {
      drop(
        'tool.?',
        `tool.list names a tool that cannot be used: ${JSON.stringify(item).slice(0, 200)}`,
        'give it a name of letters, digits, _ and -',
      );
    } else if (tools.has(tool.name)) {
      drop(`tool.${tool.name}`, `tool.list names ${tool.name} twice`, 'give each tool its own name');
    } else tools.set(tool.name, tool);
  }
  return { tools: quarantine([...tools.values()], drop), models: [], agents: [], dropped };
}

/** Servers spell schemas differently; all known spellings are understood. A bare name is a tool too. */
function listedTool(item: unknown): ToolDefinition | undefined {
  const written = (typeof item === 'string' ? { name: item } : item) as JsonObject | null;
  if (typeof written !== 'object' || written === null || typeof written.name !== 'string') return undefined;
  const name = written.name.replace(/^tool\./, '');
  if (!new RegExp(CAPABILITY_NAME).test(name) || name === 'list') return undefined;
  const input = written.input ?? written.inputSchema ?? written.input_schema ?? written.parameters;
  const output = written.output ?? written.outputSchema;
  const { effects, description, method, timeout_ms, idempotent } = written;
  return toolDefinition({
    name,
    description: typeof description === 'string' ? description : '',
    method: typeof method === 'string' ? method : `tool.${name}`,
    ...(isObject(input) ? { input } : {}),
    ...(isObject(output) ? { output } : {}),
    ...(isOneOf(effects, ['none', 'read', 'write', 'external'] as const) ? { effects } : {}),
    ...(typeof timeout_ms === 'number' ? { timeout_ms } : {}),
    ...(typeof idempotent === 'boolean' ? { idempotent } : {}),
  });
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isOneOf<T extends string>(value: unknown, values: readonly T[]): value is T {
  return values.includes(value as T);
}
