/**
 * Writes steps into the journal: the intent before anything, the dispatch behind the hard barrier, every attempt, the end.
 *
 * Promise: no effect happens before `dispatch` is on disk, and a model request costs only what is new since the
 * same agent's previous one.
 */
import { createHash, createHmac, randomBytes, randomFillSync } from 'node:crypto';
import type { ErrorRecord } from '@chassis/errors';
import {
  digestOf,
  digestOfRequest,
  messageDelta,
  type Secrets,
  type SessionView,
  type Step,
  type Writer,
} from '@chassis/journal';
import type { FileChange } from '@chassis/sdk';
import type { Effect, Message, ModelChunk, PluginRef, ToolDefinition, Usage } from '@chassis/types';
import { KEYED, UNKEPT } from '../workspace/files-at.ts';
import type { Ask, Outcome } from './ask.ts';
import { ChunkBuffer } from './chunks.ts';

/** Never leaves the process: a hash of a guessable secret could be guessed. */
const contentKey = randomBytes(32);

interface PreviousRequest {
  readonly step: number;
  messages(): readonly Message[];
}

export class Recorder {
  readonly writer: Writer;
  readonly #secrets: Secrets;
  /** The latest model request by agent and parent step: the base of the next delta. */
  readonly #requests = new Map<string, PreviousRequest>();

  constructor(writer: Writer, secrets: Secrets) {
    this.writer = writer;
    this.#secrets = secrets;
    const { view } = writer;
    for (let number = firstBase(view); number <= view.steps.length; number++) {
      const step = view.step(number);
      if (step?.kind !== 'model') continue;
      this.#requests.set(requestKey(step), {
        step: number,
        messages: () => writer.view.request(number).messages,
      });
    }
  }

  get view(): SessionView {
    return this.writer.view;
  }

  /**
   * The digest by which a re-execution recognises this ask: over what the record will show, secrets masked. A message is
   * digested once, however often the conversation is sent again.
   */
  digest(ask: Ask): string {
    return ask.kind === 'model'
      ? digestOfRequest(ask.request, this.#secrets)
      : digestOf(ask.input, this.#secrets);
  }

  start(
    ask: Ask,
    digest: string,
    causes: readonly number[],
    plugin: PluginRef | null,
    declared?: ToolDefinition['effects'],
  ): OpenStep {
    const number = this.writer.view.steps.length + 1;
    this.writer.append(
      'step.started',
      {
        kind: ask.kind,
        name: ask.name,
        input: ask.kind === 'model' ? this.#requestDelta(ask, number) : ask.input,
        digest,
        causes,
        parent: ask.parent,
        agent: ask.agent,
        turn: ask.turn,
        plugin,
        ...(ask.kind === 'tool' && ask.call_id !== undefined ? { call_id: ask.call_id } : {}),
        ...(declared === undefined ? {} : { declared }),
      },
      number,
    );
    return new OpenStep(this.writer, number, 0);
  }

  /** Goes on with a step whose intent is on record already. */
  reopen(step: Step): OpenStep {
    return new OpenStep(this.writer, step.number, step.attempts.length);
  }

  /** A file change as an effect: its contents are kept by hash. */
  effect(effect: FileChange | Exclude<Effect, { kind: 'file' }>): Effect {
    if (effect.kind !== 'file' || !('before' in effect)) return effect as Effect;
    const { before, after, ...rest } = effect as FileChange;
    const op = before === null ? 'create' : after === null ? 'delete' : 'modify';
    return { ...rest, op, before: this.#content(before), after: this.#content(after) };
  }

  /** A content that holds a secret is not kept: a keyed hash says only whether it is the same again in this process. */
  #content(bytes: FileChange['before']): string | null {
    if (bytes === null) return null;
    if (!(bytes instanceof Uint8Array)) return UNKEPT + bytes.bytes;
    if (this.#secrets.heldBy(bytes))
      return KEYED + createHmac('sha256', contentKey).update(bytes).digest('hex');
    return this.writer.blob(bytes).$blob.sha256;
  }

  #requestDelta(ask: Ask & { kind: 'model' }, number: number) {
    const { messages, tools, params } = ask.request;
    const key = requestKey(ask);
    const previous = this.#requests.get(key);
    const delta = messageDelta(
      previous === undefined ? null : { step: previous.step, messages: previous.messages() },
      messages,
    );
    // The messages are frozen, the agent's list of them is not: it may grow before the next request.
    const sent = [...messages];
    this.#requests.set(key, { step: number, messages: () => sent });
    return { messages: delta, tools: this.writer.blob(tools), params };
  }
}

/** A step that is under way. */
export class OpenStep {
  readonly number: number;
  /** Number of the latest attempt, 0 before the first. */
  attempt: number;
  readonly effects: Effect[] = [];
  readonly #writer: Writer;
  readonly #started = performance.now();
  readonly #chunks: ChunkBuffer;

  constructor(writer: Writer, number: number, attempts: number) {
    this.#writer = writer;
    this.number = number;
    this.attempt = attempts;
    this.#chunks = new ChunkBuffer(
      (data) => void writer.append('step.chunk', { attempt: this.attempt, ...data }, number),
    );
  }

  /** The same on every attempt of this step, in this session only: a fork's steps have keys of their own. */
  get idempotencyKey(): string {
    return createHash('sha256').update(`${this.#writer.id}:${this.number}`).digest('hex').slice(0, 32);
  }

  /** On disk when it resolves: after this the effect may happen. */
  async dispatch(model?: string): Promise<void> {
    this.attempt++;
    this.#writer.append(
      'step.dispatched',
      {
        attempt: this.attempt,
        idempotency_key: this.idempotencyKey,
        ...(model === undefined ? {} : { model }),
      },
      this.number,
    );
    await this.#writer.barrier();
  }

  chunk(chunk: ModelChunk): void {
    this.#chunks.add(chunk);
  }

  /** This attempt failed and another follows: what it had streamed is superseded, and stays on record. */
  failAttempt(
    error: ErrorRecord,
    usage: Usage | null,
    waitMs: number,
    model?: string,
    nextModel?: string,
  ): void {
    this.#chunks.flush();
    this.#writer.append(
      'step.attempt',
      {
        attempt: this.attempt,
        error,
        usage,
        wait_ms: waitMs,
        ...(model === undefined ? {} : { model }),
        ...(nextModel === undefined ? {} : { next_model: nextModel }),
      },
      this.number,
    );
  }

  finish(outcome: Omit<Outcome, 'step'>): Outcome {
    if (outcome.status === 'ok') this.#chunks.drop();
    else this.#chunks.flush();
    this.#writer.append(
      'step.finished',
      {
        status: outcome.status,
        ...(outcome.output === undefined ? {} : { output: outcome.output }),
        ...(outcome.error === undefined ? {} : { error: outcome.error }),
        duration_ms: Math.round((performance.now() - this.#started) * 1000) / 1000,
        attempts: this.attempt,
        ...(outcome.usage === undefined ? {} : { usage: outcome.usage }),
        ...(this.effects.length === 0 ? {} : { effects: this.effects }),
      },
      this.number,
    );
    return { step: this.number, ...outcome };
  }
}

/** Steps of a long session in which the base of a delta is looked for; without one a request is logged whole. */
const LOOKED_BACK = 1000;

function firstBase({ marks, steps, turns }: SessionView): number {
  if (marks === undefined) return 1;
  return Math.max(1, Math.min((marks.before(turns.length) ?? 0) + 1, steps.length - LOOKED_BACK));
}

function requestKey(place: { readonly agent: string; readonly parent: number | null }): string {
  return `${place.parent ?? ''}/${place.agent}`;
}

/** A new trace id: 32 hex digits, as in W3C Trace Context. */
export function newTraceId(): string {
  // Randomness is drawn for many at once: a call to the system for each costs more than the rest of a short call.
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += 16;
  return pool.toString('hex', used - 16, used);
}

const pool = Buffer.alloc(4096);
let used = pool.length;
