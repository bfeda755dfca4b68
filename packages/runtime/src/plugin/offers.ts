/** What plugins offer by their manifests and configuration, as the resolver and the catalogue see it. Pure. */
import type { Json, JsonObject } from '@chassis/types';
import type { Catalogue, CatalogueEntry } from './catalogue.ts';
import type { Manifest } from './manifest.ts';
import { type Node, type Resolution, resolvePlugins } from './resolver.ts';
import { withDefaults } from './schema-defaults.ts';

export function resolutionOf({ entries }: Pick<Catalogue, 'entries'>): Resolution {
  return resolvePlugins(entries.map(nodeOf));
}

function nodeOf({ name, source, block, enabled }: CatalogueEntry): Node {
  const { manifest } = source;
  return {
    name,
    version: manifest.version,
    chassis: manifest.chassis,
    at: source.at('/version'),
    depends_on: manifest.depends_on,
    offers: [
      ...manifest.tools.map((tool) => `tool.${tool.name}`),
      ...modelNames(manifest, withDefaults(manifest.config, block.config)).map((model) => `model.${model}`),
      ...manifest.agents.map((agent) => `agent.${agent.name}`),
      ...manifest.memory.map((memory) => `memory.${memory.name}`),
      ...manifest.policies.map((policy) => `policy.${policy.name}`),
    ],
    ...(listsItself(manifest) ? { tells: ['tool'] } : {}),
    enabled,
  };
}

/** Names of models from the manifest, and those that its configuration adds. */
export function modelNames({ models, models_from_config: key }: Manifest, config: JsonObject): string[] {
  const named: Json | undefined = key === undefined ? undefined : config[key];
  const more = typeof named === 'object' && named !== null && !Array.isArray(named) ? Object.keys(named) : [];
  return [...new Set([...models.map((model) => model.name), ...more])];
}

/** Whether which tools it has is known only once it runs. */
export function listsItself({
  protocol,
  runtime,
  tools,
}: Pick<Manifest, 'protocol' | 'runtime' | 'tools'>): boolean {
  return tools.length === 0 && (protocol === 'jsonrpc' || runtime === 'mcp');
}
