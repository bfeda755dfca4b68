/** Which plugins have other code now than when a session was recorded. */
import type { SessionView } from '@chassis/journal';
import type { PluginRef } from '@chassis/types';
import type { Registry } from '../capability.ts';

export interface PluginDrift {
  readonly name: string;
  /** `/version` or `/digest`: what differs first. `/` when the plugin is not there now. */
  readonly path: string;
  readonly recorded: PluginRef;
  readonly now: PluginRef | null;
  /** First step that it answered on record; null for the agent's plugin, and for one that answered none. */
  readonly step: number | null;
}

/**
 * @param registry the plugins as they are now
 * @param missing whether plugins that are not there count: a replay that starts only the agent's plugin knows no others
 */
export function pluginDrift(view: SessionView, registry: Registry, missing: boolean): readonly PluginDrift[] {
  const now = new Map(registry.plugins().map((plugin) => [plugin.name, plugin]));
  const recorded = new Map<string, { ref: PluginRef; step: number | null }>();
  const { name, version, digest } = view.header.agent;
  recorded.set(name, { ref: { name, version, digest }, step: null });
  for (const { plugin, number } of view.steps)
    if (plugin !== null && !recorded.has(plugin.name))
      recorded.set(plugin.name, { ref: plugin, step: number });
  return [...recorded.values()].flatMap(({ ref, step }): readonly PluginDrift[] => {
    const there = now.get(ref.name);
    if (there === undefined)
      return missing ? [{ name: ref.name, path: '/', recorded: ref, now: null, step }] : [];
    if (there.version === ref.version && there.digest === ref.digest) return [];
    const path = there.version === ref.version ? '/digest' : '/version';
    const present = { name: there.name, version: there.version, digest: there.digest };
    return [{ name: ref.name, path, recorded: ref, now: present, step }];
  });
}
