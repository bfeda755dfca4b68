/**
 * Tools that the harness itself brings: they are owned like a plugin's, so that names, rules, guards and the gate treat them alike.
 */
import { toolTokens } from '@chassis/analyze';
import { ChassisError } from '@chassis/errors';
import { failure } from '@chassis/sdk';
import type { ToolDefinition } from '@chassis/types';
import type { ToolBinding } from '../capability.ts';
import { HARNESS, SKILL_TOOL, TOOL_SEARCH } from '../plugin/names.ts';
import type { Skill } from '../skills/skill.ts';
import { answerSkill, skillTool } from '../skills/tool.ts';
import { answerSearch, specOf, toolSearch } from '../tools/search.ts';
import { CHASSIS_VERSION } from '../version.ts';
import type { Generation, Owner } from './generation.ts';

/**
 * The generation with the harness's own tools: `skill` when there are any skills, `tool_search` when its tools take more than
 * the budget.
 *
 * @param build makes the generation from the plugins and the owners given
 * @param budget tokens
 * @param skills those that can be read now
 */
export function withBuiltIn(
  build: (more: readonly Owner[]) => Generation,
  budget: number,
  skills: readonly Skill[],
): Generation {
  const own = skills.length === 0 ? [] : [skillTool(skills)];
  let generation: Generation;
  const invoke: Owner['invoke'] = async (invocation) => {
    const { payload, ctx } = invocation;
    const tool = 'tool' in payload ? payload.tool : '';
    if (tool === SKILL_TOOL) return answerSkill(invocation, () => skills);
    if (tool === TOOL_SEARCH)
      return answerSearch(invocation, () =>
        generation.usable.filter(({ plugin }) => plugin.name !== HARNESS),
      );
    return failure(new ChassisError('MethodNotFound', 'there is no such tool'), ctx.trace_id);
  };
  const plain = build(own.length === 0 ? [] : [builtIn(own, invoke)]);
  const fits = plain.usable.reduce((sum, tool) => sum + tokensOf(tool), 0) <= budget;
  generation = fits ? plain : build([builtIn([...own, toolSearch], invoke)]);
  return generation;
}

function builtIn(tools: readonly ToolDefinition[], invoke: Owner['invoke']): Owner {
  return {
    plugin: { name: HARNESS, version: CHASSIS_VERSION, digest: '' },
    state: 'active',
    record: undefined,
    tools,
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
