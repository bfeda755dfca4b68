/**
 * What a configuration says of tools and of the agent, held against what the plugins' manifests say.
 *
 * Promise: a rule that was meant for a tool never fails to apply in silence: a name that no plugin has is an error with its
 * place and the nearest one. The user's own configuration serves many projects, so a name there may be missing here.
 */
import { ChassisError } from '@chassis/errors';
import { compileSchema, didYouMean, pointerKeys } from '@chassis/schema';
import type { Catalogue } from '../plugin/catalogue.ts';
import { fullName, HARNESS, modelSafeName, SKILL_TOOL, TOOL_SEARCH } from '../plugin/names.ts';
import { listsItself } from '../plugin/offers.ts';
import type { Config } from './config.ts';
import type { Origin } from './layers.ts';

/** @throws InvalidParams naming every unknown tool and every setting that the agent does not take */
export function checkAgainstManifests(
  config: Config,
  catalogue: Catalogue,
  originOf: (keys: readonly string[]) => Origin | undefined,
): void {
  const issues = [...unknownTools(config, catalogue), ...wrongSettings(config, catalogue)]
    .map((unknown) => ({ ...unknown, origin: originOf(unknown.keys) }))
    .filter(({ origin }) => origin?.layer !== 'user')
    .map(({ keys, message, origin }) => ({
      path: `/${keys.join('/')}`,
      message: `${origin?.text ?? 'configuration'}: ${message}`,
    }));
  if (issues.length === 0) return;
  throw new ChassisError('InvalidParams', issues.map((issue) => issue.message).join('\n'), {
    data: { issues },
  });
}

interface Unknown {
  readonly keys: readonly string[];
  readonly message: string;
}

function unknownTools({ tools }: Config, { entries, broken }: Catalogue): Unknown[] {
  // A server that lists its tools itself may have any: what it is called is known only once it runs.
  if (entries.some(({ source: { manifest } }) => listsItself(manifest))) return [];
  const names = new Set<string>();
  for (const tool of [SKILL_TOOL, TOOL_SEARCH]) add(names, HARNESS, tool);
  for (const { name, source } of entries)
    for (const tool of source.manifest.tools) add(names, name, tool.name);
  for (const { name, tools: claimed } of broken) for (const tool of claimed) add(names, name, tool);
  const written: (readonly [readonly string[], string])[] = [
    ...(tools.allow ?? []).map((name, i) => [['tools', 'allow', String(i)], name] as const),
    ...tools.deny.map((name, i) => [['tools', 'deny', String(i)], name] as const),
    ...Object.keys(tools.approval).map((name) => [['tools', 'approval', name], name] as const),
  ];
  return written
    .filter(([, name]) => !fitsAny(name, names))
    .map(([keys, name]) => ({ keys, message: `there is no tool ${name}${didYouMean(name, names)}` }));
}

/** The agent's settings against the schema in its manifest, before any session is opened with them. */
function wrongSettings({ agent: { use, settings } }: Config, { entries }: Catalogue): Unknown[] {
  const agent = entries.flatMap(({ source }) => source.manifest.agents).find(({ name }) => name === use);
  if (agent?.settings === undefined) return [];
  // Compiling a schema is the dearest part of looking at a project, and most projects set nothing.
  if (Object.keys(settings).length === 0 && agent.settings.required === undefined) return [];
  return compileSchema(agent.settings)(settings).map((issue) => ({
    keys: ['agent', 'settings', ...pointerKeys(issue.path)],
    message: `agent.settings${issue.path.replaceAll('/', '.')}: ${issue.message}`,
  }));
}

function add(names: Set<string>, plugin: string, tool: string): void {
  for (const name of [tool, `tool.${tool}`, fullName(plugin, tool), modelSafeName(plugin, tool)])
    names.add(name);
}

function fitsAny(pattern: string, names: ReadonlySet<string>): boolean {
  if (!pattern.endsWith('*')) return names.has(pattern);
  const start = pattern.slice(0, -1);
  return [...names].some((name) => name.startsWith(start));
}
