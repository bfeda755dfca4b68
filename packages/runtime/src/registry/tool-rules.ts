/**
 * The project's word on tools: `tools.allow`, `tools.deny`, `tools.approval`.
 *
 * A name there is a short name, a full one in either spelling, or the beginning of one before a `*`. Deny wins.
 */
import { ChassisError } from '@chassis/errors';
import type { ToolDefinition } from '@chassis/types';
import type { Unavailable } from '../capability.ts';
import { fullName, modelSafeName } from '../plugin/names.ts';
import { unavailable } from '../plugin/unavailable.ts';
import type { Config } from '../project/config.ts';

export interface ToolRules {
  /** Why the project does not let a tool be used, if so. */
  refusal(plugin: string, tool: string, definition: ToolDefinition): Unavailable | undefined;
  /** The definition with the project's approval mode. */
  adjusted(plugin: string, definition: ToolDefinition): ToolDefinition;
}

export function toolRules(tools: Config['tools'], originOf: (keys: readonly string[]) => string): ToolRules {
  const { allow, deny, approval } = tools;
  return {
    refusal(plugin, tool) {
      const index = deny.findIndex((pattern) => fits(pattern, plugin, tool));
      if (index >= 0) return refused(plugin, tool, originOf(['tools', 'deny', String(index)]), 'is denied');
      if (allow === undefined || allow.some((pattern) => fits(pattern, plugin, tool))) return undefined;
      return refused(plugin, tool, originOf(['tools', 'allow']), 'is not among the tools that are allowed');
    },
    adjusted(plugin, definition) {
      const mode = Object.entries(approval).findLast(([pattern]) =>
        fits(pattern, plugin, definition.name),
      )?.[1];
      return mode === undefined || mode === definition.approval
        ? definition
        : { ...definition, approval: mode };
    },
  };
}

function fits(pattern: string, plugin: string, tool: string): boolean {
  const names = [tool, `tool.${tool}`, fullName(plugin, tool), modelSafeName(plugin, tool)];
  if (!pattern.endsWith('*')) return names.includes(pattern);
  const start = pattern.slice(0, -1);
  return names.some((name) => name.startsWith(start));
}

function refused(plugin: string, tool: string, at: string, how: string): Unavailable {
  return unavailable({
    capability: `tool.${tool}`,
    owner: plugin,
    phase: 'config',
    cause: new ChassisError('PermissionDenied', `${at}: the tool ${fullName(plugin, tool)} ${how}`),
    fix: 'change tools.allow or tools.deny in the configuration',
  });
}
