/**
 * Where everything that a session's state is made of stands in its log: for each step, turn, value, approval and note the
 * numbers of its events. It is what a snapshot holds; values stay in the log and are read there.
 *
 * Promise: it grows event by event with the fold; a log of which parts are lost or that no writer of ours could have
 * written makes it `broken`, and it is not used then.
 */
import type { Resolve } from '../blob-ref.ts';
import { type DeltaHead, deltaHead } from '../delta-head.ts';
import type { Event, Outcome, UnknownEvent } from '../event.ts';
import type { Large } from '../lazy.ts';
import { plain } from '../open-step.ts';
import { type ReadNode, Rows, type RowsRoot, type WriteNode } from './rows.ts';

/** Turns in a row whose beginning may be missing. */
const MOST_TURNS = 1000;

const LISTS = ['steps', 'turns', 'values', 'approvals', 'notes', 'changing', 'states', 'requests'] as const;
type List = (typeof LISTS)[number];

/** Plain data: the root of a snapshot. */
export interface TrailState {
  readonly seq: number;
  readonly outcome: 'running' | Outcome;
  readonly edited: boolean;
  readonly open: readonly number[];
  readonly asked: readonly (readonly [string, number])[];
  readonly rows: Readonly<Record<List, RowsRoot>>;
}

export class Trail {
  /** A step's events in order, those that took it up again or edited it among them. */
  readonly steps: Rows;
  /** How many steps came before a turn, then its events. */
  readonly turns: Rows;
  readonly values: Rows;
  /** Request and resolution. */
  readonly approvals: Rows;
  readonly notes: Rows;
  /** Numbers of the steps that changed something in the world. */
  readonly changing: Rows;
  /** Numbers of the state transitions. */
  readonly states: Rows;
  /**
   * Of each model step: its number, the nearest request before it of which messages are left in it (0 without one), and
   * that number plus how many messages are left: what is in between need not be looked at.
   */
  readonly requests: Rows;
  /** Steps that have not finished. */
  readonly open: Set<number>;
  /** Approvals that nobody has answered: id → place. */
  readonly #asked: Map<string, number>;
  /** The last event that is in it. */
  seq: number;
  outcome: 'running' | Outcome;
  /** Whether an edit changed what a model was asked. */
  edited: boolean;
  broken = false;

  constructor(saved?: TrailState, read?: ReadNode) {
    const rows = (list: List): Rows => new Rows(read, saved?.rows[list]);
    this.steps = rows('steps');
    this.turns = rows('turns');
    this.values = rows('values');
    this.approvals = rows('approvals');
    this.notes = rows('notes');
    this.changing = rows('changing');
    this.states = rows('states');
    this.requests = rows('requests');
    this.open = new Set(saved?.open);
    this.#asked = new Map(saved?.asked);
    this.seq = saved?.seq ?? -1;
    this.outcome = saved?.outcome ?? 'running';
    this.edited = saved?.edited ?? false;
  }

  /** Whose messages a request begins with, and how many of them; undefined when that is not known. */
  requestBefore(step: number): DeltaHead | undefined {
    const { requests } = this;
    let [low, high] = [0, requests.length - 1];
    // Mostly the newest one is asked for.
    if (high >= 0 && requests.get(high)[0] === step) low = high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((requests.get(middle)[0] as number) < step) low = middle + 1;
      else high = middle;
    }
    const [number, from = 0, sum] = low < requests.length ? requests.get(low) : [];
    if (number !== step || sum === undefined) return undefined;
    return { from: from === 0 ? null : from, keep: sum - from };
  }

  /** Writes what changed since the last time; `saved` says what became of it. */
  save(write: WriteNode): TrailState {
    const { seq, outcome, edited } = this;
    const rows = Object.fromEntries(LISTS.map((list) => [list, this[list].save(write)]));
    return {
      seq,
      outcome,
      edited,
      open: [...this.open],
      asked: [...this.#asked],
      rows: rows as Record<List, RowsRoot>,
    };
  }

  /** Whether what the last `save` wrote can be read from now on; if not, the next one writes it again. */
  saved(done: boolean): void {
    for (const list of LISTS) this[list].saved(done);
  }

  /**
   * Takes the next event in.
   * @param resolve and large, head: as for the fold
   */
  note(event: Event | UnknownEvent, resolve: Resolve | undefined, large?: Large, head?: DeltaHead): void {
    if (!this.#follows(event.seq)) return;
    try {
      this.#note(event, resolve, large, head);
    } catch {
      // A page of an earlier snapshot can no longer be read: there will be no further ones on top of it.
      this.broken = true;
    }
  }

  #note(
    event: Event | UnknownEvent,
    resolve: Resolve | undefined,
    large: Large | undefined,
    head: DeltaHead | undefined,
  ): void {
    if (typeof event.data !== 'object' || event.data === null) return;
    const known = event as Event;
    switch (known.type) {
      case 'input.received': {
        const { turn } = known.data;
        if (turn <= this.turns.length || !this.#turnsUpTo(turn - 1, 0)) {
          this.broken = true;
          return;
        }
        this.turns.push([this.steps.length, known.seq]);
        this.outcome = 'running';
        return;
      }
      case 'step.started': {
        const { turn, kind } = known.data;
        const number = known.step ?? this.steps.length + 1;
        if (number !== this.steps.length + 1 || !this.#turnsUpTo(turn)) {
          this.broken = true;
          return;
        }
        this.steps.push([known.seq]);
        this.open.add(number);
        if (kind === 'state') this.states.push([number]);
        if (kind === 'model') this.#requested(number, head ?? deltaHead(known.data, resolve, large));
        return;
      }
      case 'step.finished':
        this.#finished(known.step, known.seq, hasEffects(known.data.effects));
        return;
      case 'session.forked': {
        const { rerun, edits } = plain(known.data, resolve);
        for (const number of rerun ?? []) this.#reopen(number);
        if ((edits ?? []).some(({ path }) => /^\/input(\/|$)/.test(path))) this.edited = true;
        const concerned = new Set([...(rerun ?? []), ...(edits ?? []).map(({ step }) => step)]);
        for (const number of concerned) if (this.#has(number)) this.steps.add(number - 1, known.seq);
        this.outcome = 'running';
        return;
      }
      case 'session.resumed':
        for (const number of new Set(plain(known.data, resolve).rerun)) {
          this.#reopen(number);
          if (this.#has(number)) this.steps.add(number - 1, known.seq);
        }
        if (this.turns.length > 0) this.turns.add(this.turns.length - 1, known.seq);
        this.outcome = 'running';
        return;
      case 'session.ended': {
        const { turn, outcome } = known.data;
        if (!this.#turnsUpTo(turn)) {
          this.broken = true;
          return;
        }
        this.turns.add(turn - 1, known.seq);
        this.outcome = outcome;
        return;
      }
      case 'approval.requested': {
        const { id } = plain(known.data, resolve);
        this.#asked.set(id, this.approvals.length);
        this.approvals.push([known.seq]);
        return;
      }
      case 'approval.resolved': {
        const { id } = plain(known.data, resolve);
        const place = this.#asked.get(id);
        if (place === undefined) this.broken = true;
        else this.approvals.add(place, known.seq);
        this.#asked.delete(id);
        return;
      }
      default:
        this.#noteHead(known.type, known.step, known.seq);
    }
  }

  /** Whether more than the head of an event must be known; of a step's end, whether it says that something changed. */
  static needsData(type: string): boolean {
    return NEEDING.has(type);
  }

  /** The same for an event of which only the head was read. */
  noteHead({
    type,
    step,
    seq,
  }: {
    readonly type: string;
    readonly step?: number;
    readonly seq: number;
  }): void {
    if (!this.#follows(seq)) return;
    if (type === 'step.finished') this.#finished(step, seq, false);
    else this.#noteHead(type, step, seq);
  }

  #noteHead(type: string, step: number | undefined, seq: number): void {
    switch (type) {
      case 'step.chunk':
      case 'step.dispatched':
      case 'step.attempt':
        if (this.#has(step)) this.steps.add(step - 1, seq);
        else if (step !== undefined) this.broken = true;
        return;
      case 'value.read':
        this.values.push([seq]);
        return;
      case 'note.added':
        this.notes.push([seq]);
        return;
      default:
    }
  }

  #finished(step: number | undefined, seq: number, changes: boolean): void {
    if (!this.#has(step)) {
      if (step !== undefined) this.broken = true;
      return;
    }
    this.steps.add(step - 1, seq);
    this.open.delete(step);
    if (changes) this.changing.push([step]);
  }

  #requested(step: number, head: DeltaHead | undefined): void {
    if (head === undefined) {
      this.requests.push([step]);
      return;
    }
    const { keep } = head;
    let from = keep === 0 ? null : head.from;
    while (from !== null) {
      const before = this.requestBefore(from);
      if (before === undefined || keep > before.keep || (before.from ?? 0) >= from) break;
      from = before.from;
    }
    this.requests.push([step, from ?? 0, (from ?? 0) + keep]);
  }

  #follows(seq: number): boolean {
    if (seq !== this.seq + 1) this.broken = true;
    this.seq = seq;
    return !this.broken;
  }

  #has(step: number | undefined): step is number {
    return step !== undefined && step >= 1 && step <= this.steps.length;
  }

  #reopen(number: number): void {
    if (this.#has(number)) this.open.add(number);
  }

  /** Turns whose beginning is not on record stand there without events. */
  #turnsUpTo(turn: number, least = 1): boolean {
    if (!Number.isInteger(turn) || turn < least || turn - this.turns.length > MOST_TURNS) return false;
    while (this.turns.length < turn) this.turns.push([this.steps.length]);
    return true;
  }
}

const NEEDING: ReadonlySet<string> = new Set([
  'session.opened',
  'input.received',
  'step.started',
  'session.forked',
  'session.resumed',
  'session.ended',
  'approval.requested',
  'approval.resolved',
]);

function hasEffects(effects: unknown): boolean {
  // A list that is kept outside the line is not empty.
  return Array.isArray(effects) ? effects.length > 0 : effects !== undefined && effects !== null;
}
