/**
 * A generation: every name of every capability, and what stands behind it. Built aside from the plugins' present
 * states, then swapped in by one assignment; nobody ever sees half of one.
 *
 * Promise: pure. Names depend on which plugins have loaded, never on the order in which they did.
 */
import { ChassisError } from '@chassis/errors';
import { nearest } from '@chassis/schema';
import type { PluginRef, ToolDefinition } from '@chassis/types';
import type {
  AgentBinding,
  Invocation,
  ModelBinding,
  PluginState,
  PolicyBinding,
  ToolBinding,
  Unavailable,
} from '../capability.ts';
import type { NamedPolicy } from '../plugin/manifest.ts';
import { fullName, modelSafeName } from '../plugin/names.ts';
import { asCapability, unavailable } from '../plugin/unavailable.ts';
import type { ToolRules } from './tool-rules.ts';

/** A plugin as a generation sees it. */
export interface Owner {
  readonly plugin: PluginRef;
  readonly state: PluginState;
  readonly record: Unavailable | undefined;
  /** What it offers, or offered when it was last active; empty if it never loaded. */
  readonly tools: readonly ToolDefinition[];
  readonly models: readonly string[];
  readonly agents: readonly string[];
  /** Names that it claims without ever having loaded, to explain their absence. */
  readonly claims: {
    readonly tools: readonly string[];
    readonly models: readonly string[];
    readonly agents: readonly string[];
  };
  readonly policies: readonly (NamedPolicy & { readonly guard: boolean })[];
  readonly dropped: readonly Unavailable[];
  invoke(invocation: Invocation): ReturnType<ToolBinding['invoke']>;
}

export interface Generation {
  /** Usable tools, sorted by name. */
  readonly usable: readonly ToolBinding[];
  tool(name: string): ToolBinding | Unavailable;
  model(reference: string): ModelBinding | Unavailable;
  agent(name: string): AgentBinding | Unavailable;
  readonly policies: readonly PolicyBinding[];
}

type Kind = 'tool' | 'model' | 'agent';
type Table<B> = ReadonlyMap<string, B | Unavailable>;

/** @param closed why no tool may run at all: a guard is down */
export function buildGeneration(
  owners: readonly Owner[],
  rules: ToolRules,
  closed: Unavailable | undefined,
): Generation {
  const sorted = owners.toSorted((a, b) => (a.plugin.name < b.plugin.name ? -1 : 1));
  const tools = toolTable(sorted, rules, closed);
  const models = namedTable<ModelBinding>(sorted, 'model', (owner) => owner.models);
  const agents = namedTable<AgentBinding>(sorted, 'agent', (owner) => owner.agents);
  const usable = [...new Set([...tools.values()].filter((item) => 'definition' in item))];
  return {
    usable: usable.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    tool: (name) => tools.get(name.replace(/^tool\./, '')) ?? unknown('tool', name, tools.keys()),
    model(reference) {
      const slash = reference.indexOf('/');
      const name = slash < 0 ? reference : reference.slice(0, slash);
      const found = models.get(name) ?? unknown('model', name, models.keys());
      return slash < 0 || 'cause' in found ? found : { ...found, id: reference.slice(slash + 1) };
    },
    agent: (name) => agents.get(name) ?? unknown('agent', name, agents.keys()),
    policies: sorted
      .filter((owner) => owner.state === 'active')
      .flatMap((owner) =>
        owner.policies.map(({ name, tools, guard, timeout_ms }) => ({
          name: `${owner.plugin.name}.${name}`,
          plugin: owner.plugin,
          tools,
          guard,
          timeout_ms,
          invoke: (call: Invocation) => owner.invoke(call),
        })),
      ),
  };
}

function toolTable(
  owners: readonly Owner[],
  rules: ToolRules,
  closed: Unavailable | undefined,
): Table<ToolBinding> {
  const table = new Map<string, ToolBinding | Unavailable>();
  const byShort = new Map<string, { owner: Owner; definition: ToolDefinition }[]>();
  const safeNames = new Set<string>();
  for (const owner of owners) {
    for (const definition of owner.tools) {
      const refusal = rules.refusal(owner.plugin.name, definition.name, definition);
      const safe = modelSafeName(owner.plugin.name, definition.name);
      if (refusal !== undefined) {
        for (const name of [fullName(owner.plugin.name, definition.name), safe]) table.set(name, refusal);
        continue;
      }
      safeNames.add(safe);
      byShort.set(definition.name, [...(byShort.get(definition.name) ?? []), { owner, definition }]);
    }
  }

  for (const [short, offers] of byShort) {
    // Another tool's full name, spelled for models, has precedence: it must always lead to that tool.
    const contested = offers.length > 1 || safeNames.has(short);
    for (const { owner, definition } of offers) {
      const { name: plugin } = owner.plugin;
      const name = contested ? modelSafeName(plugin, short) : short;
      const entry = toolEntry(owner, name, rules.adjusted(plugin, definition), closed);
      table.set(fullName(plugin, short), entry);
      table.set(modelSafeName(plugin, short), entry);
      if (!contested) table.set(short, entry);
    }
    if (offers.length > 1)
      table.set(
        short,
        collision(
          'tool',
          short,
          offers.map((offer) => offer.owner),
          modelSafeName,
        ),
      );
  }
  for (const owner of owners) {
    for (const definition of owner.tools) {
      const { name } = definition;
      const refusal = rules.refusal(owner.plugin.name, name, definition);
      if (refusal !== undefined && !table.has(name)) table.set(name, refusal);
    }
  }
  explainAbsent(table, owners, 'tool', (owner) => owner.claims.tools);
  return table;
}

function toolEntry(
  owner: Owner,
  name: string,
  definition: ToolDefinition,
  closed: Unavailable | undefined,
): ToolBinding | Unavailable {
  if (owner.state !== 'active') return absence(owner, `tool.${definition.name}`);
  if (closed !== undefined) return asCapability(closed, `tool.${definition.name}`);
  return { name, definition, plugin: owner.plugin, invoke: (invocation) => owner.invoke(invocation) };
}

function namedTable<B extends ModelBinding | AgentBinding>(
  owners: readonly Owner[],
  kind: 'model' | 'agent',
  namesOf: (owner: Owner) => readonly string[],
): Table<B> {
  const table = new Map<string, B | Unavailable>();
  const byName = new Map<string, Owner[]>();
  for (const owner of owners) {
    for (const name of namesOf(owner)) byName.set(name, [...(byName.get(name) ?? []), owner]);
  }
  for (const [name, offering] of byName) {
    for (const owner of offering) {
      const entry =
        owner.state === 'active'
          ? ({ name, plugin: owner.plugin, invoke: (call: Invocation) => owner.invoke(call) } as unknown as B)
          : absence(owner, `${kind}.${name}`);
      table.set(fullName(owner.plugin.name, name), entry);
      if (offering.length === 1) table.set(name, entry);
    }
    if (offering.length > 1) table.set(name, collision(kind, name, offering, fullName));
  }
  explainAbsent(table, owners, kind, (owner) => owner.claims[`${kind}s`]);
  return table;
}

/** Names that would be there had their plugin loaded, and names that were dropped one by one. */
function explainAbsent(
  table: Map<string, unknown>,
  owners: readonly Owner[],
  kind: Kind,
  claimsOf: (owner: Owner) => readonly string[],
): void {
  for (const owner of owners) {
    for (const record of owner.dropped) {
      const name = record.capability.startsWith(`${kind}.`)
        ? record.capability.slice(kind.length + 1)
        : undefined;
      if (name === undefined) continue;
      for (const key of [name, fullName(owner.plugin.name, name)])
        if (!table.has(key)) table.set(key, record);
    }
    for (const name of claimsOf(owner)) {
      const keys = [name, fullName(owner.plugin.name, name)];
      if (kind === 'tool') keys.push(modelSafeName(owner.plugin.name, name));
      for (const key of keys) if (!table.has(key)) table.set(key, absence(owner, `${kind}.${name}`));
    }
  }
}

function absence(owner: Owner, capability: string): Unavailable {
  if (owner.record !== undefined) return asCapability(owner.record, capability);
  const { name } = owner.plugin;
  const words: Record<PluginState, string> = {
    disabled: 'is disabled',
    loading: 'is still loading',
    stopped: 'was not started in this run',
    active: 'does not offer it',
    unavailable: 'is unavailable',
    failed: 'has failed',
  };
  return unavailable({
    capability,
    owner: name,
    phase: owner.state === 'disabled' ? 'config' : 'runtime',
    cause: new ChassisError('Unavailable', `plugin ${name} ${words[owner.state]}`),
    fix: owner.state === 'disabled' ? `set plugins.${name}.enabled to true` : `start plugin ${name}`,
    ...(owner.state === 'loading' ? { retry_at: Date.now() } : {}),
  });
}

function collision(
  kind: Kind,
  name: string,
  owners: readonly Owner[],
  spell: (plugin: string, name: string) => string,
): Unavailable {
  const names = owners.map((owner) => owner.plugin.name);
  const alternatives = names.map((plugin) => spell(plugin, name));
  return unavailable({
    capability: `${kind}.${name}`,
    owner: null,
    phase: 'name',
    cause: new ChassisError('Unavailable', `the ${kind} "${name}" is offered by ${names.join(' and ')}`),
    alternatives,
    fix: `use ${alternatives.join(' or ')}, or disable one of ${names.join(', ')}`,
  });
}

function unknown(kind: Kind, name: string, known: Iterable<string>): Unavailable {
  const short = [...known].filter((key) => !key.startsWith('plugin.'));
  const near = nearest(name, short);
  const hint = near === undefined ? '' : `; did you mean "${near}"?`;
  return unavailable({
    capability: `${kind}.${name}`,
    owner: null,
    phase: 'unknown',
    cause: new ChassisError('MethodNotFound', `there is no ${kind} "${name}"${hint}`),
    alternatives: near === undefined ? short.toSorted().slice(0, 20) : [near],
    fix: near === undefined ? `install a plugin that has the ${kind} "${name}"` : `use ${near}`,
  });
}
