/** For tests: inline plugins as files of a project, and what a registry says of them. */
import { type Invocation, isUnavailable, type Unavailable } from '../capability.ts';
import type { LiveRegistry, StartRegistry } from '../registry/options.ts';
import { startRegistry } from '../registry/registry.ts';
import { inlineManifest, invocation, type ProjectFolder } from './project-folder.ts';

/** An inline plugin with one tool, `NAME_tool`, that answers the plugin's name. */
export function plugin(
  name: string,
  options: { readonly manifest?: string; readonly code?: string; readonly answer?: string } = {},
): Readonly<Record<string, string>> {
  const { manifest = '', code = '', answer = `'${name}'` } = options;
  return {
    [`plugins/${name}/plugin.yaml`]: inlineManifest(
      name,
      `tools: [{ name: ${name}_tool, description: x, effects: none }]\n${manifest}`,
    ),
    [`plugins/${name}/index.mjs`]: `export default { ${code} tools: { ${name}_tool: async () => ${answer} } };`,
  };
}

export async function running(
  folder: ProjectFolder,
  options: StartRegistry = {},
): Promise<LiveRegistry & AsyncDisposable> {
  const registry = await startRegistry(await folder.open(), options);
  return Object.assign(registry, { [Symbol.asyncDispose]: () => registry.close() });
}

export function states(registry: LiveRegistry): Record<string, string> {
  return Object.fromEntries(registry.plugins().map(({ name, state }) => [name, state]));
}

/** @throws when it is there */
export function missing(registry: LiveRegistry, tool: string): Unavailable {
  const found = registry.resolveTool(tool);
  if (isUnavailable(found)) return found;
  throw new Error(`${tool} is there`);
}

/** Calls a tool; its failure is the message. @throws when it is not there, or its plugin broke */
export async function call(
  registry: LiveRegistry,
  tool: string,
  more: Partial<Invocation> = {},
): Promise<unknown> {
  const found = registry.resolveTool(tool);
  if (isUnavailable(found)) throw new Error(found.cause.message);
  const result = await found.invoke({ ...invocation({ tool: found.definition.name, input: {} }), ...more });
  return result.code === 0 ? result.data : result.error?.message;
}
