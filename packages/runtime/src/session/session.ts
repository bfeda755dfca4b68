/**
 * A live session: a journal that is open for writing, a gate before it, and turns.
 *
 * Promise: whatever ends a turn is on disk before it is told; a session that was interrupted goes on exactly where its record
 * ends, or closes what was open and says so.
 */
import { ChassisError, type ErrorRecord } from '@chassis/errors';
import {
  type Edit,
  type Event,
  newSessionId,
  type Reader,
  type Secrets,
  type SessionHeader,
  type SessionView,
  type Store,
  unfinishedSteps,
  type Writer,
} from '@chassis/journal';
import type { Json, JsonObject, ModelChunk, ToolSpec } from '@chassis/types';
import type { Registry } from '../capability.ts';
import { Approvals, type Approver, nobody } from '../gate/approval.ts';
import { CircleDetector } from '../gate/detectors.ts';
import { Gate } from '../gate/gate.ts';
import { LimitCounter } from '../gate/limits.ts';
import type { TurnModel } from '../gate/options.ts';
import { RecordSource } from '../gate/record-source.ts';
import { Recorder } from '../gate/recorder.ts';
import { liveSource, type Source } from '../gate/source.ts';
import { offeredTools, TOOL_BUDGET } from '../tools/offered.ts';
import { sessionContext } from './context.ts';
import { beforeTurn, forkPoint, isInput } from './fork.ts';
import { closeOpenSteps, reopenTurn } from './resume.ts';
import { rewriteOf, rewritesOf, variantsFor } from './rewrites.ts';
import { isOffered, type LiveSettings, type SessionSettings } from './settings.ts';
import { runTurn, type TurnResult } from './turn.ts';

/** What a session needs from the process around it. */
export interface Surroundings {
  readonly store: Store;
  readonly registry: Registry;
  readonly secrets: Secrets;
  secret(name: string): Promise<string>;
  readonly approver?: Approver;
  /** In force in this process; without them a session goes on under those of its header. */
  readonly settings?: Partial<LiveSettings>;
  onEvent?(event: Event): void;
  onChunk?(step: number, chunk: ModelChunk): void;
  onLog?(plugin: string, level: string, message: string, data?: Json): void;
}

export interface NewSession {
  readonly title: string;
  readonly workspace: string;
  readonly project: string;
  readonly chassis: string;
  readonly agent: string;
  readonly model: TurnModel;
  readonly settings: SessionSettings;
}

export interface ForkRequest {
  readonly parent: string;
  /** Step after which the new session goes its own way. */
  readonly at: number;
  /** Of what the step answered (`/output/…`); or of what it was asked (`/input/…`), then it runs anew. */
  readonly edits: readonly Edit[];
  /** Another user message for the turn of the step: the fork leaves before that turn, and `prompt` begins it. */
  readonly message?: string;
  readonly title?: string;
  /** From here on, in the turn that goes on too. */
  readonly model?: TurnModel;
  readonly workspace?: string;
  /** What the clock shows when the fork goes on, milliseconds since the epoch; it goes on from there. */
  readonly clock?: number;
  /** Another script for the scripted model from here on. */
  readonly script?: string;
}

export class Session {
  readonly #around: Surroundings;
  readonly #writer: Writer;
  #cancel = new AbortController();
  /** Tools that were left out, as told. */
  readonly #quarantined = new Set<string>();
  readonly #unsubscribe: (() => void)[] = [];

  private constructor(around: Surroundings, writer: Writer) {
    this.#around = around;
    this.#writer = writer;
    this.#unsubscribe.push(writer.subscribe((event) => around.onEvent?.(event)));
    this.#unsubscribe.push(
      around.registry.subscribe(({ name, version, digest, state, tools, unavailable }, _previous, change) => {
        const words = change === 'unloaded' ? 'taken out' : change === 'changed' ? offering(tools) : state;
        const reason = unavailable?.cause.message ?? words;
        writer.append('plugin.changed', { plugin: name, change, reason, data: { version, digest, state } });
      }),
    );
  }

  static async create(around: Surroundings, request: NewSession): Promise<Session> {
    const { agent, settings, ...rest } = request;
    const header: SessionHeader = {
      format: 'chassis.session',
      v: 1,
      id: newSessionId(),
      created: Date.now(),
      ...rest,
      agent: agentRef(around.registry, agent),
      plugins: pluginRefs(around.registry),
      settings: settings as unknown as JsonObject,
    };
    const writer = await around.store.create(header);
    await tellBeginning(around, writer.id, 0);
    return new Session(around, writer);
  }

  /** Opens a session to go on with it. @throws Conflict when another process holds it */
  static async open(around: Surroundings, id: string, options: { force?: boolean } = {}): Promise<Session> {
    const last = around.onEvent && (await (await around.store.reader(id)).lastSeq());
    const writer = await around.store.open(id, options);
    if (last !== undefined) await tellBeginning(around, id, last + 1);
    return new Session(around, writer);
  }

  /** A new session that shares the parent's past up to a step, with edits of that step. */
  static async fork(around: Surroundings, request: ForkRequest): Promise<Session> {
    const reader = await around.store.reader(request.parent);
    const view = await reader.view();
    const point =
      request.message === undefined
        ? forkPoint(view, request.at, request.edits)
        : beforeTurn(view, request.at, await turnStart(reader, view, view.step(request.at)?.turn));
    const asked = request.edits.filter(isInput);
    // A turn that begins anew is asked with its own model; within one, the change is made where the request passes.
    const rewrite = request.message === undefined ? rewriteOf(view, point.turn, asked, request.model) : null;
    const { parent: _, ...parent } = reader.header;
    const header: SessionHeader = {
      ...parent,
      id: newSessionId(),
      created: Date.now(),
      title: request.title ?? parent.title,
      workspace: request.workspace ?? parent.workspace,
      model: request.model ?? parent.model,
      plugins: pluginRefs(around.registry),
      settings: {
        ...parent.settings,
        ...(request.script === undefined ? {} : { script: request.script }),
        ...(request.clock === undefined ? {} : { clock_offset_ms: request.clock - Date.now() }),
        ...(rewrite === null ? {} : { forks: [...rewritesOf(view), rewrite] as unknown as Json }),
      },
      parent: { session: request.parent, seq: point.seq, step: point.step, hash: '' },
    };
    const writer = await around.store.fork(request.parent, point.seq, header);
    // A turn that begins anew leaves nothing open; within one, what had not finished there runs anew.
    const open = request.message === undefined ? unfinishedSteps(writer.view) : [];
    writer.append('session.forked', {
      parent: { session: request.parent, seq: point.seq, step: point.step },
      // What a step is asked is changed in the header: the step itself is not part of the fork, it runs anew.
      edits: request.edits.filter((edit) => !isInput(edit)),
      rerun: open.map(({ number }) => number),
    });
    await writer.barrier();
    await tellBeginning(around, writer.id, point.seq + 1);
    return new Session(around, writer);
  }

  get id(): string {
    return this.#writer.id;
  }

  get view(): SessionView {
    return this.#writer.view;
  }

  /** A new turn. What an interrupted turn left open is closed first: nothing of it is run again. */
  async prompt(content: string, model?: TurnModel): Promise<TurnResult> {
    closeOpenSteps(this.#writer);
    const { header, turns } = this.view;
    const turn = turns.length + 1;
    const asked = model ?? header.model;
    this.#writer.append('input.received', {
      turn,
      content,
      tools: this.#writer.blob(this.#tools([asked.name, ...asked.fallbacks])),
      model: asked,
    });
    return this.#run(turn, liveSource);
  }

  /** Goes on with the last turn: answers on record are used, what is missing runs. @throws InvalidParams when it is over */
  async resume(): Promise<TurnResult> {
    const turn = reopenTurn(this.#writer, this.#around.registry);
    return this.#run(turn, new RecordSource(this.view, { strict: false, fromTurn: turn }));
  }

  /** Stops the running turn: running steps are told, and what they answer is recorded. */
  cancel(): void {
    this.#cancel.abort();
  }

  async close(): Promise<void> {
    for (const end of this.#unsubscribe) end();
    await this.#writer.close();
  }

  async #run(turn: number, source: Source): Promise<TurnResult> {
    const { registry } = this.#around;
    const content = this.view.turns[turn - 1]?.input ?? '';
    this.#cancel = new AbortController();
    try {
      const result = await runTurn(
        this.#gate(source, turn),
        registry,
        this.view.header.agent.agent,
        turn,
        content,
      );
      await this.#end(result);
      return result;
    } catch (fault) {
      // A journal that cannot write cannot record its own end either; a divergence can be.
      if (this.#writer.failed === undefined && fault instanceof ChassisError)
        await this.#end({ turn, outcome: 'interrupted', error: fault.record() });
      throw fault;
    }
  }

  async #end(result: TurnResult): Promise<void> {
    this.#writer.append('session.ended', result);
    await this.#writer.barrier();
  }

  #gate(source: Source, turn: number): Gate {
    const around = this.#around;
    const recorded = this.view.header.settings as unknown as SessionSettings;
    const settings: LiveSettings = { ...recorded, ...around.settings };
    return new Gate({
      recorder: new Recorder(this.#writer, around.secrets),
      registry: around.registry,
      source,
      approvals: new Approvals(this.#writer, around.approver ?? nobody, settings.approval),
      limits: new LimitCounter(settings.limits, this.view, turn),
      circles: new CircleDetector(settings.limits.repeats),
      retry: settings.retry,
      workspace: this.view.header.workspace,
      signal: this.#cancel.signal,
      modelTimeoutMs: settings.model_timeout_ms,
      secret: (name) => around.secret(name),
      clockOffsetMs: recorded.clock_offset_ms,
      ...variantsFor(this.view),
      model: (number) => this.view.turns[number - 1]?.model ?? this.view.header.model,
      context: (agent, number) => sessionContext(this.view, agent, number),
      onChunk: (step, chunk) => around.onChunk?.(step, chunk),
      onLog: (...line) => around.onLog?.(...line),
    });
  }

  /** What the models are shown. A tool that one of their providers would refuse is left out, and said so once. */
  #tools(models: readonly string[]): readonly ToolSpec[] {
    const { tools } = this.view.header.settings as unknown as SessionSettings;
    const { specs, quarantined } = offeredTools(
      this.#around.registry.tools().filter((tool) => isOffered(tool.name, tools)),
      models,
      tools.budget_tokens ?? TOOL_BUDGET,
    );
    for (const { owner, cause } of quarantined) {
      if (this.#quarantined.has(cause.message)) continue;
      this.#quarantined.add(cause.message);
      this.#writer.append('plugin.changed', {
        plugin: owner ?? '',
        change: 'unavailable',
        reason: cause.message,
      });
    }
    return specs;
  }
}

/** Sequence number of the event that began a turn. */
/** What was recorded before anybody could watch is told to whoever does, before anything else. */
async function tellBeginning(around: Surroundings, id: string, from: number): Promise<void> {
  if (around.onEvent === undefined) return;
  const reader = await around.store.reader(id);
  for await (const event of reader.events({ from, blobs: false })) around.onEvent(event as Event);
}

async function turnStart(reader: Reader, { marks }: SessionView, turn: number | undefined): Promise<number> {
  const known = turn === undefined ? undefined : marks?.began(turn);
  if (known !== undefined) return known;
  for await (const event of reader.events({ blobs: false }))
    if (event.type === 'input.received' && (event.data as { turn?: number }).turn === turn) return event.seq;
  throw new ChassisError('InvalidParams', `session ${reader.id} has no turn ${turn}`);
}

function pluginRefs(registry: Registry): SessionHeader['plugins'] {
  return registry
    .plugins()
    .filter((plugin) => plugin.state !== 'disabled')
    .map(({ name, version, digest }) => ({ name, version, digest }));
}

function agentRef(registry: Registry, agent: string): SessionHeader['agent'] {
  const binding = registry.resolveAgent(agent);
  if ('cause' in binding) throw unavailable(binding.cause, binding);
  return { ...binding.plugin, agent };
}

function unavailable(cause: ErrorRecord, data: object): ChassisError {
  return new ChassisError('Unavailable', cause.message, { data });
}

function offering(tools: readonly string[]): string {
  const named = tools.slice(0, 20).join(', ');
  return `its tools are now ${named || 'none'}${tools.length > 20 ? ', …' : ''}`;
}
