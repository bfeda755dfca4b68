/** Plugins' states as the generation and as people see them. Pure. */
import { ChassisError } from '@chassis/errors';
import type { PluginState, PluginStatus, Unavailable } from '../capability.ts';
import type { Offer } from '../host/host.ts';
import type { BrokenPlugin, CatalogueEntry } from '../plugin/catalogue.ts';
import { unavailable } from '../plugin/unavailable.ts';
import type { Config } from '../project/config.ts';
import type { Owner } from './generation.ts';
import type { PluginLife } from './life.ts';

type Living = Pick<PluginLife, 'entry' | 'state'> &
  Partial<Pick<PluginLife, 'record' | 'offer' | 'loadedAt' | 'calls'>>;

const NOTHING = { tools: [], models: [], agents: [], policies: [] };

export function ownerOf(life: Living, invoke?: Owner['invoke']): Owner {
  const { entry, state, record, offer } = life;
  const { manifest } = entry.source;
  const claims = {
    tools: manifest.tools.map((tool) => tool.name),
    models: manifest.models.map((model) => model.name),
    agents: manifest.agents.map((agent) => agent.name),
  };
  return {
    plugin: { name: entry.name, version: manifest.version, digest: entry.digest },
    state,
    record,
    ...(offer ?? NOTHING),
    policies: manifest.policies
      .filter(({ name }) => offer?.policies?.includes(name))
      .map((policy) => ({ ...policy, guard: entry.criticality !== 'optional' })),
    claims,
    dropped: offer === undefined ? [] : droppedBy(entry, offer, life.loadedAt ?? 0),
    invoke:
      invoke ??
      (async () => {
        throw new ChassisError('Unavailable', `plugin ${entry.name} is ${state}`);
      }),
  };
}

export function brokenOwner(plugin: BrokenPlugin): Owner {
  return {
    plugin: { name: plugin.name, version: '', digest: '' },
    state: plugin.enabled ? 'failed' : 'disabled',
    record: plugin.enabled ? plugin.record : undefined,
    ...NOTHING,
    claims: { tools: plugin.tools, models: plugin.models, agents: plugin.agents },
    dropped: [],
    invoke: async () => {
      throw new ChassisError('Unavailable', plugin.record.cause.message, { data: plugin.record });
    },
  };
}

function droppedBy(entry: CatalogueEntry, offer: Offer, since: number): Unavailable[] {
  return offer.dropped.map(({ capability, cause, fix }) =>
    unavailable({ capability, owner: entry.name, phase: 'on_load', cause, fix, since }),
  );
}

export function statusOf(life: Living): PluginStatus {
  const { entry, state, record, offer } = life;
  const { manifest } = entry.source;
  const calls = life.calls?.();
  return {
    name: entry.name,
    version: manifest.version,
    digest: entry.digest,
    folder: entry.folder,
    origin: entry.origin,
    state,
    criticality: entry.criticality,
    enforcement: 'declared',
    tools: (offer?.tools ?? manifest.tools).map((tool) => tool.name),
    models: offer?.models ?? manifest.models.map((model) => model.name),
    agents: offer?.agents ?? manifest.agents.map((agent) => agent.name),
    ...(manifest.policies.length === 0
      ? {}
      : { policies: offer?.policies ?? manifest.policies.map((policy) => policy.name) }),
    ...(record === undefined ? {} : { unavailable: record }),
    ...(calls === undefined ? {} : { calls }),
  };
}

export function brokenStatus(plugin: BrokenPlugin): PluginStatus {
  const state: PluginState = plugin.enabled ? 'failed' : 'disabled';
  return {
    name: plugin.name,
    version: '',
    digest: '',
    folder: plugin.folder,
    origin: plugin.origin,
    state,
    criticality: plugin.criticality,
    enforcement: 'declared',
    tools: plugin.tools,
    models: plugin.models,
    agents: plugin.agents,
    ...(plugin.enabled ? { unavailable: plugin.record } : {}),
  };
}

/** Why no tool may run: a guard is not active, is broken, or is not there at all. */
export function closedBy(
  lives: readonly Living[],
  broken: readonly BrokenPlugin[],
  missing: readonly Unavailable[],
  config: Config,
): Unavailable | undefined {
  const down = lives.find((life) => life.entry.criticality === 'guard' && life.state !== 'active');
  if (down !== undefined) {
    const record = down.record;
    return guardDown(down.entry.name, record?.cause.message ?? `it is ${down.state}`, record);
  }
  for (const { entry, offer } of lives) {
    // It runs, and yet it does not guard.
    const lost = offer?.dropped.find(({ capability }) => capability.startsWith('policy.'));
    if (entry.criticality === 'guard' && lost !== undefined)
      return guardDown(entry.name, lost.cause.message, undefined);
  }
  const bad = broken.find((plugin) => plugin.enabled && plugin.criticality === 'guard');
  if (bad !== undefined) return guardDown(bad.name, bad.record.cause.message, bad.record);
  const absent = missing.find(
    (record) => config.plugins.blocks[record.capability.slice('plugin.'.length)]?.criticality === 'guard',
  );
  if (absent === undefined) return undefined;
  return guardDown(absent.capability.slice('plugin.'.length), absent.cause.message, absent);
}

/** Why a plugin is not there that the project wants: the command line leaves it out. */
export function leftOutRecord({ name, leftOut }: CatalogueEntry): Unavailable | undefined {
  if (leftOut === undefined) return undefined;
  return unavailable({
    capability: `plugin.${name}`,
    owner: name,
    phase: 'config',
    cause: new ChassisError('Unavailable', `plugin ${name} is left out by ${leftOut}`),
    fix: `start without ${leftOut}`,
  });
}

function guardDown(name: string, cause: string, record: Unavailable | undefined): Unavailable {
  return unavailable({
    capability: 'tool.*',
    owner: name,
    phase: record?.phase ?? 'runtime',
    cause: new ChassisError('Unavailable', `no tool may run while the guard ${name} is down: ${cause}`),
    fix: record?.fix ?? `start plugin ${name}`,
    ...(record?.retry_at === undefined ? {} : { retry_at: record.retry_at }),
  });
}
