/**
 * Answers from a record.
 *
 * Promise: a call is found by turn, agent, parent step, kind, name, input digest and occurrence; answers are
 * released in the recorded order of `step.finished`, so that parallel code sees them arrive as it did then. Anything that
 * does not fit is Diverged, with the step, the JSON Pointer, the expected and the actual value.
 */
import { firstDifference } from '@chassis/analyze';
import { ChassisError } from '@chassis/errors';
import type { SessionView, Step } from '@chassis/journal';
import type { Json } from '@chassis/types';
import { type Ask, inputOf } from './ask.ts';
import type { Recalled, Source } from './source.ts';

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
  readonly #byKey = new Map<string, Step[]>();
  readonly #open: Set<number>;
  readonly #order: readonly Step[];
  readonly #released = new Set<number>();
  readonly #waiting = new Map<number, Waiting>();
  readonly #values = new Map<string, Json[]>();
  #next = 0;
  /** How many answers the record has given. */
  answered = 0;

  /** @param view the record as it stands now; later changes of it are not seen */
  constructor(view: SessionView, options: RecordOptions) {
    this.#view = view;
    this.#strict = options.strict;
    this.#patience = options.patience ?? 30_000;
    const steps = view.steps.filter(
      (step) => step.turn >= (options.fromTurn ?? 1) && !answeredByAncestor(view, step),
    );
    for (const step of steps) push(this.#byKey, keyOf(step, step.digest), step);
    this.#open = new Set(steps.map((step) => step.number));
    this.#order = steps.filter(isFinished).sort((a, b) => (a.seq.finished ?? 0) - (b.seq.finished ?? 0));
    for (const read of view.values)
      push(this.#values, valueKey(read.name, read.agent, read.turn, read.step), read.value);
  }

  async recall(ask: Ask, digest: string): Promise<Recalled> {
    const step = this.#byKey.get(keyOf(ask, digest))?.shift();
    if (step === undefined) {
      const expected = this.#expected(ask);
      if (expected !== undefined) throw this.#differs(ask, expected);
      if (this.#strict) throw beyond(ask);
      return { kind: 'none' };
    }
    this.#open.delete(step.number);
    if (this.#strict && step.name !== ask.name) throw diverged(step, '/name', step.name, ask.name);
    if (!isFinished(step)) {
      if (this.#strict) throw beyond(ask);
      return { kind: 'unfinished', step };
    }
    await this.#turnOf(step);
    this.answered++;
    return { kind: 'answer', step };
  }

  recallValue(name: string, agent: string, turn: number, step: number | null): Json | undefined {
    const value = this.#values.get(valueKey(name, agent, turn, step))?.shift();
    if (value === undefined && this.#strict)
      throw new ChassisError(
        'Diverged',
        `the agent reads ${name} once more than the record shows in turn ${turn}`,
        {
          data: { step, path: '', expected: null, actual: name },
        },
      );
    return value;
  }

  finishTurn(turn: number): void {
    const left = this.#view.steps.find((step) => this.#open.has(step.number) && step.turn === turn);
    if (left === undefined) return;
    throw new ChassisError(
      'Diverged',
      `the agent ended turn ${turn} without step ${left.number} (${left.kind} ${left.name}) that the record shows`,
      { data: { step: left.number, path: '', expected: { kind: left.kind, name: left.name }, actual: null } },
    );
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
      this.#released.add(head.number);
      waiting.release();
    }
    for (const { step, fail } of [...this.#waiting.values()]) {
      const skipped = this.#order
        .slice(this.#next, this.#order.indexOf(step))
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
    return this.#view.steps.find((step) => this.#open.has(step.number) && samePlace(step, ask));
  }

  #differs(ask: Ask, expected: Step): ChassisError {
    if (expected.kind !== ask.kind) return diverged(expected, '/kind', expected.kind, ask.kind);
    if (expected.name !== ask.name && ask.kind !== 'model')
      return diverged(expected, '/name', expected.name, ask.name);
    const recorded =
      expected.kind === 'model' ? (this.#view.request(expected.number) as unknown as Json) : expected.input;
    const difference = firstDifference(recorded, inputOf(ask));
    return difference === null
      ? diverged(expected, '/input', 'one call', 'the same call once more')
      : diverged(expected, `/input${difference.path}`, difference.expected, difference.actual);
  }

  #missing(missing: Step, asked: Step): ChassisError {
    return new ChassisError(
      'Diverged',
      `the agent asked for step ${asked.number} (${asked.kind} ${asked.name}) without step ${missing.number} (${missing.kind} ${missing.name}) that came before it`,
      {
        data: {
          step: missing.number,
          path: '',
          expected: { kind: missing.kind, name: missing.name, input: missing.input },
          actual: { kind: asked.kind, name: asked.name, input: asked.input },
        },
      },
    );
  }
}

/** A model's name is no part of the key: a turn may go on with another model. Strict replay compares it apart. */
function keyOf(place: Pick<Ask, 'turn' | 'agent' | 'parent' | 'kind' | 'name'>, digest: string): string {
  const name = place.kind === 'model' ? '' : place.name;
  return JSON.stringify([place.turn, place.agent, place.parent, place.kind, name, digest]);
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

function diverged(step: Step, path: string, expected: unknown, actual: unknown): ChassisError {
  return new ChassisError(
    'Diverged',
    `step ${step.number} (${step.kind} ${step.name}) differs from the record at ${path}`,
    {
      data: { step: step.number, path, expected, actual },
    },
  );
}

function beyond(ask: Ask): ChassisError {
  return new ChassisError(
    'Diverged',
    `the agent goes on with ${ask.kind} ${ask.name} where the record ends`,
    {
      data: {
        step: null,
        path: '',
        expected: null,
        actual: { kind: ask.kind, name: ask.name, input: inputOf(ask) },
      },
    },
  );
}

function push<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
