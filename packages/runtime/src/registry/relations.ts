/** How plugins stand to one another: one instance to the next, and those that need to those that are needed. Pure. */
import { ChassisError } from '@chassis/errors';
import type { Invocation, Unavailable } from '../capability.ts';
import type { BrokenPlugin } from '../plugin/catalogue.ts';
import { type Need, type Refusal, wanted } from '../plugin/resolver.ts';
import type { PluginLife } from './life.ts';

/** Whether a tool means the same on both instances; models and agents have no definition that could differ. */
export function offersTheSame(old: PluginLife, current: PluginLife, { payload }: Invocation): boolean {
  if (!('tool' in payload)) return true;
  const definition = (life: PluginLife): string =>
    JSON.stringify(life.offer?.tools.find((tool) => tool.name === payload.tool));
  return definition(old) === definition(current);
}

/** The first need of a plugin that nobody meets now, as the reason why the plugin cannot start. */
export function unmet(
  name: string,
  needs: readonly Need[],
  lives: ReadonlyMap<string, PluginLife>,
): Refusal | undefined {
  for (const { edge, anyOf } of needs) {
    const there = anyOf.map((other) => lives.get(other)).filter((life) => life !== undefined);
    if (there.some((life) => life.state === 'active' && meets(life, edge))) continue;
    const lost = there.find((life) => life.record !== undefined);
    const said =
      lost?.record?.cause.message ?? (there[0] === undefined ? 'it is not loaded' : reason(there[0]));
    const of = edge.on === 'plugin' ? '' : ` of ${anyOf.join(' or ')}`;
    return {
      cause: new ChassisError(
        'Unavailable',
        `${name} needs ${wanted(edge)}${of}, which is unavailable: ${said}`,
        {
          data: lost?.record,
        },
      ),
      fix: lost?.record?.fix ?? `start plugin ${anyOf[0]}`,
    };
  }
  return undefined;
}

/** Whether what an edge asks for is among what a plugin really offers. */
function meets({ offer }: PluginLife, { on, name }: Need['edge']): boolean {
  if (on === 'plugin') return true;
  const names = [
    ...(offer?.tools ?? []).map((tool) => `tool.${tool.name}`),
    ...(offer?.models ?? []).map((model) => `model.${model}`),
    ...(offer?.agents ?? []).map((agent) => `agent.${agent}`),
  ];
  return names.some((one) => one === name || one.startsWith(`${name}.`));
}

function reason({ state }: PluginLife): string {
  return state === 'active' ? 'it does not offer it' : `it is ${state}`;
}

/** The first of those that must be there and are not. */
export function lostRequired(
  lives: readonly PluginLife[],
  broken: readonly BrokenPlugin[],
  missing: readonly Unavailable[],
): Unavailable | undefined {
  const life = lives.find(({ entry, state }) => entry.criticality === 'required' && state !== 'active');
  if (life?.record !== undefined) return life.record;
  const plugin = broken.find(({ enabled, criticality }) => enabled && criticality === 'required');
  return plugin?.record ?? missing[0];
}
