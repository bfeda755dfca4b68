/**
 * Tools that the harness itself brings: they are owned like a plugin's, so that names, guards and the gate treat them alike.
 */
import { toolTokens } from '@chassis/analyze';
import type { ToolBinding } from '../capability.ts';
import { answerSearch, specOf, TOOL_SEARCH, toolSearch } from '../tools/search.ts';
import { CHASSIS_VERSION } from '../version.ts';
import type { Generation, Owner } from './generation.ts';

/**
 * The generation, with `tool_search` in it when its tools take more than the budget.
 *
 * @param build makes the generation from the plugins and the owners given
 * @param budget tokens
 */
export function withSearch(build: (more: readonly Owner[]) => Generation, budget: number): Generation {
  const plain = build([]);
  if (plain.usable.reduce((sum, tool) => sum + tokensOf(tool), 0) <= budget) return plain;
  const generation = build([
    builtIn((invocation) =>
      answerSearch(invocation, () => generation.usable.filter(({ name }) => name !== TOOL_SEARCH)),
    ),
  ]);
  return generation;
}

function builtIn(invoke: Owner['invoke']): Owner {
  return {
    plugin: { name: 'chassis', version: CHASSIS_VERSION, digest: '' },
    state: 'active',
    record: undefined,
    tools: [toolSearch],
    models: [],
    agents: [],
    policies: [],
    claims: { tools: [], models: [], agents: [] },
    dropped: [],
    invoke,
  };
}

const sizes = new WeakMap<object, number>();

/** A generation is built anew with every change; definitions stay. */
function tokensOf(tool: ToolBinding): number {
  let tokens = sizes.get(tool.definition);
  if (tokens === undefined) {
    tokens = toolTokens([specOf(tool)]);
    sizes.set(tool.definition, tokens);
  }
  return tokens;
}
