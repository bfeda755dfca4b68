/** How plugins stand to one another: one instance to the next, and those that need to those that are needed. Pure. */
import { ChassisError } from '@chassis/errors';
import type { Invocation, Unavailable } from '../capability.ts';
import type { BrokenPlugin } from '../plugin/catalogue.ts';
import type { PluginLife } from './life.ts';

/** Whether a tool means the same on both instances; models and agents have no definition that could differ. */
export function offersTheSame(old: PluginLife, current: PluginLife, { payload }: Invocation): boolean {
  if (!('tool' in payload)) return true;
  const definition = (life: PluginLife): string =>
    JSON.stringify(life.offer?.tools.find((tool) => tool.name === payload.tool));
  return definition(old) === definition(current);
}

export function needs(name: string, absent: PluginLife): ChassisError {
  const cause = absent.record?.cause.message ?? `it is ${absent.state}`;
  return new ChassisError(
    'Unavailable',
    `${name} needs ${absent.entry.name}, which is unavailable: ${cause}`,
    {
      data: absent.record,
    },
  );
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
