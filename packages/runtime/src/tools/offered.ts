/**
 * Which tools a turn shows to its model.
 *
 * Promise: the list depends on the tools, the models and the budget alone, never on the order in which plugins loaded. What is left
 * out has a reason: a provider that would refuse it, or a budget, and then `tool_search` finds it.
 */
import { toolTokens } from '@chassis/analyze';
import { ChassisError } from '@chassis/errors';
import type { ToolSpec } from '@chassis/types';
import type { ToolBinding, Unavailable } from '../capability.ts';
import { HARNESS, TOOL_SEARCH } from '../plugin/names.ts';
import { unavailable } from '../plugin/unavailable.ts';
import { dialectOf, refusalOf } from './dialects.ts';
import { specOf } from './search.ts';

/** Tokens that the list of tools may take without a word of the project: a tenth of a usual window. */
export const TOOL_BUDGET = 10_000;

export interface Offered {
  readonly specs: readonly ToolSpec[];
  /** Tools that a provider would refuse. */
  readonly quarantined: readonly Unavailable[];
}

/** @param models references of all models that the list may be sent to */
export function offeredTools(
  tools: readonly ToolBinding[],
  models: readonly string[],
  budget: number,
): Offered {
  const quarantined: Unavailable[] = [];
  const sound: { readonly tool: ToolBinding; readonly spec: ToolSpec }[] = [];
  for (const tool of tools) {
    const spec = specOf(tool);
    const refusal = quarantineOf(tool, spec, models);
    if (refusal === undefined) sound.push({ tool, spec });
    else quarantined.push(refusal);
  }
  const search = sound.find(
    ({ tool }) => tool.plugin.name === HARNESS && tool.definition.name === TOOL_SEARCH,
  );
  const others = sound
    .filter((one) => one !== search)
    .map((one) => ({ ...one, tokens: toolTokens([one.spec]) }));
  const listed = new Set(others);
  const deferred = new Map<string, number>();
  let total = others.reduce((sum, { tokens }) => sum + tokens, 0);
  if (search !== undefined && total > budget) {
    total += toolTokens([search.spec]) + 50;
    for (const { plugin, tokens } of byPlugin(others)) {
      if (total <= budget) break;
      // What leads to everything else is never left out.
      if (plugin === HARNESS) continue;
      const own = others.filter(({ tool }) => tool.plugin.name === plugin);
      for (const one of own) listed.delete(one);
      deferred.set(plugin, own.length);
      total -= tokens;
    }
  }
  const specs = others.filter((one) => listed.has(one)).map(({ spec }) => spec);
  return {
    specs:
      search === undefined || deferred.size === 0 ? specs : [...specs, searchSpec(search.spec, deferred)],
    quarantined,
  };
}

/** Every tool that a provider of these models would refuse, with the reason. */
export function quarantined(tools: readonly ToolBinding[], models: readonly string[]): Unavailable[] {
  return tools
    .map((tool) => quarantineOf(tool, specOf(tool), models))
    .filter((record): record is Unavailable => record !== undefined);
}

/** Why one of the models' providers would refuse a tool. */
function quarantineOf(tool: ToolBinding, spec: ToolSpec, models: readonly string[]): Unavailable | undefined {
  for (const reference of models.length === 0 ? [''] : models) {
    const problem = refusalOf(spec, dialectOf(reference));
    if (problem === undefined) continue;
    return unavailable({
      capability: `tool.${tool.definition.name}`,
      owner: tool.plugin.name,
      phase: 'runtime',
      cause: new ChassisError(
        'Unavailable',
        `the tool ${tool.name} of plugin ${tool.plugin.name} is not shown to ${reference || 'a model'}: ${problem}`,
      ),
      fix: 'change the input schema, or leave the tool out with tools.deny',
    });
  }
  return undefined;
}

/** Plugins by the room that their tools take, the largest first: one long list does not push all others out. */
function byPlugin(
  list: readonly { readonly tool: ToolBinding; readonly tokens: number }[],
): { plugin: string; tokens: number }[] {
  const sums = new Map<string, number>();
  for (const { tool, tokens } of list) sums.set(tool.plugin.name, (sums.get(tool.plugin.name) ?? 0) + tokens);
  return [...sums]
    .map(([plugin, tokens]) => ({ plugin, tokens }))
    .sort((a, b) => b.tokens - a.tokens || (a.plugin < b.plugin ? -1 : 1));
}

function searchSpec(spec: ToolSpec, deferred: ReadonlyMap<string, number>): ToolSpec {
  const counts = [...deferred].map(([plugin, count]) => `${plugin} (${count})`).sort();
  const shown = counts.slice(0, 20).join(', ');
  const more = counts.length > 20 ? ` and ${counts.length - 20} more` : '';
  return { ...spec, description: `${spec.description} Not listed are those of ${shown}${more}.` };
}
