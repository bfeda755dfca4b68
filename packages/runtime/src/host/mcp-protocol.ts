/**
 * `runtime: mcp`: an MCP server on stdio as a plugin.
 *
 * Promise: the version is negotiated before anything else, and a server that speaks none of ours is let go with the version
 * named. All pages of its tools are read; a tool's own error stays an error, whatever else the result holds; nothing of
 * a result is lost. What the manifest says about a tool's effects wins over what the server says.
 */
import { ChassisError } from '@chassis/errors';
import { type Peer, RpcError } from '@chassis/jsonrpc';
import { failure } from '@chassis/sdk';
import type { Json, JsonObject, ToolDefinition } from '@chassis/types';
import { toolDefinition } from '../plugin/manifest.ts';
import { safeToolName } from '../plugin/names.ts';
import { CHASSIS_VERSION } from '../version.ts';
import { isEndOfConnection } from './ending.ts';
import { type HostOptions, type Offer, PhaseError } from './host.ts';
import { outcomeOf } from './mcp-result.ts';
import { quarantine } from './offer.ts';
import type { Protocol } from './protocol.ts';

/** Newest first; each answers `tools/list` and `tools/call` in the same words. */
const MCP_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;

/** A server that never ends its list is not listened to for ever. */
const MAX_PAGES = 1_000;

const PATIENT = { timeoutMs: 0 } as const;

export function mcpProtocol(): Protocol {
  /** The server's own names, by the names that are offered. */
  const names = new Map<string, string>();
  return {
    dialect: 'mcp',

    async load(peer, options) {
      peer.method('ping', () => ({}));
      peer.notification('notifications/message', (params) => logged(params, options));
      peer.notification('notifications/tools/list_changed', () => {
        options.log('warn', 'the server has changed its tools; reload the plugin to see them');
      });
      await initialize(peer, options);
      return offered(await allTools(peer), options, names);
    },

    // A server that has listed its tools is ready. `ping` would tell more, but many servers never answer it.
    async ready() {
      return { ready: true };
    },

    async invoke(peer, { payload, ctx, signal }, onProgress) {
      if (!('tool' in payload)) {
        return failure(new ChassisError('MethodNotFound', 'an MCP server has tools only'), ctx.trace_id);
      }
      const name = names.get(payload.tool) ?? payload.tool;
      const options = { ...PATIENT, signal, onProgress, exact: true };
      try {
        const answer = await peer.call('tools/call', { name, arguments: payload.input }, options);
        return { ...outcomeOf(answer), trace_id: ctx.trace_id };
      } catch (error) {
        // An error of the protocol is the server's answer too: an unknown tool, arguments that it does not take.
        if (!(error instanceof RpcError) || isEndOfConnection(error) || signal.aborted) throw error;
        return failure(error, ctx.trace_id);
      }
    },

    async shutdown() {},
  };
}

async function initialize(peer: Peer, { entry }: HostOptions): Promise<void> {
  const answer = await peer.call<{ protocolVersion?: unknown } | null>(
    'initialize',
    {
      protocolVersion: MCP_VERSIONS[0],
      capabilities: {},
      clientInfo: { name: 'chassis', version: CHASSIS_VERSION },
    },
    PATIENT,
  );
  const version = answer?.protocolVersion;
  if (!MCP_VERSIONS.some((known) => known === version)) {
    const what =
      typeof version === 'string'
        ? `the server speaks MCP ${version}, which is none of ${MCP_VERSIONS.join(', ')}`
        : 'the server did not say which version of MCP it speaks: protocolVersion is missing';
    throw new PhaseError(
      'on_load',
      new ChassisError('Unavailable', `plugin ${entry.name}: ${what}`),
      'use a version of the server that speaks one of them',
    );
  }
  await peer.notify('notifications/initialized');
}

async function allTools(peer: Peer): Promise<JsonObject[]> {
  const tools: JsonObject[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const answer = await peer.call<{ tools?: unknown; nextCursor?: unknown } | null>(
      'tools/list',
      params,
      PATIENT,
    );
    if (!Array.isArray(answer?.tools)) {
      throw new ChassisError('InvalidOutput', 'tools/list must answer { tools: […] }');
    }
    tools.push(...(answer.tools as JsonObject[]));
    if (typeof answer.nextCursor !== 'string' || answer.nextCursor === cursor) return tools;
    cursor = answer.nextCursor;
  }
  throw new ChassisError('InvalidOutput', `tools/list did not come to an end within ${MAX_PAGES} pages`);
}

function offered(listed: readonly JsonObject[], { entry }: HostOptions, names: Map<string, string>): Offer {
  const { manifest } = entry.source;
  const dropped: Offer['dropped'][number][] = [];
  const drop = (capability: string, message: string, fix: string): void => {
    dropped.push({ capability, cause: new ChassisError('InvalidOutput', message), fix });
  };
  const tools: ToolDefinition[] = [];
  for (const item of listed) {
    const original: unknown = (item as JsonObject | null)?.name;
    if (typeof original !== 'string' || original === '') {
      drop('tool.?', 'tools/list names a tool without a name', 'tell the maker of the server');
      continue;
    }
    const name = safeToolName(original);
    if (names.has(name)) {
      drop(`tool.${name}`, `tools/list names ${original} twice`, 'tell the maker of the server');
      continue;
    }
    names.set(name, original);
    tools.push(
      definitionOf(
        item,
        name,
        manifest.tools.find((tool) => tool.name === name),
      ),
    );
  }
  for (const { name } of manifest.tools) {
    if (!names.has(name)) {
      drop(
        `tool.${name}`,
        `plugin.yaml lists the tool "${name}", but the server does not have it`,
        'remove it from plugin.yaml',
      );
    }
  }
  return { tools: quarantine(tools, drop), models: [], agents: [], dropped };
}

/** The server's words and schemas, with the manifest's say on effects, approval and limits. */
function definitionOf(item: JsonObject, name: string, said: ToolDefinition | undefined): ToolDefinition {
  const { description, inputSchema, outputSchema } = item;
  const hints = (isObject(item.annotations) ? item.annotations : {}) as Record<string, Json | undefined>;
  const own = {
    name,
    description: typeof description === 'string' ? description : '',
    ...(isObject(inputSchema) ? { input: inputSchema } : {}),
    ...(isObject(outputSchema) ? { output: outputSchema } : {}),
  };
  if (said === undefined) {
    return toolDefinition({
      ...own,
      ...(hints.readOnlyHint === true ? { effects: 'read' as const } : {}),
      idempotent: hints.idempotentHint === true,
    });
  }
  const { effects, idempotent, approval, timeout_ms, rate } = said;
  return toolDefinition({
    ...own,
    effects,
    idempotent,
    approval,
    timeout_ms,
    ...(rate === undefined ? {} : { rate }),
  });
}

function logged(params: unknown, { log }: HostOptions): void {
  const { level, data } = (params ?? {}) as { level?: unknown; data?: unknown };
  const known =
    level === 'debug'
      ? 'debug'
      : level === 'warning'
        ? 'warn'
        : /^(error|critical|alert|emergency)$/.test(String(level))
          ? 'error'
          : 'info';
  log(known, typeof data === 'string' ? data : JSON.stringify(data ?? null));
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
