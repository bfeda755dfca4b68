/**
 * The live capabilities of a run.
 *
 * Promise: `startRegistry` comes back when every plugin has either become active or has a record of why not,
 * no later than the slowest plugin's own deadlines; only a `required` plugin can make it fail. `close` leaves no
 * process, timer or handle behind. What the gate sees is one immutable generation at a time: a change is built aside,
 * and whatever goes wrong on the way leaves what was there.
 */
import { ChassisError, toChassisError } from '@chassis/errors';
import { pointerKeys } from '@chassis/schema';
import type { Result } from '@chassis/types';
import type { Invocation, PluginChange, PluginState, PluginStatus, Unavailable } from '../capability.ts';
import type { Diagnostics, Log } from '../host/host.ts';
import { hostFor } from '../host/kinds.ts';
import type { CatalogueEntry } from '../plugin/catalogue.ts';
import { unavailable } from '../plugin/unavailable.ts';
import type { Project } from '../project/project.ts';
import { openSecrets, type Secrets } from '../project/secrets.ts';
import { quarantined } from '../tools/offered.ts';
import { BACK_OFF } from './back-off.ts';
import { ERROR_RATE } from './error-rate.ts';
import type { Generation } from './generation.ts';
import { PluginLife } from './life.ts';
import type { LiveRegistry, Point, StartRegistry } from './options.ts';
import { statusOf } from './owners.ts';
import { placeOf, prepare } from './prepare.ts';
import { entryOf } from './refresh.ts';
import { brokenByIt, changeOf, dependents, lostRequired, offersTheSame, unmet } from './relations.ts';
import { Roster } from './roster.ts';
import { untilLoaded } from './still-loading.ts';

/** How long calls under way may go on on an instance that was replaced. */
const DRAIN_MS = 60_000;

type Listener = (status: PluginStatus, previous: PluginState, change: PluginChange) => void;

/** @throws Unavailable (the record in `data`) when a required plugin cannot start; everything is closed then */
export async function startRegistry(project: Project, options: StartRegistry = {}): Promise<LiveRegistry> {
  const registry = new PluginRegistry(project, options);
  await registry.start();
  return registry;
}

class PluginRegistry implements LiveRegistry {
  project: Project;
  readonly #options: StartRegistry;
  readonly #secrets: Secrets;
  readonly #roster: Roster;
  readonly #listeners = new Set<Listener>();
  /** What listeners were told last of a plugin. */
  readonly #told = new Map<string, PluginState>();
  /** Replaced or taken out, with calls still under way. */
  readonly #retiring = new Set<PluginLife>();
  readonly #onAbort = (): void => void this.close();
  #generation: Generation;
  #changing: Promise<unknown> = Promise.resolve();
  #closed: Promise<void> | undefined;

  constructor(project: Project, options: StartRegistry) {
    this.project = project;
    this.#options = options;
    this.#secrets = options.secrets ?? openSecrets(project.config, project.env, options.onSecret);
    this.#roster = new Roster(project);
    for (const entry of project.catalogue.entries) {
      if (entry.enabled) this.#roster.lives.set(entry.name, this.#life(entry, project));
    }
    this.#generation = this.#build();
  }

  async start(): Promise<void> {
    const { signal, only } = this.#options;
    signal?.addEventListener('abort', this.#onAbort, { once: true });
    if (signal?.aborted) this.#onAbort();
    const wanted = this.#roster.wanted(only);
    const { refused, levels } = this.#roster.resolution;
    for (const [name, refusal] of refused) {
      if (wanted.has(name))
        this.#roster.lives.get(name)?.refuse(refusedRecord(name, refusal.cause, refusal.fix), 'failed');
    }
    const loading = new Map<string, Promise<void>>();
    for (const level of levels) {
      for (const name of level) if (wanted.has(name)) loading.set(name, this.#load(name, loading));
    }
    await untilLoaded(Promise.all(loading.values()), this.#options.onStillLoading, () =>
      this.#roster.loading(),
    );
    await this.#demand(wanted);
    for (const { name, state } of this.plugins()) this.#told.set(name, state);
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

  changedTools() {
    return this.#roster.pins.changed();
  }

  acceptTools(plugin: string) {
    const accepted = this.#roster.pins.accept(plugin);
    this.#generation = this.#build();
    return accepted;
  }

  skills() {
    return this.#roster.skills();
  }

  policies() {
    return this.#generation.policies;
  }

  plugins() {
    return this.#roster.statuses();
  }

  problems() {
    const { use } = this.project.config.model;
    return [...this.#roster.problems(), ...quarantined(this.#generation.usable, use)];
  }

  readiness() {
    return this.#roster.readiness(this.#generation);
  }

  diagnostics(name: string): Diagnostics | undefined {
    return this.#roster.lives.get(name)?.diagnostics();
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  reload(name: string): Promise<PluginStatus> {
    return this.#inTurn(() => this.#reload(name));
  }

  unload(name: string, { force = false }: { readonly force?: boolean } = {}): Promise<void> {
    return this.#inTurn(async () => {
      const life = this.#roster.lives.get(name);
      if (life === undefined) throw new ChassisError('InvalidParams', `plugin ${name} is not loaded`);
      this.#at('unload', name);
      const [needing] = force ? [] : dependents(name, this.#roster);
      if (needing !== undefined) throw needing;
      this.#roster.lives.delete(name);
      this.#swap(() => this.#roster.lives.set(name, life), name);
      this.#tell(life, 'unloaded');
      await this.#retire(life);
    });
  }

  close(): Promise<void> {
    this.#closed ??= this.#closeAll();
    return this.#closed;
  }

  async #closeAll(): Promise<void> {
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
    const { lives, resolution } = this.#roster;
    await Promise.all([...this.#retiring].map((life) => life.close()));
    // Whoever needs others goes first.
    for (const level of resolution.levels.toReversed()) {
      await Promise.all(level.map(async (name) => lives.get(name)?.close()));
    }
    await Promise.all([...lives.values()].map((life) => life.close()));
    this.#listeners.clear();
  }

  /** One change at a time: each sees what the one before it has left. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#changing.then(work);
    this.#changing = turn.catch(() => {});
    return turn;
  }

  async #reload(name: string): Promise<PluginStatus> {
    this.#at('read', name);
    const project = await this.project.reopen();
    const entry = entryOf(name, project);
    this.#at('admit', name);
    await this.#options.admit?.(project, entry);
    this.#at('resolve', name);
    const resolution = this.#roster.resolvedWith(entry);
    const old = this.#roster.lives.get(name);
    const refusal =
      resolution.refused.get(name) ??
      unmet(name, resolution.needs.get(name) ?? [], this.#roster.lives) ??
      brokenByIt(resolution, this.#roster);
    if (refusal !== undefined) throw cannot(name, refusedRecord(name, refusal.cause, refusal.fix));
    this.#options.rests?.remove(name);
    const secrets = this.#secrets.under(project.config);
    const life = this.#life(entry, project, secrets);
    try {
      await life.start();
      if (this.#closed !== undefined) throw new ChassisError('Cancelled', 'closed');
      if (life.state !== 'active') throw cannot(name, life.record);
      const { lives } = this.#roster;
      const before = { project: this.project, resolution: this.#roster.resolution };
      this.#roster.adopt(life, project, resolution);
      this.#swap(() => {
        this.#roster.adopt(old ?? life, before.project, before.resolution);
        if (old === undefined) lives.delete(name);
      }, name);
    } catch (error) {
      // What is not running has nothing to lose: the newest reason is the best one.
      if (old !== undefined && old.state !== 'active' && life.record !== undefined)
        old.refuse(life.record, old.state === 'failed' ? 'failed' : 'unavailable');
      await life.close();
      throw error;
    }
    this.project = project;
    this.#secrets.adopt(project.config);
    this.#tell(life, old === undefined || old.state === 'stopped' ? 'loaded' : 'reloaded');
    this.#wake(name);
    if (old !== undefined) void this.#retire(old);
    return statusOf(life);
  }

  /** Builds the generation of what is there now and swaps it in; when that fails, `undo` and everything is as before. */
  #swap(undo: () => void, plugin: string): void {
    try {
      this.#at('build', plugin);
      const next = this.#build();
      this.#at('swap', plugin);
      this.#generation = next;
    } catch (error) {
      undo();
      throw error;
    }
  }

  async #load(name: string, loading: ReadonlyMap<string, Promise<void>>): Promise<void> {
    const { lives, resolution } = this.#roster;
    await Promise.all((resolution.waits.get(name) ?? []).map(async (other) => loading.get(other)));
    const life = lives.get(name);
    if (life === undefined || this.#closed !== undefined) return;
    const absent = unmet(name, this.#roster.needs(name), lives);
    if (absent !== undefined) return life.refuse(refusedRecord(name, absent.cause, absent.fix));
    const rest = this.#options.rests?.find(life.entry);
    if (rest !== undefined) return life.refuse(rest, 'failed');
    await life.start();
  }

  /** Those that must be there: plugins of the run marked required. */
  async #demand(wanted: ReadonlySet<string>): Promise<void> {
    const { blocks } = this.project.config.plugins;
    const record = lostRequired(
      [...this.#roster.lives.values()].filter((life) => wanted.has(life.entry.name)),
      this.#roster.broken().filter((plugin) => this.#options.only?.includes(plugin.name) ?? true),
      this.#roster
        .missing()
        .filter(({ capability }) => blocks[capability.slice('plugin.'.length)]?.criticality === 'required'),
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

  #life(entry: CatalogueEntry, project: Project, secrets = this.#secrets): PluginLife {
    const log: Log = (...line) => this.#options.log?.(entry.name, ...line);
    return new PluginLife({
      entry,
      log,
      prepare: (spans) => prepare(entry, project, secrets, log, spans),
      host: hostFor,
      changed: (life, previous) => this.#changed(life, previous),
      rested: (life, record) => this.#rested(life, record),
      configPlace: (pointer) => placeOf(project, entry, 'config', pointerKeys(pointer)),
      at: (point) => this.#at(point, entry.name),
      offered: (offering) => this.#offered(offering),
      readyEveryMs: this.#options.readyEveryMs ?? 30_000,
      backOff: this.#options.backOff ?? BACK_OFF,
      errorRate: this.#options.errorRate ?? ERROR_RATE,
    });
  }

  #offered(life: PluginLife): void {
    if (this.#roster.lives.get(life.entry.name) !== life) return;
    this.#generation = this.#build();
    this.#tell(life, 'changed');
  }

  #changed(life: PluginLife, previous: PluginState): void {
    const { name } = life.entry;
    // One that is being loaded beside the running one, or was taken out, is not part of the generation.
    if (this.#roster.lives.get(name) !== life) return;
    this.#generation = this.#build();
    const change = changeOf(this.#told.get(name), life);
    if (change !== undefined) this.#tell(life, change);
    if (life.state === 'active' && previous !== 'active') this.#wake(name);
  }

  #rested(life: PluginLife, record: Unavailable): void {
    if (this.#roster.lives.get(life.entry.name) !== life) return;
    try {
      this.#options.rests?.add(life.entry, record);
    } catch (error) {
      this.#options.log?.(
        life.entry.name,
        'warn',
        `its rest cannot be remembered: ${toChassisError(error).message}`,
      );
    }
  }

  /** Starts those that were only waiting for this plugin. */
  #wake(name: string): void {
    const { lives, resolution } = this.#roster;
    for (const [other, needs] of resolution.needs) {
      const life = lives.get(other);
      if (life?.record?.phase !== 'resolve' || life.state === 'active' || life.state === 'loading') continue;
      if (resolution.refused.has(other) || !needs.some(({ anyOf }) => anyOf.includes(name))) continue;
      if (unmet(other, needs, lives) === undefined) void life.start();
    }
  }

  #tell(life: PluginLife, change: PluginChange): void {
    const { name } = life.entry;
    const previous = this.#told.get(name) ?? 'stopped';
    const status = statusOf(life);
    this.#told.set(name, change === 'unloaded' ? 'stopped' : status.state);
    for (const listener of [...this.#listeners]) {
      try {
        this.#at('tell', name);
        listener(status, previous, change);
      } catch (error) {
        this.#options.log?.(name, 'error', `a listener failed: ${String(error)}`);
      }
    }
  }

  /** Closes it once its calls are done. Never throws. */
  async #retire(life: PluginLife): Promise<void> {
    this.#retiring.add(life);
    try {
      this.#at('drain', life.entry.name);
      await life.drained(DRAIN_MS);
      this.#at('retire', life.entry.name);
    } catch (error) {
      this.#options.log?.(life.entry.name, 'warn', `it is closed at once: ${toChassisError(error).message}`);
    }
    await life.close();
    this.#retiring.delete(life);
  }

  /**
   * A call that was resolved before a reload and starts after it goes to the new instance, unless what was resolved is
   * no longer what would run.
   */
  #invoke(life: PluginLife, invocation: Invocation): Promise<Result> {
    const current = this.#roster.lives.get(life.entry.name);
    const moved = life.state === 'stopped' && current !== undefined && current !== life;
    return (moved && offersTheSame(life, current, invocation) ? current : life).invoke(invocation);
  }

  #build(): Generation {
    return this.#roster.generation((life, invocation) => this.#invoke(life, invocation));
  }

  #at(point: Point, plugin: string): void {
    this.#options.at?.(point, plugin);
  }
}

function refusedRecord(name: string, cause: ChassisError, fix: string): Unavailable {
  return unavailable({ capability: `plugin.${name}`, owner: name, phase: 'resolve', cause, fix });
}

function cannot(name: string, record: Unavailable | undefined): ChassisError {
  return new ChassisError(
    'Unavailable',
    `plugin ${name} cannot be reloaded: ${record?.cause.message ?? 'it did not become active'}`,
    { data: record },
  );
}
