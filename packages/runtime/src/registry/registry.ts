/**
 * The live capabilities of a run.
 *
 * Promise: `startRegistry` comes back when every plugin has either become active or has a record of why not,
 * no later than the slowest plugin's own deadlines; only a `required` plugin can make it fail. `close` leaves no
 * process, timer or handle behind. What the gate sees is one immutable generation at a time.
 */
import { ChassisError } from '@chassis/errors';
import type { Result } from '@chassis/types';
import type { Invocation, PluginState, PluginStatus, Unavailable } from '../capability.ts';
import type { Diagnostics, Log } from '../host/host.ts';
import { hostFor } from '../host/kinds.ts';
import type { BrokenPlugin, CatalogueEntry } from '../plugin/catalogue.ts';
import { nodeOf } from '../plugin/offers.ts';
import { type Need, type Resolution, resolvePlugins } from '../plugin/resolver.ts';
import { unavailable } from '../plugin/unavailable.ts';
import type { Project } from '../project/project.ts';
import { openSecrets, type Secrets } from '../project/secrets.ts';
import { BACK_OFF } from './back-off.ts';
import { buildGeneration, type Generation } from './generation.ts';
import { PluginLife } from './life.ts';
import type { LiveRegistry, StartRegistry } from './options.ts';
import { brokenOwner, brokenStatus, closedBy, ownerOf, statusOf } from './owners.ts';
import { prepare } from './prepare.ts';
import { refreshed } from './refresh.ts';
import { lostRequired, offersTheSame, unmet } from './relations.ts';
import { toolRules } from './tool-rules.ts';

/** How long calls under way may go on on an instance that was replaced. */
const DRAIN_MS = 60_000;

/** @throws Unavailable (the record in `data`) when a required plugin cannot start; everything is closed then */
export async function startRegistry(project: Project, options: StartRegistry = {}): Promise<LiveRegistry> {
  const registry = new PluginRegistry(project, options);
  await registry.start();
  return registry;
}

class PluginRegistry implements LiveRegistry {
  readonly #project: Project;
  readonly #options: StartRegistry;
  readonly #secrets: Secrets;
  readonly #resolution: Resolution;
  readonly #lives = new Map<string, PluginLife>();
  readonly #listeners = new Set<(status: PluginStatus, previous: PluginState) => void>();
  /** Replaced or taken out, with calls still under way. */
  readonly #retiring = new Set<PluginLife>();
  readonly #onAbort = (): void => void this.close();
  #generation: Generation;
  #closed: Promise<void> | undefined;

  constructor(project: Project, options: StartRegistry) {
    this.#project = project;
    this.#options = options;
    this.#secrets = options.secrets ?? openSecrets(project.config, project.env, options.onSecret);
    const { entries } = project.catalogue;
    this.#resolution = resolvePlugins(entries.map(nodeOf));
    for (const entry of entries) {
      if (entry.enabled) this.#lives.set(entry.name, this.#life(entry));
    }
    this.#generation = this.#build();
  }

  async start(): Promise<void> {
    const { signal } = this.#options;
    signal?.addEventListener('abort', this.#onAbort, { once: true });
    if (signal?.aborted) this.#onAbort();
    const wanted = this.#wanted();
    for (const [name, refusal] of this.#resolution.refused) {
      if (wanted.has(name))
        this.#lives.get(name)?.refuse(this.#refused(name, refusal.cause, refusal.fix), 'failed');
    }
    const loading = new Map<string, Promise<void>>();
    for (const level of this.#resolution.levels) {
      for (const name of level) if (wanted.has(name)) loading.set(name, this.#load(name, loading));
    }
    const stop = this.#tellStillLoading();
    await Promise.all(loading.values()).finally(stop);
    await this.#demand(wanted);
  }

  tools() {
    return this.#generation.usable;
  }

  resolveTool(name: string) {
    return this.#generation.tool(name);
  }

  resolveModel(reference: string) {
    return this.#generation.model(reference);
  }

  resolveAgent(name: string) {
    return this.#generation.agent(name);
  }

  plugins(): readonly PluginStatus[] {
    return [
      ...[...this.#lives.values()].map((life) => statusOf(life)),
      ...this.#idle().map((entry) => statusOf({ entry, state: entry.enabled ? 'stopped' : 'disabled' })),
      ...this.#broken().map(brokenStatus),
    ].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  problems(): readonly Unavailable[] {
    return [
      ...[...this.#lives.values()].flatMap((life) => [
        ...(life.record === undefined ? [] : [life.record]),
        ...ownerOf(life).dropped,
      ]),
      ...this.#broken().map((plugin) => plugin.record),
      ...this.#project.catalogue.missing,
    ];
  }

  diagnostics(name: string): Diagnostics | undefined {
    return this.#lives.get(name)?.diagnostics();
  }

  subscribe(listener: (status: PluginStatus, previous: PluginState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async reload(name: string): Promise<PluginStatus> {
    const entry = await refreshed(name, this.#project);
    const life = this.#life(entry);
    await life.start();
    if (life.state !== 'active' || this.#closed !== undefined) {
      const { record } = life;
      await life.close();
      throw new ChassisError(
        'Unavailable',
        `plugin ${name} cannot be reloaded: ${record?.cause.message ?? 'closed'}`,
        {
          data: record,
        },
      );
    }
    const old = this.#lives.get(name);
    this.#lives.set(name, life);
    this.#generation = this.#build();
    this.#tell(life, old?.state ?? 'stopped');
    if (old !== undefined) void this.#retire(old);
    return statusOf(life);
  }

  async unload(name: string): Promise<void> {
    const life = this.#lives.get(name);
    if (life === undefined) throw new ChassisError('InvalidParams', `plugin ${name} is not loaded`);
    this.#lives.delete(name);
    this.#generation = this.#build();
    await this.#retire(life);
    this.#tell(life, 'active');
  }

  close(): Promise<void> {
    this.#closed ??= this.#closeAll();
    return this.#closed;
  }

  async #closeAll(): Promise<void> {
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
    await Promise.all([...this.#retiring].map((life) => life.close()));
    // Whoever needs others goes first.
    for (const level of this.#resolution.levels.toReversed()) {
      await Promise.all(level.map(async (name) => this.#lives.get(name)?.close()));
    }
    await Promise.all([...this.#lives.values()].map((life) => life.close()));
    this.#listeners.clear();
  }

  /** The plugins of this run: all, or the named ones with what they need. */
  #wanted(): ReadonlySet<string> {
    const { only } = this.#options;
    if (only === undefined) return new Set(this.#lives.keys());
    const wanted = new Set<string>();
    const queue = [...only];
    for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
      if (wanted.has(name)) continue;
      wanted.add(name);
      queue.push(...this.#needs(name).flatMap(({ anyOf }) => anyOf));
    }
    return wanted;
  }

  /** Every second which plugins are loading, until the returned function is called. */
  #tellStillLoading(): () => void {
    const { onStillLoading } = this.#options;
    if (onStillLoading === undefined) return () => {};
    const timer = setInterval(() => {
      const names = [...this.#lives.values()]
        .filter((life) => life.state === 'loading')
        .map((life) => life.entry.name);
      if (names.length > 0) onStillLoading(names);
    }, 1_000);
    return () => clearInterval(timer);
  }

  async #load(name: string, loading: ReadonlyMap<string, Promise<void>>): Promise<void> {
    const { waits } = this.#resolution;
    await Promise.all((waits.get(name) ?? []).map(async (other) => loading.get(other)));
    const life = this.#lives.get(name);
    if (life === undefined || this.#closed !== undefined) return;
    const absent = unmet(name, this.#needs(name), this.#lives);
    if (absent === undefined) await life.start();
    else life.refuse(this.#refused(name, absent.cause, absent.fix));
  }

  #needs(name: string): readonly Need[] {
    return this.#resolution.needs.get(name) ?? [];
  }

  #refused(name: string, cause: ChassisError, fix: string): Unavailable {
    return unavailable({ capability: `plugin.${name}`, owner: name, phase: 'resolve', cause, fix });
  }

  /** Those that must be there: plugins of the run marked required. */
  async #demand(wanted: ReadonlySet<string>): Promise<void> {
    const { catalogue, config } = this.#project;
    const { blocks } = config.plugins;
    const record = lostRequired(
      [...this.#lives.values()].filter((life) => wanted.has(life.entry.name)),
      this.#broken().filter((plugin) => this.#options.only?.includes(plugin.name) ?? true),
      catalogue.missing.filter(
        ({ capability }) => blocks[capability.slice('plugin.'.length)]?.criticality === 'required',
      ),
    );
    if (record === undefined) return;
    await this.close();
    throw new ChassisError(
      'Unavailable',
      `required ${record.capability} is unavailable: ${record.cause.message}`,
      {
        data: record,
      },
    );
  }

  #life(entry: CatalogueEntry): PluginLife {
    const log: Log = (...line) => this.#options.log?.(entry.name, ...line);
    return new PluginLife({
      entry,
      log,
      prepare: () => prepare(entry, this.#project, this.#secrets, log),
      host: hostFor,
      changed: (life, previous) => this.#changed(life, previous),
      readyEveryMs: this.#options.readyEveryMs ?? 30_000,
      backOff: this.#options.backOff ?? BACK_OFF,
    });
  }

  #changed(life: PluginLife, previous: PluginState): void {
    // One that is being loaded beside the running one, or was taken out, is not part of the generation.
    if (this.#lives.get(life.entry.name) !== life) return;
    this.#generation = this.#build();
    if (life.state !== previous) this.#tell(life, previous);
    if (life.state === 'active' && previous !== 'active') this.#wake(life.entry.name);
  }

  /** Starts those that were only waiting for this plugin. */
  #wake(name: string): void {
    for (const [other, needs] of this.#resolution.needs) {
      const life = this.#lives.get(other);
      if (life?.state !== 'unavailable' || life.record?.phase !== 'resolve') continue;
      if (!needs.some(({ anyOf }) => anyOf.includes(name))) continue;
      if (unmet(other, needs, this.#lives) === undefined) void life.start();
    }
  }

  #tell(life: PluginLife, previous: PluginState): void {
    const status = statusOf(life);
    for (const listener of [...this.#listeners]) {
      try {
        listener(status, previous);
      } catch (error) {
        this.#options.log?.(life.entry.name, 'error', `a listener failed: ${String(error)}`);
      }
    }
  }

  async #retire(life: PluginLife): Promise<void> {
    this.#retiring.add(life);
    await life.drained(DRAIN_MS);
    await life.close();
    this.#retiring.delete(life);
  }

  /**
   * A call that was resolved before a reload and starts after it goes to the new instance, unless what was resolved is
   * no longer what would run.
   */
  #invoke(life: PluginLife, invocation: Invocation): Promise<Result> {
    const current = this.#lives.get(life.entry.name);
    const moved = life.state === 'stopped' && current !== undefined && current !== life;
    return (moved && offersTheSame(life, current, invocation) ? current : life).invoke(invocation);
  }

  #build(): Generation {
    const { catalogue, config } = this.#project;
    const lives = [...this.#lives.values()];
    const broken = this.#broken();
    const owners = [
      ...lives.map((life) => ownerOf(life, (invocation) => this.#invoke(life, invocation))),
      ...this.#idle().map((entry) => ownerOf({ entry, state: entry.enabled ? 'stopped' : 'disabled' })),
      ...broken.map(brokenOwner),
    ];
    const rules = toolRules(config.tools, (keys) => this.#project.origin(keys)?.text ?? 'configuration');
    return buildGeneration(owners, rules, closedBy(lives, broken, catalogue.missing, config));
  }

  /** In the catalogue, but not part of this run. */
  #idle(): readonly CatalogueEntry[] {
    return this.#project.catalogue.entries.filter((entry) => !this.#lives.has(entry.name));
  }

  /** Broken when the project was opened, and not repaired by a reload since. */
  #broken(): readonly BrokenPlugin[] {
    return this.#project.catalogue.broken.filter((plugin) => !this.#lives.has(plugin.name));
  }
}
