/**
 * Some boundaries live, the others from a record.
 *
 * Promise: what is not chosen as live is answered from the record or not at all. A recorded tool answers exactly the call it
 * answered then; a recorded model answers in its order, as long as its request differs from the record in nothing but
 * what live boundaries said. Anything else is Diverged, with the nearest thing that the record holds.
 */
import { firstDifference } from '@chassis/analyze';
import type { ChassisError } from '@chassis/errors';
import type { SessionView, Step } from '@chassis/journal';
import type { Json, Message, ModelRequest } from '@chassis/types';
import { type Ask, inputOf, type ModelAsk } from './ask.ts';
import { nearestRecorded, recordedInput } from './nearest-recorded.ts';
import { divergence } from './record-source.ts';
import type { Recalled, Source } from './source.ts';
import { demandInput, recordedOutcome } from './whole-record.ts';

/** Which boundary an ask or a recorded step belongs to. */
export type Boundary = Pick<Ask, 'kind' | 'name'>;

export class MixedSource implements Source {
  readonly copies = true;
  readonly #view: SessionView;
  readonly #isLive: (boundary: Boundary) => boolean;
  readonly #isDry: (boundary: Boundary) => boolean;
  readonly #open: Step[];
  readonly #values = new Map<string, Json[]>();
  readonly #liveKinds: ReadonlySet<string>;
  /** Steps answered from the record. */
  answered = 0;

  /**
   * @param isLive which boundaries run for real; state transitions always do, they touch nothing
   * @param isDry which of the others are answered by the gate where the record does not hold the very same call
   */
  constructor(
    view: SessionView,
    isLive: (boundary: Boundary) => boolean,
    isDry: (boundary: Boundary) => boolean = () => false,
  ) {
    this.#view = view;
    this.#isLive = isLive;
    this.#isDry = isDry;
    this.#open = view.steps.filter(
      (step) =>
        step.kind !== 'state' &&
        step.seq.finished !== undefined &&
        !isLive(step) &&
        !insideOfRecorded(view, step, isLive),
    );
    this.#liveKinds = new Set(
      view.steps.filter((step) => isLive(step) || isDry(step)).map((step) => step.kind),
    );
    for (const read of view.values) {
      const key = valueKey(read.name, read.agent, read.turn, read.step !== null);
      const known = this.#values.get(key);
      if (known === undefined) this.#values.set(key, [read.value]);
      else known.push(read.value);
    }
  }

  holds(ask: Ask, digest: string): boolean {
    return this.#view.steps.some(
      (step) => step.digest === digest && standsLike(step, ask) && step.name === ask.name,
    );
  }

  recall(ask: Ask, digest: string): Recalled {
    if (ask.kind === 'state' || this.#isLive(ask)) return { kind: 'none' };
    const same = this.#open.findIndex((step) => step.digest === digest && standsLike(step, ask));
    const at = same >= 0 || ask.kind !== 'model' ? same : this.#open.findIndex((step) => isNext(step, ask));
    const step = this.#open[at];
    if (step === undefined && this.#isDry(ask)) return { kind: 'none' };
    if (step === undefined) throw this.#unknown(ask);
    const outcome = recordedOutcome(this.#view, step);
    if (same < 0) this.#demandLike(step, ask as ModelAsk);
    this.#open.splice(at, 1);
    this.answered++;
    return { kind: 'answer', step, outcome };
  }

  recallValue(name: string, agent: string, turn: number, step: number | null): Json | undefined {
    return this.#values.get(valueKey(name, agent, turn, step !== null))?.shift();
  }

  /** Live answers may lead elsewhere: what was not asked for again is no difference by itself. */
  finishTurn(): void {}

  /** @throws Diverged when the request differs in more than what a live boundary said */
  #demandLike(step: Step, ask: ModelAsk): void {
    demandInput(this.#view, step);
    const recorded = this.#without(recordedInput(this.#view, step) as unknown as ModelRequest);
    const difference = firstDifference(recorded, this.#without(ask.request));
    if (difference === null) return;
    throw divergence(
      `the recorded model was asked something else in step ${step.number}`,
      step.number,
      `/input${difference.path}`,
      difference.expected,
      difference.actual,
      nearestRecorded(this.#view, ask, step.number),
    );
  }

  /** A request without the words of live boundaries. */
  #without(request: ModelRequest): Json {
    const words = (message: Message): Json => {
      if (message.role === 'tool' && this.#liveKinds.has('tool'))
        return { role: 'tool', tool_call_id: message.tool_call_id };
      if (message.role === 'assistant' && this.#liveKinds.has('model')) return { role: 'assistant' };
      return message as unknown as Json;
    };
    return { ...request, messages: request.messages.map(words) } as unknown as Json;
  }

  #unknown(ask: Ask): ChassisError {
    const nearest = nearestRecorded(this.#view, ask, this.#open[0]?.number ?? null);
    return divergence(
      `the record holds no answer to this call of ${ask.kind} ${ask.name}: let it run with --live ${ask.name}`,
      nearest?.step ?? null,
      nearest?.path ?? '',
      nearest?.expected ?? null,
      nearest?.actual ?? { kind: ask.kind, name: ask.name, input: inputOf(ask) },
      nearest,
    );
  }
}

function standsLike(step: Step, ask: Ask): boolean {
  return (
    step.kind === ask.kind &&
    (ask.kind === 'model' || step.name === ask.name) &&
    step.turn === ask.turn &&
    step.agent === ask.agent
  );
}

function isNext(step: Step, ask: Ask): boolean {
  return standsLike(step, ask) && (step.parent === null) === (ask.parent === null);
}

/** A step inside of a step that is answered from the record is not asked for again. */
function insideOfRecorded(view: SessionView, step: Step, isLive: (boundary: Boundary) => boolean): boolean {
  for (let above = step.parent; above !== null; ) {
    const parent = view.step(above);
    if (parent === undefined) return false;
    if (!isLive(parent)) return true;
    above = parent.parent;
  }
  return false;
}

function valueKey(name: string, agent: string, turn: number, inStep: boolean): string {
  return JSON.stringify([name, agent, turn, inStep]);
}
