/**
 * The one gate: every model call, tool call, state transition, clock and random reading of an agent goes through here.
 *
 * Promise: the intent is on record before anything is decided, the dispatch is on disk before any effect, and the outcome
 * is on record before anyone sees it. Live, replay, resume and fork differ only in the `source`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ChassisError, ErrorCode, toChassisError } from '@chassis/errors';
import type { Step, StepStatus } from '@chassis/journal';
import type { Json, ModelResponse, Result, Usage } from '@chassis/types';
import {
  isUnavailable,
  type ModelBinding,
  type PolicyBinding,
  type ToolBinding,
  type Unavailable,
} from '../capability.ts';
import type { Ask, ModelAsk, Outcome, ToolAsk } from './ask.ts';
import { attempt } from './attempt.ts';
import { CauseTracker } from './causes.ts';
import { checkInput, checkModelResponse, checkOutput } from './checks.ts';
import { checkDepth, checkPlaces } from './depth.ts';
import { HostDesk } from './desk.ts';
import { circleError } from './detectors.ts';
import { limitError } from './limits.ts';
import type { GateFace, GateOptions } from './options.ts';
import { POLICY_AGENT, type Verdict, verdictOf } from './policies.ts';
import { inTurn, isLimited } from './rates.ts';
import { newTraceId, type OpenStep } from './recorder.ts';
import { mayFallBack, pauseBeforeRetry, whenBack } from './retry.ts';
import type { Answer } from './source.ts';

export class Gate implements GateFace {
  readonly options: GateOptions;
  readonly #causes: CauseTracker;

  constructor(options: GateOptions) {
    this.options = options;
    this.#causes = new CauseTracker();
  }

  /**
   * The first thing that went wrong with the run itself (Diverged, a journal that cannot write). Agent code may catch what
   * `step` throws; whoever runs the turn looks here.
   */
  fault: ChassisError | undefined;
  /** Why nothing more runs in this turn. */
  #stopped: ChassisError | undefined;

  /** @throws Diverged, Cancelled, and errors of the journal itself; a step that fails is an outcome */
  async step(ask: Ask): Promise<Outcome> {
    try {
      return await this.#step(ask);
    } catch (thrown) {
      const error = toChassisError(thrown);
      if (error.code !== ErrorCode.Cancelled) this.fault ??= error;
      throw error;
    }
  }

  async #step(made: Ask): Promise<Outcome> {
    if (this.fault !== undefined) throw this.fault;
    const { recorder, source, signal } = this.options;
    const { ask, digest } = this.#edited(made);
    const found = source.recall(ask, digest);
    const recalled = found instanceof Promise ? await found : found;
    if (recalled.kind === 'answer')
      return this.#seen(ask, digest, source.copies ? this.#copy(ask, digest, recalled) : recalled.outcome);
    if (signal.aborted) throw new ChassisError('Cancelled', 'cancelled');
    const binding = this.#resolve(ask);
    const step =
      recalled.kind === 'unfinished'
        ? recorder.reopen(recalled.step)
        : recorder.start(
            ask,
            digest,
            ask.causes ?? this.#causes.of(ask),
            binding === null || isUnavailable(binding) ? null : binding.plugin,
            binding !== null && 'definition' in binding ? binding.definition.effects : undefined,
          );
    const interrupted = recalled.kind === 'unfinished' ? recalled.step : undefined;
    const outcome = await this.#live(ask, digest, step, binding, interrupted);
    return this.#seen(ask, digest, step.finish(outcome));
  }

  #seen(ask: Ask, digest: string, outcome: Outcome): Outcome {
    this.options.circles?.seen(ask, digest, outcome);
    return this.#causes.seen(ask, outcome);
  }

  /** The first variant of an ask that the record knows, else the last: a fork's edits hold from its step on. */
  #edited(made: Ask): { readonly ask: Ask; readonly digest: string } {
    const { recorder, source } = this.options;
    let ask = made;
    let digest = recorder.digest(made);
    for (const variant of this.options.variants?.(made) ?? []) {
      ask = variant;
      digest = recorder.digest(variant);
      if (source.holds(variant, digest)) break;
    }
    return { ask, digest };
  }

  /** An answer of another session, written down in this one. What it changed in the world then, it does not change now. */
  #copy(ask: Ask, digest: string, { step: of, outcome: recorded }: Answer): Outcome {
    const { recorder } = this.options;
    const { step: _, ...outcome } = recorded;
    return recorder
      .start(ask, digest, ask.causes ?? this.#causes.of(ask), of.plugin, of.declared)
      .finish(outcome);
  }

  /** Clock, random and uuid: recorded with the step or agent that asked. */
  value(name: 'now' | 'random' | 'uuid', agent: string, turn: number, step: number | null): Json {
    const { source, recorder } = this.options;
    let recorded: Json | undefined;
    try {
      recorded = source.recallValue(name, agent, turn, step);
    } catch (thrown) {
      this.fault ??= toChassisError(thrown);
      throw thrown;
    }
    if (recorded !== undefined && !source.copies) return recorded;
    const value =
      recorded ?? (name === 'now' ? this.#now() : name === 'random' ? Math.random() : crypto.randomUUID());
    recorder.writer.append('value.read', { name, value, agent, turn }, step ?? undefined);
    return value;
  }

  #now(): number {
    return Date.now() + (this.options.clockOffsetMs ?? 0);
  }

  async #live(
    ask: Ask,
    digest: string,
    step: OpenStep,
    binding: ToolBinding | ModelBinding | Unavailable | null,
    interrupted: Step | undefined,
  ): Promise<Omit<Outcome, 'step'>> {
    try {
      await this.#mayGoOn(ask, digest, step.number, interrupted !== undefined);
      checkDepth(ask, digest, (number) => this.options.recorder.view.step(number));
      if (ask.kind === 'state') return { status: 'ok', output: ask.input };
      return ask.kind === 'model'
        ? await this.#model(ask, step, binding as ModelBinding | Unavailable, interrupted)
        : await this.#tool(ask, step, binding as ToolBinding | Unavailable, interrupted);
    } catch (thrown) {
      const error = toChassisError(thrown);
      const { usage, output } = (error.data ?? {}) as { usage?: Usage; output?: Json };
      if (usage !== undefined) this.options.limits.count(usage);
      return {
        status: statusOf(error.code),
        error: error.record(),
        ...(usage === undefined ? {} : { usage }),
        ...(output === undefined ? {} : { output }),
      };
    }
  }

  /**
   * A run that reaches a limit or goes round in circles pauses, and a person is asked; without one it ends, and
   * nothing that the agent asks for afterwards runs.
   */
  async #mayGoOn(ask: Ask, digest: string, step: number, known: boolean): Promise<void> {
    const { approvals, limits, circles, signal } = this.options;
    if (this.#stopped !== undefined) throw this.#stopped;
    try {
      let first = true;
      for (
        let reached = limits.admit(known, ask);
        reached !== null;
        reached = limits.admit(true, ask), first = false
      ) {
        // Raised by as much as it was: what is still beyond the limit then is asked for again.
        await approvals.goOn(limitError(reached), step, signal);
        limits.raise(reached.limit);
      }
      const circle = first ? (circles?.about(ask, digest) ?? null) : null;
      if (circle === null) return;
      await approvals.goOn(circleError(circle), step, signal);
      circles?.forget(ask, digest);
    } catch (refused) {
      if (!signal.aborted) this.#stopped = toChassisError(refused);
      throw refused;
    }
  }

  async #tool(
    ask: ToolAsk,
    step: OpenStep,
    resolved: ToolBinding | Unavailable,
    interrupted: Step | undefined,
  ): Promise<Omit<Outcome, 'step'>> {
    const { approvals, registry, signal } = this.options;
    const binding = isUnavailable(resolved)
      ? await whenBack(resolved, () => registry.resolveTool(ask.name), signal)
      : resolved;
    if (isUnavailable(binding)) throw unavailable(binding);
    const { definition } = binding;
    const repeatable =
      definition.effects === 'none' || definition.effects === 'read' || definition.idempotent;
    checkPlaces(
      ask,
      binding,
      (number) => this.options.recorder.view.step(number),
      (name) => registry.resolveTool(name),
    );
    checkInput(definition, ask.input);
    const policies = registry.policies?.() ?? [];
    const verdict = policies.length === 0 ? undefined : await this.#verdict(ask, step, binding, policies);
    if (interrupted !== undefined && interrupted.seq.dispatched !== undefined && !repeatable) {
      if (verdict?.decision === 'deny') approvals.judge(binding, ask.input, step.number, verdict);
      await this.#confirmRepeat(ask, step, binding);
    } else await approvals.admit(binding, ask.input, step.number, signal, verdict);
    const result = await this.#attempts(
      step,
      [ask.name],
      repeatable,
      () => binding,
      ask,
      definition.timeout_ms,
    );
    step.effects.push(...(result.effects ?? []));
    checkOutput(definition, result.data);
    return { status: 'ok', output: result.data };
  }

  #verdict(
    ask: ToolAsk,
    step: OpenStep,
    binding: ToolBinding,
    policies: readonly PolicyBinding[],
  ): Promise<Verdict | undefined> {
    const { approvals, recorder, workspace, signal } = this.options;
    const desk = (policy: PolicyBinding) =>
      new HostDesk(this, { agent: `${ask.agent}/${POLICY_AGENT}`, turn: ask.turn }, step, policy.plugin.name);
    const judged = {
      ask,
      binding,
      step: step.number,
      session: recorder.writer.id,
      workspace,
      idempotencyKey: step.idempotencyKey,
      approval: approvals.modeOf(binding),
      host: desk,
    };
    return verdictOf(policies, judged, signal);
  }

  /** A call whose effect may have happened already is never repeated in silence. */
  async #confirmRepeat(ask: ToolAsk, step: OpenStep, binding: ToolBinding): Promise<void> {
    try {
      await this.options.approvals.confirm(
        binding,
        ask.input,
        step.number,
        this.options.signal,
        `${ask.name} was interrupted after it had started; it may have happened already. Run it again?`,
      );
    } catch (refused) {
      throw outcomeUnknown(ask.name, refused);
    }
  }

  async #model(
    ask: ModelAsk,
    step: OpenStep,
    first: ModelBinding | Unavailable,
    interrupted: Step | undefined,
  ): Promise<Omit<Outcome, 'step'>> {
    if (interrupted !== undefined && interrupted.seq.dispatched !== undefined && step.attempt > 0)
      step.failAttempt(interruptedAttempt.record(), null, 0);
    const { registry, limits, modelTimeoutMs } = this.options;
    const references = [ask.name, ...ask.fallbacks];
    const resolve = (reference: string) =>
      reference === ask.name ? first : registry.resolveModel(reference);
    const result = await this.#attempts(step, references, true, resolve, ask, modelTimeoutMs);
    const response = result.data as unknown as ModelResponse;
    checkModelResponse(response);
    limits.count(response.usage);
    return { status: 'ok', output: result.data, usage: response.usage };
  }

  /** Asks the bindings in turn, each as often as the policy allows, and records every attempt. */
  async #attempts(
    step: OpenStep,
    references: readonly string[],
    repeatable: boolean,
    resolve: (reference: string) => ToolBinding | ModelBinding | Unavailable,
    ask: ModelAsk | ToolAsk,
    timeoutMs: number,
  ): Promise<Result> {
    const { retry, signal, workspace, recorder, registry } = this.options;
    for (let choice = 0, tries = 1; ; tries++) {
      const reference = references[choice] as string;
      const model = ask.kind === 'model' ? reference : undefined;
      const binding = resolve(reference);
      const leave =
        isUnavailable(binding) || !isLimited(binding)
          ? undefined
          : await inTurn(binding, registry, step, signal);
      let failure: ChassisError;
      try {
        if (isUnavailable(binding)) throw unavailable(binding);
        await step.dispatch(model);
        const ctx = {
          session: recorder.writer.id,
          step: step.number,
          trace_id: newTraceId(),
          attempt: step.attempt,
          idempotency_key: step.idempotencyKey,
          workspace,
        };
        const host = new HostDesk(this, ask, step, binding.plugin.name);
        return await attempt(binding, payloadOf(ask, binding), ctx, host, timeoutMs, signal);
      } catch (thrown) {
        if (recorder.writer.failed !== undefined) throw recorder.writer.failed;
        failure = toChassisError(thrown);
      } finally {
        leave?.();
      }
      const pause = repeatable ? pauseBeforeRetry(failure, tries, retry) : null;
      const next = pause !== null ? reference : mayFallBack(failure) ? references[choice + 1] : undefined;
      if (next === undefined || signal.aborted) throw failure;
      if (isUnavailable(binding)) step.attempt++;
      const usage = (failure.data as { usage?: Usage } | undefined)?.usage ?? null;
      this.options.limits.count(usage);
      step.failAttempt(failure.record(), usage, pause ?? 0, model, next === reference ? undefined : next);
      if (pause === null) {
        choice++;
        tries = 0;
      } else await sleep(pause, undefined, { signal }).catch(() => {});
    }
  }

  #resolve(ask: Ask): ToolBinding | ModelBinding | Unavailable | null {
    if (ask.kind === 'state') return null;
    const { registry } = this.options;
    return ask.kind === 'model' ? registry.resolveModel(ask.name) : registry.resolveTool(ask.name);
  }
}

const interruptedAttempt = new ChassisError(
  'Cancelled',
  'the process ended while this attempt was under way',
);

/** The error of a call that had started and whose end nobody saw. */
export function outcomeUnknown(tool: string, cause?: unknown): ChassisError {
  return new ChassisError(
    'OutcomeUnknown',
    `${tool} was interrupted: whether it took effect is unknown, and it was not run again`,
    { cause },
  );
}

function payloadOf(ask: ModelAsk | ToolAsk, binding: ToolBinding | ModelBinding) {
  if (ask.kind === 'tool') return { tool: (binding as ToolBinding).definition.name, input: ask.input };
  const { name, id } = binding as ModelBinding;
  const params = id === undefined ? ask.request.params : { ...ask.request.params, model: id };
  return { model: name, input: { ...ask.request, params } };
}

function unavailable(record: Unavailable): ChassisError {
  const unknown = record.phase === 'unknown' && record.capability.startsWith('tool');
  return new ChassisError(unknown ? 'MethodNotFound' : 'Unavailable', `${record.cause.message}`, {
    data: { ...record, cause: record.cause },
  });
}

function statusOf(code: number): StepStatus {
  switch (code) {
    case ErrorCode.ToolTimeout:
      return 'timeout';
    case ErrorCode.Cancelled:
      return 'cancelled';
    case ErrorCode.PermissionDenied:
    case ErrorCode.ApprovalDenied:
    case ErrorCode.BudgetExceeded:
      return 'denied';
    case ErrorCode.OutcomeUnknown:
      return 'unknown';
    default:
      return 'error';
  }
}
