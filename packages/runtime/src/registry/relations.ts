/** How plugins stand to one another: one instance to the next, and those that need to those that are needed. Pure. */
import { ChassisError } from '@chassis/errors';
import type { Invocation, PluginChange, PluginState, Unavailable } from '../capability.ts';
import type { BrokenPlugin } from '../plugin/catalogue.ts';
import { type Need, type Refusal, type Resolution, wanted } from '../plugin/resolver.ts';
import type { PluginLife } from './life.ts';
import type { Roster } from './roster.ts';

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
function meets({ entry, offer }: PluginLife, { on, name }: Need['edge']): boolean {
  if (on === 'plugin') return true;
  const memories = entry.source.manifest.memory.filter((memory) =>
    offer?.tools.some((tool) => tool.name === `${memory.name}_search`),
  );
  const names = [
    ...memories.map((memory) => `memory.${memory.name}`),
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

/** Why a plugin may not be taken out: an active one needs it, and nobody else offers what that one needs. */
export function dependents(name: string, { lives, resolution }: Roster): ChassisError[] {
  const others = new Map([...lives].filter(([other]) => other !== name));
  return [...others.values()].flatMap((life) => {
    const other = life.entry.name;
    const needs = (resolution.needs.get(other) ?? []).filter(({ anyOf }) => anyOf.includes(name));
    if (life.state !== 'active' || unmet(other, needs, others) === undefined) return [];
    const [edge] = needs.map((need) => need.edge);
    return [
      new ChassisError('Conflict', `plugin ${other} needs ${name} (${edge?.at})`, {
        data: {
          fix: `unload ${other} first: chassis plugin unload ${other} && chassis plugin unload ${name}`,
        },
      }),
    ];
  });
}

/** The first active plugin that a new version of another would leave without what it needs. */
export function brokenByIt(resolution: Resolution, { lives }: Roster): Refusal | undefined {
  for (const [name, refusal] of resolution.refused) if (lives.get(name)?.state === 'active') return refusal;
  return undefined;
}

/** What there is to tell of a plugin that was in one state when it was told of last, and is in another now. */
export function changeOf(told: PluginState | undefined, { state }: PluginLife): PluginChange | undefined {
  if (told === undefined || told === state || state === 'loading' || state === 'stopped') return undefined;
  if (state !== 'active') return 'unavailable';
  return told === 'stopped' ? 'loaded' : 'recovered';
}
