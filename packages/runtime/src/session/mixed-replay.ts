/**
 * Mixed replay: chosen boundaries run for real, everything else is answered from the record.
 *
 * Promise: the session it is made from is never written to. What was made is a session of its own, in memory unless a store
 * is given for it; it says what it was made of, and its own strict replay verifies.
 */
import { ChassisError, ErrorCode } from '@chassis/errors';
import {
  memoryWriter,
  newSessionId,
  type SessionHeader,
  type SessionView,
  type Writer,
} from '@chassis/journal';
import type { JsonObject } from '@chassis/types';
import { isUnavailable, type Registry } from '../capability.ts';
import { type ApprovalMode, Approvals, nobody } from '../gate/approval.ts';
import { CircleDetector } from '../gate/detectors.ts';
import { Gate } from '../gate/gate.ts';
import { LimitCounter } from '../gate/limits.ts';
import { type Boundary, MixedSource } from '../gate/mixed-source.ts';
import type { Candidate } from '../gate/nearest-recorded.ts';
import { Recorder } from '../gate/recorder.ts';
import { demandWhole } from '../gate/whole-record.ts';
import { sessionContext } from './context.ts';
import { type Coverage, coverage } from './coverage.ts';
import { changesSomething, dryRegistry } from './dry-registry.ts';
import { type PluginDrift, pluginDrift } from './plugin-drift.ts';
import { variantsFor } from './rewrites.ts';
import type { Surroundings } from './session.ts';
import type { LiveSettings, SessionSettings } from './settings.ts';
import { runTurn, type TurnResult } from './turn.ts';

export interface MixedRequest {
  /** Boundaries that run for real: `model`, `tools`, or the name of a model, a tool or a plugin. */
  readonly live: readonly string[];
  /**
   * Tools, or `tools`, that are called without changing anything: what reads runs for real; what writes is answered from the
   * record where that holds the same call, else refused.
   */
  readonly dry?: readonly string[];
  /** Names that stay on record although their kind is live or dry. */
  readonly except?: readonly string[];
  /** Tools that change something and may do so here without a question; `all` for every one. */
  readonly approve?: readonly string[];
  /** Folder that live tools work in; the session's own without it. */
  readonly workspace?: string;
  /** Stop when the new run has made this many steps. */
  readonly until?: number;
  /** Keep what was made in the store of the surroundings. */
  readonly save?: boolean;
  readonly signal: AbortSignal;
}

export interface MixedReport {
  readonly session: string;
  /** It met no divergence, and each turn ended well or as it did on record. */
  readonly ok: boolean;
  /** The session that was made, when it was saved. */
  readonly made: string | null;
  readonly turns: readonly TurnResult[];
  /** Steps of the new run answered from the record, and those that ran. */
  readonly steps: { readonly recorded: number; readonly live: number };
  readonly live: readonly string[];
  readonly dry: readonly string[];
  readonly divergence?: {
    readonly step: number | null;
    readonly path: string;
    readonly expected: unknown;
    readonly actual: unknown;
    readonly message: string;
    readonly nearest?: Candidate;
  };
  readonly coverage: Coverage;
  readonly plugins: readonly PluginDrift[];
  /** The new run, to be compared with the old one. */
  readonly view: SessionView;
}

/** @throws InvalidParams for a name that neither the record nor the registry knows; DamagedRecord when the record is damaged */
export async function replayMixed(
  view: SessionView,
  around: Surroundings,
  request: MixedRequest,
): Promise<MixedReport> {
  demandWhole(view);
  const named = boundaryOf(view, around.registry, request);
  const isDry = (boundary: Boundary) => named(boundary) === 'dry';
  const registry = dryRegistry(around.registry, (name) => isDry({ kind: 'tool', name }));
  // What a dry run does for real: a tool that only reads.
  const isLive = (boundary: Boundary) => {
    const way = named(boundary);
    if (way !== 'dry') return way === 'live';
    const binding = registry.resolveTool(boundary.name);
    return !isUnavailable(binding) && !changesSomething(binding.definition);
  };
  const header = headerOf(view, around.registry, request);
  const writer =
    request.save === true
      ? await around.store.create(header)
      : memoryWriter(header, { secrets: around.secrets });
  const unsubscribe = writer.subscribe((event) => around.onEvent?.(event));
  const source = new MixedSource(view, isLive, isDry);
  const recorder = new Recorder(writer, around.secrets);
  const turns: TurnResult[] = [];
  let divergence: MixedReport['divergence'];
  let halted = false;
  try {
    writer.append('note.added', { author: 'chassis replay', text: noteOf(view, request) });
    for (const { number, input, tools, model } of view.turns) {
      writer.append('input.received', {
        turn: number,
        content: input,
        ...(tools === undefined ? {} : { tools: writer.blob(tools) }),
        model: model ?? header.model,
      });
      const cancel = new AbortController();
      const stop = () => {
        if (request.until === undefined || writer.view.steps.length < request.until) return;
        halted = writer.view.steps.every((step) => step.seq.finished !== undefined);
        if (halted) cancel.abort();
      };
      const unwatch = writer.subscribe(stop);
      const gate = gateOf(
        writer,
        recorder,
        source,
        { ...around, registry },
        request,
        number,
        cancel.signal,
        isDry,
      );
      try {
        const result = await runTurn(gate, around.registry, header.agent.agent, number, input);
        turns.push(result);
        writer.append('session.ended', result);
        if (result.outcome === 'cancelled') break;
      } catch (thrown) {
        if (!(thrown instanceof ChassisError) || thrown.code !== ErrorCode.Diverged) throw thrown;
        const { nearest, ...data } = thrown.data as Omit<
          NonNullable<typeof divergence>,
          'message' | 'nearest'
        > & {
          nearest: Candidate | null;
        };
        divergence = { ...data, message: thrown.message, ...(nearest === null ? {} : { nearest }) };
        writer.append('session.ended', { turn: number, outcome: 'interrupted', error: thrown.record() });
        break;
      } finally {
        unwatch();
      }
    }
    await writer.barrier();
  } finally {
    unsubscribe();
    await writer.close();
  }
  const made = writer.view.steps.length;
  return {
    session: view.header.id,
    ok: divergence === undefined && (halted || turns.every((turn) => endedWell(view, turn))),
    made: request.save === true ? writer.id : null,
    turns,
    steps: { recorded: source.answered, live: made - source.answered },
    live: request.live,
    dry: request.dry ?? [],
    ...(divergence === undefined ? {} : { divergence }),
    coverage: coverage(view),
    plugins: pluginDrift(view, around.registry, true),
    view: writer.view,
  };
}

/** A run that failed on record and fails the same way again has nothing wrong with it that is new. */
function endedWell(view: SessionView, { turn, outcome, error }: TurnResult): boolean {
  if (outcome === 'ok') return true;
  const recorded = view.turns[turn - 1];
  return recorded?.outcome === outcome && recorded.error?.message === error?.message;
}

function gateOf(
  writer: Writer,
  recorder: Recorder,
  source: MixedSource,
  around: Surroundings,
  request: MixedRequest,
  turn: number,
  halt: AbortSignal,
  isDry: (boundary: Boundary) => boolean,
): Gate {
  const recorded = writer.header.settings as unknown as SessionSettings;
  const settings: LiveSettings = { ...recorded, ...around.settings };
  return new Gate({
    recorder,
    registry: around.registry,
    source,
    approvals: new Approvals(
      writer,
      around.approver ?? nobody,
      modes(around.registry, settings, request, isDry),
    ),
    limits: new LimitCounter(settings.limits, writer.view, turn),
    circles: new CircleDetector(settings.limits.repeats),
    retry: settings.retry,
    workspace: writer.header.workspace,
    signal: AbortSignal.any([request.signal, halt]),
    modelTimeoutMs: settings.model_timeout_ms,
    secret: (name) => around.secret(name),
    clockOffsetMs: recorded.clock_offset_ms,
    ...variantsFor(writer.view),
    model: (number) => writer.view.turns[number - 1]?.model ?? writer.header.model,
    context: (agent, number) => sessionContext(writer.view, agent, number),
    onChunk: (step, chunk) => around.onChunk?.(step, chunk),
    onLog: (...line) => around.onLog?.(...line),
  });
}

/** A tool that changes something does it a second time here: that is asked for, whatever the project says of a first time. */
function modes(
  registry: Registry,
  settings: LiveSettings,
  { approve = [] }: MixedRequest,
  isDry: (boundary: Boundary) => boolean,
): { readonly [tool: string]: ApprovalMode } {
  const free = (name: string) =>
    approve.includes('all') || approve.includes(name) || isDry({ kind: 'tool', name });
  const raised = registry
    .tools()
    .filter(({ definition }) => changesSomething(definition))
    .filter(({ name }) => settings.approval[name] !== 'never')
    .map(({ name }) => [name, free(name) ? 'auto' : 'ask'] as const);
  return { ...settings.approval, ...Object.fromEntries(raised) };
}

/** How a boundary is answered. @throws InvalidParams for a name that nobody knows */
function boundaryOf(
  view: SessionView,
  registry: Registry,
  { live, dry = [], except = [] }: MixedRequest,
): (boundary: Boundary) => 'live' | 'dry' | 'recorded' {
  const owners = new Map(view.steps.map((step) => [`${step.kind} ${step.name}`, step.plugin?.name]));
  const known = new Set([
    ...view.steps.flatMap((step) => [step.name, step.plugin?.name ?? step.name]),
    ...registry.tools().flatMap((tool) => [tool.name, tool.plugin.name]),
    ...registry.plugins().map((plugin) => plugin.name),
  ]);
  if (dry.includes('model'))
    throw new ChassisError(
      'InvalidParams',
      'a model has no dry run: let it run with --live model, or leave it',
    );
  const names = [...live.filter((one) => one !== 'model'), ...dry].filter((one) => one !== 'tools');
  for (const name of [...names, ...except])
    if (!known.has(name) && isUnavailable(registry.resolveModel(name)))
      throw new ChassisError(
        'InvalidParams',
        `${name} is neither model, tools, nor the name of a model, a tool or a plugin of this session`,
        { data: { name, known: [...known].sort() } },
      );
  const ownerOf = ({ kind, name }: Boundary): string | undefined => {
    const recorded = owners.get(`${kind} ${name}`);
    if (recorded !== undefined || kind === 'state') return recorded;
    const binding = kind === 'tool' ? registry.resolveTool(name) : registry.resolveModel(name);
    return isUnavailable(binding) ? undefined : binding.plugin.name;
  };
  return (boundary) => {
    if (boundary.kind === 'state') return 'recorded';
    const owner = ownerOf(boundary);
    const named = (list: readonly string[]) =>
      list.includes(boundary.name) || (owner !== undefined && list.includes(owner));
    const kind = boundary.kind === 'tool' ? 'tools' : 'model';
    if (named(except)) return 'recorded';
    // The closer word wins: a tool's own name before that of its kind.
    if (named(dry)) return boundary.kind === 'tool' ? 'dry' : 'recorded';
    if (named(live)) return 'live';
    return kind === 'tools' && dry.includes(kind) ? 'dry' : live.includes(kind) ? 'live' : 'recorded';
  };
}

function headerOf(view: SessionView, registry: Registry, request: MixedRequest): SessionHeader {
  const { parent: _, ...recorded } = view.header;
  const now = registry.plugins();
  const agent = now.find((plugin) => plugin.name === recorded.agent.name);
  const { live, dry = [], except = [] } = request;
  const made_of = { session: recorded.id, live, dry, except };
  return {
    ...recorded,
    id: newSessionId(),
    created: Date.now(),
    title: `${recorded.title} (replayed with ${waysOf(request)})`,
    workspace: request.workspace ?? recorded.workspace,
    agent: {
      ...recorded.agent,
      ...(agent === undefined ? {} : { version: agent.version, digest: agent.digest }),
    },
    plugins: now
      .filter((plugin) => plugin.state !== 'disabled')
      .map(({ name, version, digest }) => ({ name, version, digest })),
    settings: { ...(recorded.settings as JsonObject), made_of } as JsonObject,
  };
}

function noteOf(view: SessionView, request: MixedRequest): string {
  const { except = [] } = request;
  const but = except.length === 0 ? '' : `, except ${except.join(', ')}`;
  return `Made from session ${view.header.id} with ${waysOf(request)}${but}; every other answer is from its record. A step without step.dispatched was answered from the record.`;
}

/** `model live, tools dry`. */
export function waysOf({ live, dry = [] }: Pick<MixedRequest, 'live' | 'dry'>): string {
  return [
    ...(live.length === 0 ? [] : [`${live.join(', ')} live`]),
    ...(dry.length === 0 ? [] : [`${dry.join(', ')} dry`]),
  ].join(', ');
}
