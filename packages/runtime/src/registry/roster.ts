/**
 * Who is there: the lives of a run, the catalogue that they come from, how they depend on one another.
 *
 * Promise: nothing here starts or stops anything. What is read is consistent: one catalogue and one resolution at a time.
 */
import type { Invocation, PluginStatus, Unavailable } from '../capability.ts';
import type { BrokenPlugin, CatalogueEntry } from '../plugin/catalogue.ts';
import { resolutionOf } from '../plugin/offers.ts';
import type { Need, Resolution } from '../plugin/resolver.ts';
import type { Project } from '../project/project.ts';
import type { Skill } from '../skills/skill.ts';
import { TOOL_BUDGET } from '../tools/offered.ts';
import { Pins } from '../tools/pins.ts';
import { withBuiltIn } from './built-in.ts';
import { buildGeneration, type Generation } from './generation.ts';
import type { PluginLife } from './life.ts';
import type { ReadyReport, StillLoading } from './options.ts';
import { brokenOwner, brokenStatus, closedBy, leftOutRecord, ownerOf, statusOf } from './owners.ts';
import { type ToolRules, toolRules } from './tool-rules.ts';

interface Idle {
  readonly entry: CatalogueEntry;
  readonly state: 'stopped' | 'disabled';
  readonly record?: Unavailable;
}

export class Roster {
  readonly lives = new Map<string, PluginLife>();
  readonly pins: Pins;
  /** As it was read last. */
  #project: Project;
  #skills: readonly Skill[] = [];
  #resolution: Resolution;

  constructor(project: Project) {
    this.#project = project;
    this.pins = new Pins(project.userFolder, project.root);
    this.#resolution = resolutionOf(project.catalogue);
  }

  get resolution(): Resolution {
    return this.#resolution;
  }

  needs(name: string): readonly Need[] {
    return this.#resolution.needs.get(name) ?? [];
  }

  /** The plugins of a run: all, or the named ones with what they need. */
  wanted(only: readonly string[] | undefined): ReadonlySet<string> {
    if (only === undefined) return new Set(this.lives.keys());
    const wanted = new Set<string>();
    const queue = [...only];
    for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
      if (wanted.has(name)) continue;
      wanted.add(name);
      queue.push(...this.needs(name).flatMap(({ anyOf }) => anyOf));
    }
    return wanted;
  }

  /** How plugins would stand to one another with this entry in place of what is there now. */
  resolvedWith(entry: CatalogueEntry): Resolution {
    const running = [...this.lives.values()].map((life) => life.entry);
    const known = new Map(
      [...this.#project.catalogue.entries, ...running, entry].map((one) => [one.name, one]),
    );
    return resolutionOf({ entries: [...known.values()] });
  }

  /** Takes a life in place of the one of its name, with the project that it was read from. */
  adopt(life: PluginLife, project: Project, resolution: Resolution): void {
    this.lives.set(life.entry.name, life);
    this.#project = project;
    this.#resolution = resolution;
  }

  statuses(): readonly PluginStatus[] {
    const { found } = this.#project.skills;
    return [
      ...[...this.lives.values()].map((life) => statusOf(life)),
      ...this.#idle().map((idle) => statusOf(idle)),
      ...this.broken().map(brokenStatus),
    ]
      .map((status) => {
        const skills = found.filter(({ plugin }) => plugin === status.name).map(({ name }) => name);
        return skills.length === 0 ? status : { ...status, skills };
      })
      .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  problems(): readonly Unavailable[] {
    return [
      ...[...this.lives.values()].flatMap((life) => [
        ...(life.record === undefined ? [] : [life.record]),
        ...ownerOf(life).dropped,
      ]),
      ...this.broken()
        .filter((plugin) => plugin.enabled)
        .map((plugin) => plugin.record),
      ...this.missing(),
      ...this.#project.skills.broken,
      ...this.pins.problems(),
    ];
  }

  /** Broken when the project was read, and not repaired by a reload since. */
  broken(): readonly BrokenPlugin[] {
    return this.#project.catalogue.broken.filter((plugin) => !this.lives.has(plugin.name));
  }

  missing(): readonly Unavailable[] {
    return this.#project.catalogue.missing;
  }

  loading(): readonly StillLoading[] {
    return [...this.lives.values()]
      .filter((life) => life.state === 'loading')
      .map((life) => {
        const doing = life.spans.unfinished();
        return { plugin: life.entry.name, ...(doing === undefined ? {} : { doing }) };
      });
  }

  /** Why no tool may run, if so. */
  closed(): Unavailable | undefined {
    const living = [
      ...this.lives.values(),
      ...this.#idle().filter(({ entry }) => entry.leftOut !== undefined),
    ];
    return closedBy(living, this.broken(), this.missing(), this.#project.config);
  }

  generation(
    invoke: (life: PluginLife, invocation: Invocation) => ReturnType<PluginLife['invoke']>,
  ): Generation {
    const { config } = this.#project;
    const owners = [
      ...[...this.lives.values()].map((life) => ownerOf(life, (invocation) => invoke(life, invocation))),
      ...this.#idle().map((idle) => ownerOf(idle)),
      ...this.broken().map(brokenOwner),
    ];
    const rules = toolRules(config.tools, (keys) => this.#project.origin(keys)?.text ?? 'configuration');
    const pinned: ToolRules = {
      ...rules,
      refusal: (plugin, tool, definition) => {
        const manifest = this.lives.get(plugin)?.entry.source.manifest;
        return (
          rules.refusal(plugin, tool, definition) ??
          (manifest === undefined ? undefined : this.pins.refusal(manifest, definition))
        );
      },
    };
    return withBuiltIn(
      (more) => buildGeneration([...owners, ...more], pinned, this.closed()),
      config.tools.budget_tokens ?? TOOL_BUDGET,
      this.skills(),
    );
  }

  /** Skills that can be read now: those of a plugin come and go with it. */
  skills(): readonly Skill[] {
    const now = this.#project.skills.found.filter(
      ({ plugin }) => plugin === undefined || this.lives.get(plugin)?.state === 'active',
    );
    // The same list stays the same value, and so its definition does.
    if (now.length !== this.#skills.length || now.some((skill, i) => skill !== this.#skills[i]))
      this.#skills = now;
    return this.#skills;
  }

  /** What the configuration demands, held against what is there. */
  readiness(generation: Generation): ReadyReport {
    const { agent, model } = this.#project.config;
    const failing: Unavailable[] = [];
    const demand = (found: object): void => {
      if ('cause' in found) failing.push(found as Unavailable);
    };
    demand(generation.agent(agent.use));
    const models = model.use.map((reference) => generation.model(reference));
    if (models.every((found) => 'cause' in found)) for (const found of models) demand(found);
    demand(this.closed() ?? {});
    for (const life of this.lives.values())
      if (life.entry.criticality === 'required') demand(life.record ?? {});
    for (const plugin of this.broken())
      if (plugin.enabled && plugin.criticality === 'required') failing.push(plugin.record);
    const told = new Set(failing.map(({ cause }) => cause.message));
    const degraded = this.problems().filter(({ cause }) => !told.has(cause.message));
    const loading = this.loading();
    return { ready: failing.length === 0 && loading.length === 0, failing, degraded, loading };
  }

  /** In the catalogue, but not part of this run. */
  #idle(): readonly Idle[] {
    return this.#project.catalogue.entries
      .filter((entry) => !this.lives.has(entry.name))
      .map((entry) => {
        const record = leftOutRecord(entry);
        const state = entry.enabled ? 'stopped' : 'disabled';
        return { entry, state, ...(record === undefined ? {} : { record }) };
      });
  }
}
