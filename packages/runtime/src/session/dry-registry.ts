/**
 * The capabilities of a dry run.
 *
 * Promise: a tool that is to stay dry and changes something is never invoked: its call is checked, and refused with a sentence that
 * says so. A tool that only reads runs as it is.
 */
import { ChassisError } from '@chassis/errors';
import type { ToolDefinition } from '@chassis/types';
import { isUnavailable, type Registry, type ToolBinding } from '../capability.ts';

export function changesSomething({ effects }: Pick<ToolDefinition, 'effects'>): boolean {
  return effects === 'write' || effects === 'external';
}

export function dryRegistry(registry: Registry, isDry: (tool: string, plugin: string) => boolean): Registry {
  const dried = (binding: ToolBinding): ToolBinding =>
    changesSomething(binding.definition) && isDry(binding.name, binding.plugin.name)
      ? { ...binding, invoke: () => Promise.reject(notRun(binding.name)) }
      : binding;
  return {
    tools: () => registry.tools().map(dried),
    resolveTool: (name) => {
      const binding = registry.resolveTool(name);
      return isUnavailable(binding) ? binding : dried(binding);
    },
    resolveModel: (reference) => registry.resolveModel(reference),
    resolveAgent: (name) => registry.resolveAgent(name),
    plugins: () => registry.plugins(),
    subscribe: (listener) => registry.subscribe(listener),
    close: () => registry.close(),
  };
}

function notRun(tool: string): ChassisError {
  return new ChassisError(
    'PermissionDenied',
    `${tool} was not run: this is a dry run, and it changes something`,
    {
      data: { tool, dry_run: true },
    },
  );
}
