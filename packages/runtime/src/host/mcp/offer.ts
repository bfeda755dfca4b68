/**
 * An MCP server's list of tools as what the plugin offers. Pure.
 *
 * Promise: names are fit for models and stay apart; one bad tool costs only itself; what the manifest says about a tool's
 * effects, approval and limits wins over what the server says.
 */
import { ChassisError } from '@chassis/errors';
import type { Json, JsonObject, ToolDefinition } from '@chassis/types';
import { type Manifest, toolDefinition } from '../../plugin/manifest.ts';
import { safeToolName } from '../../plugin/names.ts';
import type { Offer } from '../host.ts';
import { quarantine } from '../offer.ts';

/** The server's own definitions, by the names that are offered. */
export type Originals = ReadonlyMap<string, JsonObject & { readonly name: string }>;

/** @param listed as the server sent it: anything may be in it */
export function offerOfServer(
  listed: readonly Json[],
  manifest: Manifest,
): { readonly offer: Offer; readonly originals: Originals } {
  const originals = new Map<string, JsonObject & { readonly name: string }>();
  const dropped: Offer['dropped'][number][] = [];
  const drop = (capability: string, message: string, fix: string): void => {
    dropped.push({ capability, cause: new ChassisError('InvalidOutput', message), fix });
  };
  const tools: ToolDefinition[] = [];
  for (const item of listed) {
    if (!isNamed(item)) {
      drop('tool.?', 'tools/list names a tool without a name', 'tell the maker of the server');
      continue;
    }
    const name = safeToolName(item.name);
    if (originals.has(name)) {
      drop(`tool.${name}`, `tools/list names ${item.name} twice`, 'tell the maker of the server');
      continue;
    }
    originals.set(name, item);
    tools.push(
      definitionOf(
        item,
        name,
        manifest.tools.find((tool) => tool.name === name),
      ),
    );
  }
  for (const { name } of manifest.tools) {
    if (!originals.has(name)) {
      drop(
        `tool.${name}`,
        `plugin.yaml lists the tool "${name}", but the server does not have it`,
        'remove it from plugin.yaml',
      );
    }
  }
  return { offer: { tools: quarantine(tools, drop), models: [], agents: [], dropped }, originals };
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

function isNamed(item: Json): item is JsonObject & { readonly name: string } {
  return isObject(item) && typeof item.name === 'string' && item.name !== '';
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
