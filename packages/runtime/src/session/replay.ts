/**
 * Strict replay: the agent's own code runs again, and every answer comes from the record.
 *
 * Promise: no model, tool, network, clock or process but the agent's own is touched; nothing is written; the first difference
 * is named with step, JSON Pointer, expected and actual value.
 */
import { firstDifference } from '@chassis/analyze';
import { ChassisError, ErrorCode } from '@chassis/errors';
import type { Secrets, SessionView, Turn, Writer } from '@chassis/journal';
import type { Json, PluginRef } from '@chassis/types';
import type { Registry } from '../capability.ts';
import { Approvals, nobody } from '../gate/approval.ts';
import { Gate } from '../gate/gate.ts';
import { LimitCounter } from '../gate/limits.ts';
import type { Candidate } from '../gate/nearest-recorded.ts';
import { RecordSource } from '../gate/record-source.ts';
import { Recorder } from '../gate/recorder.ts';
import { demandWhole } from '../gate/whole-record.ts';
import { sessionContext } from './context.ts';
import { type Coverage, coverage } from './coverage.ts';
import { isWatched, paced, type Watching } from './paced.ts';
import { type PluginDrift, pluginDrift } from './plugin-drift.ts';
import { variantsFor } from './rewrites.ts';
import type { SessionSettings } from './settings.ts';
import { runTurn } from './turn.ts';

export interface Divergence {
  readonly turn: number;
  /** The recorded step that differs; null when the difference is beyond the record or in the turn's end. */
  readonly step: number | null;
  /** JSON Pointer into the step, or `/answer`, `/outcome` of the turn. */
  readonly path: string;
  readonly expected: Json;
  readonly actual: Json;
  readonly message: string;
  /** What the record holds that comes nearest to what was asked. */
  readonly nearest?: Candidate;
  /** Whose code asked: the agent's plugin, as recorded and as it is now. */
  readonly plugin: { readonly name: string; readonly recorded: PluginRef; readonly now: PluginRef | null };
}

export interface ReplayReport {
  readonly session: string;
  readonly ok: boolean;
  readonly turns: number;
  /** Steps answered from the record. */
  readonly steps: number;
  /** The record ends in the middle of a turn: it was followed to there. */
  readonly incomplete: boolean;
  /** The step it was to stop behind, when it did. */
  readonly until?: number;
  readonly divergence?: Divergence;
  readonly coverage: Coverage;
  /** Plugins whose code is another than on record. No divergence by itself: the run may be the same. */
  readonly plugins: readonly PluginDrift[];
}

export interface ReplayOptions extends Watching {
  /** Stop when every step up to this number has been answered. */
  readonly until?: number;
  /** Makes equal what may differ in requests and arguments and means nothing. */
  normalise?(text: string): string;
}

/**
 * @param registry holds the agent's own plugin; it is asked for nothing else
 * @throws DamagedRecord when the record is damaged: it is no measure then
 */
export async function replay(
  view: SessionView,
  registry: Registry,
  secrets: Secrets,
  signal: AbortSignal,
  options: ReplayOptions = {},
): Promise<ReplayReport> {
  demandWhole(view);
  const { until } = options;
  const record = new RecordSource(view, { strict: true, ...options });
  const source = isWatched(options) ? paced(record, options, signal) : record;
  const settings = view.header.settings as unknown as SessionSettings;
  const writer = sealed(view);
  const recorder = new Recorder(writer, secrets);
  const approvals = new Approvals(writer, nobody, {});
  // What stopped the run then is in its answers; nothing here costs anything.
  const limits = new LimitCounter({ steps: Number.POSITIVE_INFINITY }, view, 0);
  const report = {
    session: view.header.id,
    turns: 0,
    incomplete: false,
    coverage: coverage(view),
    plugins: pluginDrift(view, registry, false),
  };
  for (const turn of view.turns) {
    const gate = new Gate({
      recorder,
      registry,
      source,
      approvals,
      limits,
      retry: settings.retry,
      workspace: view.header.workspace,
      signal,
      modelTimeoutMs: settings.model_timeout_ms,
      secret: () => Promise.reject(new ChassisError('Unavailable', 'a replay has no secrets')),
      ...variantsFor(view),
      model: (number) => view.turns[number - 1]?.model ?? view.header.model,
      context: (agent, number) => sessionContext(view, agent, number),
    });
    const divergence = await followed(gate, registry, view, turn);
    if (record.halted)
      return {
        ...report,
        turns: turn.number,
        ok: true,
        steps: record.answered,
        ...(until === undefined ? {} : { until, coverage: coverage(view, until, record.given) }),
      };
    if (divergence === 'record ends') report.incomplete = true;
    else if (divergence !== null) return { ...report, ok: false, steps: record.answered, divergence };
    report.turns++;
  }
  return { ...report, ok: true, steps: record.answered };
}

async function followed(
  gate: Gate,
  registry: Registry,
  view: SessionView,
  turn: Turn,
): Promise<Divergence | 'record ends' | null> {
  try {
    const result = await runTurn(gate, registry, view.header.agent.agent, turn.number, turn.input);
    if (result.error?.code === ErrorCode.Cancelled && gate.options.signal.aborted)
      throw ChassisError.from(result.error);
    if (turn.outcome === undefined || turn.outcome === 'interrupted') return null;
    const actual = {
      outcome: result.outcome,
      answer: result.answer ?? null,
      error: result.error?.message ?? null,
    };
    return endDiffers(turn, actual, asking(view, registry));
  } catch (thrown) {
    if (!(thrown instanceof ChassisError) || thrown.code !== ErrorCode.Diverged) throw thrown;
    const { nearest, ...data } = thrown.data as Found;
    // A turn that was cut has no end on record: the agent asking for more is what it did then, too.
    if (data.step === null && turn.outcome !== 'ok' && turn.outcome !== 'failed') return 'record ends';
    return {
      turn: turn.number,
      ...data,
      message: thrown.message,
      ...(nearest === null ? {} : { nearest }),
      plugin: asking(view, registry),
    };
  }
}

type Found = Pick<Divergence, 'step' | 'path' | 'expected' | 'actual'> & {
  readonly nearest: Candidate | null;
};

/** The plugin whose code a replay runs: a divergence is its doing. */
function asking(view: SessionView, registry: Registry): Divergence['plugin'] {
  const { name, version, digest } = view.header.agent;
  const now = registry.plugins().find((plugin) => plugin.name === name);
  return {
    name,
    recorded: { name, version, digest },
    now: now === undefined ? null : { name, version: now.version, digest: now.digest },
  };
}

function endDiffers(
  turn: Turn,
  actual: { outcome: string; answer: string | null; error: string | null },
  plugin: Divergence['plugin'],
): Divergence | null {
  const expected = {
    outcome: turn.outcome ?? null,
    answer: turn.answer ?? null,
    error: turn.error?.message ?? null,
  };
  const difference = firstDifference(expected as Json, actual as Json);
  if (difference === null) return null;
  return {
    turn: turn.number,
    step: null,
    path: difference.path,
    expected: (difference.expected ?? null) as Json,
    actual: (difference.actual ?? null) as Json,
    message: `turn ${turn.number} ended otherwise than the record shows`,
    plugin,
  };
}

/** A writer that shows the record and takes nothing: a replay that tries to write has a fault. */
function sealed(view: SessionView): Writer {
  const refuse = () => {
    throw new ChassisError('InternalError', 'a replay writes nothing');
  };
  /** Events of plugins answer nothing: what they would write is on record already. */
  const append: Writer['append'] = (type) => (type.startsWith('x-') ? ({} as never) : refuse());
  return {
    id: view.header.id,
    header: view.header,
    view,
    failed: undefined,
    append,
    blob: refuse,
    barrier: async () => {},
    subscribe: () => () => {},
    close: async () => {},
  };
}
