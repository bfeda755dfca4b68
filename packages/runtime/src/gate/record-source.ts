/**
 * Answers from a record.
 *
 * Promise: a call is found by turn, agent, parent step, kind, name, input digest and occurrence; answers are
 * released in the recorded order of `step.finished`, so that parallel code sees them arrive as it did then. Anything that
 * does not fit is Diverged, with the step, the JSON Pointer, the expected and the actual value.
 */
import { firstDifference } from '@chassis/analyze';
import { ChassisError } from '@chassis/errors';
import { type SessionView, type Step, stepsFrom } from '@chassis/journal';
import type { Json } from '@chassis/types';
import { type Ask, inputOf } from './ask.ts';
import { type Candidate, nearestRecorded, recordedInput } from './nearest-recorded.ts';
import type { Recalled, Source, ValueName } from './source.ts';
import { demandInput, recordedOutcome } from './whole-record.ts';

export interface RecordOptions {
  /** Strict: what the record does not hold is Diverged. Otherwise the run goes on live where the record ends. */
  readonly strict: boolean;
  /** First turn that is executed again; earlier ones are past. Default 1. */
  readonly fromTurn?: number;
  /**
   * How long an answer waits for an earlier one that ran beside it in the record and has not been asked for yet,
   * in milliseconds.
   */
  readonly patience?: number;
  /** Stop when every step up to this number has been answered. */
  readonly until?: number;
  /** Makes equal what may differ in texts and means nothing: folders, ids, durations. Without it a call must be the very same. */
  normalise?(text: string): string;
}

interface Waiting {
  readonly step: Step;
  readonly release: () => void;
  readonly fail: (error: ChassisError) => void;
  readonly timer: NodeJS.Timeout;
}

export class RecordSource implements Source {
  readonly #view: SessionView;
  readonly #strict: boolean;
  readonly #patience: number;
  /** Steps that nobody has asked for yet, by the digest of their input. */
  readonly #byDigest = new Map<string, Step[]>();
  readonly #open: Set<number>;
  readonly #order: readonly Step[];
  /** Place of a step in the recorded order of answers. */
  readonly #place: ReadonlyMap<number, number>;
  readonly #waiting = new Map<number, Waiting>();
  readonly #values = new Map<string, Json[]>();
  readonly #until: number;
  readonly #normalise: RecordOptions['normalise'];
  /** Steps up to `until` that have not been asked for yet. */
  #left = 0;
  #next = 0;
  /** Whether it stopped because `until` was reached. */
  halted = false;
  /** How many answers the record has given. */
  answered = 0;
  /** How many values it has given to the agent itself. */
  readonly given = { now: 0, random: 0, uuid: 0 };

  /** @param view the record as it stands now; later changes of it are not seen */
  constructor(view: SessionView, options: RecordOptions) {
    this.#view = view;
    this.#strict = options.strict;
    this.#patience = options.patience ?? 30_000;
    this.#until = options.until ?? Number.POSITIVE_INFINITY;
    this.#normalise = options.normalise?.bind(options);
    const steps = stepsFrom(view, options.fromTurn ?? 1).filter((step) => !answeredByAncestor(view, step));
    for (const step of steps) push(this.#byDigest, step.digest, step);
    this.#open = new Set(steps.map((step) => step.number));
    this.#left = steps.filter((step) => step.number <= this.#until).length;
    this.#order = steps.filter(isFinished).sort((a, b) => (a.seq.finished ?? 0) - (b.seq.finished ?? 0));
    this.#place = new Map(this.#order.map((step, place) => [step.number, place]));
    for (const read of view.values)
      push(this.#values, valueKey(read.name, read.agent, read.turn, read.step), read.value);
  }

  holds(ask: Ask, digest: string): boolean {
    return this.#byDigest.get(digest)?.some((step) => isAsked(step, ask) && step.name === ask.name) === true;
  }

  recall(ask: Ask, digest: string): Recalled | Promise<Recalled> {
    if (this.#left === 0 && this.#until !== Number.POSITIVE_INFINITY) throw this.#halt();
    const step = take(this.#byDigest.get(digest), ask) ?? this.#takeAlike(ask);
    if (step === undefined) {
      const expected = this.#expected(ask);
      if ((expected?.number ?? 0) > this.#until) throw this.#halt();
      if (expected !== undefined) throw this.#differs(ask, expected);
      if (this.#strict) throw this.#beyond(ask);
      return { kind: 'none' };
    }
    this.#open.delete(step.number);
    if (step.number <= this.#until) this.#left--;
    if (this.#strict && step.name !== ask.name) throw diverged(step, '/name', step.name, ask.name, null);
    if (!isFinished(step)) {
      if (this.#strict) throw this.#beyond(ask);
      return { kind: 'unfinished', step };
    }
    if (this.#waiting.size > 0 || this.#order[this.#next] !== step)
      return this.#turnOf(step).then(() => this.#answer(step));
    this.#next++;
    return this.#answer(step);
  }

  /** The step that should come here, when it differs from the ask only in what means nothing. */
  #takeAlike(ask: Ask): Step | undefined {
    const normalise = this.#normalise;
    if (normalise === undefined) return undefined;
    const expected = this.#expected(ask);
    if (expected === undefined || !isAsked(expected, ask)) return undefined;
    const recorded = withTexts(recordedInput(this.#view, expected), normalise);
    if (firstDifference(recorded, withTexts(inputOf(ask), normalise)) !== null) return undefined;
    const same = this.#byDigest.get(expected.digest);
    same?.splice(same.indexOf(expected), 1);
    return expected;
  }

  #answer(step: Step): Recalled {
    const outcome = recordedOutcome(this.#view, step);
    this.answered++;
    return { kind: 'answer', step, outcome };
  }

  recallValue(name: ValueName, agent: string, turn: number, step: number | null): Json | undefined {
    const value = this.#values.get(valueKey(name, agent, turn, step))?.shift();
    if (value === undefined && this.#strict)
      throw divergence(
        `the agent reads ${name} once more than the record shows in turn ${turn}`,
        step,
        '/values',
        null,
        name,
        null,
      );
    if (value !== undefined && step === null) this.given[name]++;
    return value;
  }

  finishTurn(turn: number): void {
    const left = this.#openSteps().find((step) => step.turn === turn);
    if (left === undefined || left.number > this.#until) {
      this.#demandValuesRead(turn);
      return;
    }
    throw divergence(
      `the agent ended turn ${turn} without step ${left.number} (${left.kind} ${left.name}) that the record shows`,
      left.number,
      '',
      { kind: left.kind, name: left.name },
      null,
      null,
    );
  }

  /** @throws Diverged when the record shows more readings of a clock or of chance than the agent made */
  #demandValuesRead(turn: number): void {
    if (!this.#strict || this.#until !== Number.POSITIVE_INFINITY) return;
    for (const [key, left] of this.#values) {
      const [name, agent, of, step] = JSON.parse(key) as [string, string, number, number | null];
      // What a tool read by itself is part of its answer.
      if (of !== turn || step !== null || left.length === 0) continue;
      throw divergence(
        `${agent} reads ${name} less often than the record shows in turn ${turn}: ${left.length} left`,
        null,
        '/values',
        name,
        null,
        null,
      );
    }
  }

  *#openSteps(): Generator<Step> {
    for (const number of this.#open) {
      const step = this.#view.step(number);
      if (step !== undefined) yield step;
    }
  }

  #halt(): ChassisError {
    this.halted = true;
    return new ChassisError('Cancelled', `the replay stops behind step ${this.#until}`);
  }

  /** Waits until every answer that came earlier in the record has been given. */
  #turnOf(step: Step): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (action: () => void) => () => {
        clearTimeout(waiting.timer);
        this.#waiting.delete(step.number);
        action();
      };
      const waiting: Waiting = {
        step,
        release: settle(resolve),
        fail: (error) => settle(() => reject(error))(),
        timer: setTimeout(
          () => waiting.fail(this.#missing(this.#order[this.#next] ?? step, step)),
          this.#patience,
        ),
      };
      this.#waiting.set(step.number, waiting);
      // Not before the caller awaits: answers released together must arrive in the order of their release.
      queueMicrotask(() => this.#pump());
    });
  }

  #pump(): void {
    for (let head = this.#order[this.#next]; head !== undefined; head = this.#order[this.#next]) {
      const waiting = this.#waiting.get(head.number);
      if (waiting === undefined) break;
      this.#next++;
      waiting.release();
    }
    for (const { step, fail } of [...this.#waiting.values()]) {
      const skipped = this.#order
        .slice(this.#next, this.#place.get(step.number))
        .find(
          (earlier) =>
            this.#open.has(earlier.number) && samePlace(earlier, step) && endedBefore(earlier, step),
        );
      if (skipped !== undefined) fail(this.#missing(skipped, step));
    }
  }

  /** The recorded step that should have come instead of this ask. */
  #expected(ask: Ask): Step | undefined {
    if (this.#open.size === 0) return undefined;
    return this.#openSteps().find((step) => samePlace(step, ask));
  }

  #differs(ask: Ask, expected: Step): ChassisError {
    demandInput(this.#view, expected);
    const nearest = nearestRecorded(this.#view, ask, expected.number);
    if (expected.kind !== ask.kind) return diverged(expected, '/kind', expected.kind, ask.kind, nearest);
    if (expected.name !== ask.name && ask.kind !== 'model')
      return diverged(expected, '/name', expected.name, ask.name, nearest);
    const difference = firstDifference(recordedInput(this.#view, expected), inputOf(ask));
    return difference === null
      ? diverged(expected, '/input', 'one call', 'the same call once more', nearest)
      : diverged(expected, `/input${difference.path}`, difference.expected, difference.actual, nearest);
  }

  #beyond(ask: Ask): ChassisError {
    return divergence(
      `the agent goes on with ${ask.kind} ${ask.name} where the record ends`,
      null,
      '',
      null,
      { kind: ask.kind, name: ask.name, input: inputOf(ask) },
      nearestRecorded(this.#view, ask, null),
    );
  }

  #missing(missing: Step, asked: Step): ChassisError {
    return divergence(
      `the agent asked for step ${asked.number} (${asked.kind} ${asked.name}) without step ${missing.number} (${missing.kind} ${missing.name}) that came before it`,
      missing.number,
      '',
      { kind: missing.kind, name: missing.name, input: missing.input },
      { kind: asked.kind, name: asked.name, input: asked.input },
      null,
    );
  }
}

/** The first of them at the same place as the ask. A model's name does not count: a turn may go on with another model. */
function take(steps: Step[] | undefined, ask: Ask): Step | undefined {
  if (steps === undefined) return undefined;
  const found = steps.findIndex((step) => isAsked(step, ask));
  return found === 0 ? steps.shift() : found > 0 ? steps.splice(found, 1)[0] : undefined;
}

function isAsked(step: Step, ask: Ask): boolean {
  return samePlace(step, ask) && step.kind === ask.kind && (ask.kind === 'model' || step.name === ask.name);
}

function withTexts(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => withTexts(item, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withTexts(item, change)]));
}

function valueKey(name: string, agent: string, turn: number, step: number | null): string {
  return JSON.stringify([name, agent, turn, step]);
}

function isFinished(step: Step): boolean {
  return step.seq.finished !== undefined;
}

function samePlace(
  a: Pick<Ask, 'turn' | 'agent' | 'parent'>,
  b: Pick<Ask, 'turn' | 'agent' | 'parent'>,
): boolean {
  return a.turn === b.turn && a.agent === b.agent && a.parent === b.parent;
}

function endedBefore(earlier: Step, later: Step): boolean {
  return (earlier.seq.finished ?? Number.POSITIVE_INFINITY) < later.seq.started;
}

/** A step inside a step whose answer is on record is never asked for again. */
function answeredByAncestor(view: SessionView, step: Step): boolean {
  for (let above = step.parent; above !== null; ) {
    const parent = view.step(above);
    if (parent === undefined) return false;
    if (isFinished(parent)) return true;
    above = parent.parent;
  }
  return false;
}

function diverged(
  step: Step,
  path: string,
  expected: unknown,
  actual: unknown,
  nearest: Candidate | null,
): ChassisError {
  return divergence(
    `step ${step.number} (${step.kind} ${step.name}) differs from the record at ${path}`,
    step.number,
    path,
    expected,
    actual,
    nearest,
  );
}

/** What a re-execution ends with when it is not the run that the record shows. */
export function divergence(
  message: string,
  step: number | null,
  path: string,
  expected: unknown,
  actual: unknown,
  nearest: Candidate | null,
): ChassisError {
  return new ChassisError('Diverged', message, {
    data: { step, path, expected: expected ?? null, actual: actual ?? null, nearest },
  });
}

function push<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
