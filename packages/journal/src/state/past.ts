/**
 * The part of a session that is read from its log when somebody looks at it.
 *
 * Promise: what it answers is what folding all events up to the same one would have given; large values are not kept.
 */
import type { Json } from '@chassis/types';
import {
  applyEdit,
  applyToStep,
  askedApproval,
  begunTurn,
  endTurn,
  isOfInput,
  lostStep,
  lostTurn,
  type Note,
  noteOf,
  type OpenApproval,
  reopenTurn,
  resolveApproval,
  startedStep,
  valueRead,
} from '../apply.ts';
import type { Resolve } from '../blob-ref.ts';
import type { Edit, Event, EventType, UnknownEvent } from '../event.ts';
import { type Large, type Lazy, Made } from '../lazy.ts';
import { type Mutable, type OpenStep, plain, reopen, takenOver } from '../open-step.ts';
import type { Logged } from '../requests.ts';
import type { Turn, ValueRead } from '../step.ts';
import type { Trail } from './trail.ts';

/** An event in its logged form, large values as text; `resolve` when it may hold references. */
export interface PastEvent {
  readonly event: Event | UnknownEvent;
  readonly resolve: Resolve | undefined;
  /** A member of its data that was left out, because it is large. */
  readonly large?: Large | undefined;
}

/**
 * Answers undefined for an event that is lost.
 * @param lean keep large values as text
 */
export type ReadEvent = (seq: number, lean: boolean) => PastEvent | undefined;

type Known<T extends EventType> = PastEvent & { readonly event: Event & { type: T } };

export class Past {
  readonly trail: Trail;
  readonly #read: ReadEvent;

  constructor(trail: Trail, read: ReadEvent) {
    this.trail = trail;
    this.#read = read;
  }

  /** @param outline counts of a model step's input */
  step(number: number, outline: (number: number) => Json): OpenStep {
    const step = this.#fold(number);
    if (step.kind === 'model' && step.lost !== true) step.setLazy('input', new Made(() => outline(number)));
    return step;
  }

  turn(index: number): Mutable<Turn> {
    const [, ...seqs] = this.trail.turns.get(index);
    let turn = lostTurn(index + 1);
    for (const { event, resolve } of this.#events(seqs)) {
      if (event.type === 'input.received') turn = begunTurn(event.data, resolve);
      else if (event.type === 'session.resumed') reopenTurn(turn);
      else if (event.type === 'session.ended') endTurn(turn, event.data, resolve);
    }
    return turn;
  }

  value(index: number): ValueRead {
    const found = this.#only(this.trail.values.get(index), 'value.read');
    if (found === undefined) return { name: 'now', value: null, step: null, agent: '', turn: 0 };
    return valueRead(found.event, found.resolve);
  }

  approval(index: number): OpenApproval {
    const [asked = -1, ...answers] = this.trail.approvals.get(index);
    const found = this.#only([asked], 'approval.requested');
    const approval = found === undefined ? { step: null } : askedApproval(found.event, found.resolve);
    for (const { event, resolve } of this.#events(answers))
      if (event.type === 'approval.resolved') resolveApproval(approval, plain(event.data, resolve));
    return approval;
  }

  note(index: number): Note {
    const found = this.#only(this.trail.notes.get(index), 'note.added');
    return found === undefined ? { text: '', author: '', time: 0 } : noteOf(found.event, found.resolve);
  }

  /** What a model step was asked, as it was logged. */
  request(number: number): Logged | undefined {
    if (number < 1 || number > this.trail.steps.length) return undefined;
    const [started = -1, ...later] = this.trail.steps.get(number - 1);
    // Whoever asks for it looks into it at once.
    const found = this.#only([started], 'step.started', false);
    if (found === undefined || found.event.data.kind !== 'model') return undefined;
    const { event, resolve } = found;
    const edits: Edit[] = [];
    for (const other of this.trail.edited ? this.#events(later) : [])
      edits.push(...editsOf(other.event, other.resolve, number).filter(isOfInput));
    return { input: event.data.input as Json, resolve, edits, head: undefined };
  }

  #fold(number: number): OpenStep {
    const [started = -1, ...later] = this.trail.steps.get(number - 1);
    const found = this.#only([started], 'step.started');
    const step =
      found === undefined
        ? lostStep(number, this.#turnOf(number), started, 0)
        : startedStep(found.event, number, found.resolve, this.#input(found));
    for (const { event, resolve, large } of this.#events(later)) {
      if (event.type === 'session.resumed') reopen(step, false);
      else if (event.type === 'session.forked') {
        if ((plain(event.data, resolve).rerun ?? []).includes(number)) reopen(step, true);
        for (const edit of editsOf(event, resolve, number)) applyEdit(step, edit);
      } else applyToStep(step, event, resolve, large && this.#again(event.seq, large));
    }
    return step;
  }

  #input({ event, resolve, large }: Known<'step.started'>): Json | Lazy {
    if (event.data.kind === 'model') return null;
    const value = large ? this.#again(event.seq, large).value : (event.data.input as Json);
    return takenOver('input', value, resolve);
  }

  /** A large value is not kept, but read again when somebody looks at it. */
  #again(seq: number, { key }: Large): Large {
    const make = (): Json => {
      const { data } = this.#read(seq, false)?.event ?? {};
      return (data as Record<string, Json> | undefined)?.[key] ?? null;
    };
    return { key, value: new Made(make) };
  }

  #turnOf(number: number): number {
    let turn = this.trail.turns.length;
    while (turn > 1 && (this.trail.turns.get(turn - 1)[0] ?? 0) >= number) turn--;
    return Math.max(turn, 1);
  }

  *#events(seqs: readonly number[]): Generator<PastEvent & { readonly event: Event }> {
    for (const seq of seqs) {
      const found = this.#read(seq, true);
      if (found !== undefined && typeof found.event.data === 'object' && found.event.data !== null)
        yield found as PastEvent & { readonly event: Event };
    }
  }

  #only<T extends EventType>([seq = -1]: readonly number[], type: T, lean = true): Known<T> | undefined {
    const found = this.#read(seq, lean);
    return found?.event.type === type ? (found as Known<T>) : undefined;
  }
}

function editsOf(event: Event, resolve: Resolve | undefined, number: number): readonly Edit[] {
  if (event.type !== 'session.forked') return [];
  return (plain(event.data, resolve).edits ?? []).filter(({ step }) => step === number);
}
