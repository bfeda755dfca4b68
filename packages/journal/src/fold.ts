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
} from './apply.ts';
import type { Resolve } from './blob-ref.ts';
import type { DeltaHead } from './delta-head.ts';
import type { Edit, Event, Outcome, SessionHeader, UnknownEvent } from './event.ts';
import { GrowingList } from './growing-list.ts';
import { type Large, type Lazy, Made } from './lazy.ts';
import { type Mutable, type OpenStep, plain, reopen, takenOver } from './open-step.ts';
import type { Problem } from './problem.ts';
import { type ModelInput, Requests } from './requests.ts';
import type { Past } from './state/past.ts';
import type { Rows } from './state/rows.ts';
import type { Trail } from './state/trail.ts';
import type { Marks, RequestDelta, SessionView, Step, Turn, ValueRead } from './step.ts';

/** Steps or turns in a row that may be lost. A number that is further away than this is none. */
const MOST_LOST = 100_000;

/** What a fold keeps in memory when it can let go of the rest. */
const WINDOW = 256;

/** A session as it grows. `apply` takes its events in order; `view` always shows the state after the last one. */
export class Fold {
  readonly #view: FoldedView;
  readonly #trail: Trail | undefined;

  /**
   * @param past what was folded before, read from the log when somebody looks; its trail goes on with this fold
   * @param problems where the view's are kept
   */
  constructor(header: SessionHeader, past?: Past, problems: Problem[] = []) {
    this.#view = new FoldedView(header, past, problems);
    this.#trail = past?.trail;
  }

  get view(): SessionView {
    return this.#view;
  }

  /**
   * @param event the next event
   * @param resolve when given, the event is in its logged form: references are resolved through it
   * @param large a member of its data that the event has not, or not really
   * @param head what the messages of a model's request begin with, when that is known already
   */
  apply(event: Event | UnknownEvent, resolve?: Resolve, large?: Large, head?: DeltaHead): void {
    const view = this.#view;
    view.lastSeq = Math.max(view.lastSeq, event.seq);
    // Only a foreign writer leaves `data` out; there is nothing to fold then.
    if (typeof event.data === 'object' && event.data !== null) this.#apply(event as Event, resolve, large);
    // Afterwards: what is looked up on the way must not have this event in it.
    this.#trail?.note(event, resolve, large, head);
  }

  /**
   * Lets go of what is old enough and can be read from the log again, so that memory holds a window, not the session.
   * @param written the last event that can be read from the log
   * @param window how many of its newest steps (turns, values, …) it keeps at least
   */
  release(written: number, window = WINDOW): void {
    const trail = this.#trail;
    if (trail === undefined || trail.broken) return;
    const { stepList, turnList, valueList, approvalList, noteList, requests } = this.#view;
    const steps = stepList.own - window;
    const newest = steps < window ? undefined : stepList.at(stepList.length - window - 1);
    if (newest !== undefined && newest.seq.started <= written) {
      stepList.release(steps, ({ seq: { finished = Number.POSITIVE_INFINITY } }) => finished > written);
      requests.release(newest.number);
    }
    releaseRows(turnList, trail.turns, written, window, ({ outcome }) => outcome === undefined);
    releaseRows(valueList, trail.values, written, window);
    releaseRows(approvalList, trail.approvals, written, window, ({ resolved }) => resolved === undefined);
    releaseRows(noteList, trail.notes, written, window);
  }

  #apply(known: Event, resolve: Resolve | undefined, large: Large | undefined): void {
    const view = this.#view;
    switch (known.type) {
      case 'session.opened':
        // A parent's header is in the prefix of a fork's log; the session keeps its own.
        if (known.session === view.header.id || view.header.id === '') view.header = known.data;
        break;
      case 'input.received':
        this.#fillTurns(plain(known.data, resolve).turn - 1);
        view.turnList.push(begunTurn(known.data, resolve));
        view.outcome = 'running';
        break;
      case 'step.started':
        this.#started(known, resolve, large?.value);
        break;
      case 'step.chunk':
      case 'step.dispatched':
      case 'step.attempt':
      case 'step.finished': {
        const step = this.#concerned(known);
        if (step) applyToStep(step, known, resolve, large);
        break;
      }
      case 'value.read':
        view.valueList.push(valueRead(known, resolve));
        break;
      case 'approval.requested':
        view.approvalList.push(askedApproval(known, resolve));
        break;
      case 'approval.resolved': {
        const resolved = plain(known.data, resolve);
        const place = view.approvals.findLastIndex((open) => (open as OpenApproval).id === resolved.id);
        const approval = view.approvalList.change(place);
        if (approval) resolveApproval(approval, resolved);
        break;
      }
      case 'note.added':
        view.noteList.push(noteOf(known, resolve));
        break;
      case 'session.forked': {
        const { edits, rerun } = plain(known.data, resolve);
        for (const number of rerun ?? []) reopen(view.stepList.change(number - 1), true);
        for (const edit of edits ?? []) this.#edit(edit);
        view.outcome = 'running';
        break;
      }
      case 'session.resumed':
        for (const number of plain(known.data, resolve).rerun ?? [])
          reopen(view.stepList.change(number - 1), false);
        reopenTurn(view.turnList.change(view.turnList.length - 1));
        view.outcome = 'running';
        break;
      case 'session.ended': {
        const { outcome, turn } = plain(known.data, resolve);
        view.outcome = outcome;
        endTurn(this.#turn(turn), known.data, resolve);
        break;
      }
      case 'plugin.changed':
      case 'snapshot.taken':
      case 'session.repaired':
        break;
    }
  }

  #started(
    event: Event & { type: 'step.started' },
    resolve: Resolve | undefined,
    large: Lazy | undefined,
  ): void {
    const view = this.#view;
    const number = event.step ?? view.stepList.length + 1;
    this.#fill(number - 1, event.seq, event.time);
    // A number that is taken comes from a damaged log: what is there stays as it is.
    if (number !== view.stepList.length + 1) return;
    const input = large ?? (event.data.input as Json);
    const model = event.data.kind === 'model';
    if (model) view.requests.add(number, input, resolve);
    const shown = model ? new Made(() => view.requests.outline(number)) : takenOver('input', input, resolve);
    const step = startedStep(event, number, resolve, shown);
    view.stepList.push(step);
    this.#turn(step.turn);
  }

  /** The step that an event belongs to; one whose start is not on record is seen by it. */
  #concerned({ step, seq, time }: Event): OpenStep | undefined {
    if (step === undefined) return undefined;
    const known = this.#view.stepList.change(step - 1);
    if (known !== undefined) return known;
    this.#fill(step, seq, time);
    return this.#view.stepList.change(step - 1);
  }

  /** Steps up to a number whose starts are lost: what is known of them, and all that comes later, is shown. */
  #fill(last: number, seq: number, started: number): void {
    const { stepList, turnList } = this.#view;
    if (last <= stepList.length || last - stepList.length > MOST_LOST) return;
    const turn = turnList.at(turnList.length - 1)?.number ?? 1;
    while (stepList.length < last) {
      this.#turn(turn);
      stepList.push(lostStep(stepList.length + 1, turn, seq, started));
    }
  }

  /** The turn with a number, to be changed; one whose beginning is not on record is made. */
  #turn(number: number): Mutable<Turn> {
    const { turnList } = this.#view;
    for (let index = turnList.length - 1; index >= 0; index--)
      if (turnList.at(index)?.number === number) return turnList.change(index) as Mutable<Turn>;
    this.#fillTurns(number - 1);
    const turn = lostTurn(number);
    turnList.push(turn);
    return turn;
  }

  /** Turns up to a number of which nothing is on record: a turn stands at the place that its number says. */
  #fillTurns(last: number): void {
    const { turnList } = this.#view;
    if (last - turnList.length > MOST_LOST) return;
    while (turnList.length < last) turnList.push(lostTurn(turnList.length + 1));
  }

  #edit(edit: Edit): void {
    const view = this.#view;
    const step = view.stepList.change(edit.step - 1);
    if (!step) return;
    if (step.kind === 'model' && isOfInput(edit)) {
      view.requests.edit(edit);
      // What was known of it is no longer so.
      step.setLazy('input', new Made(() => view.requests.outline(edit.step)));
    }
    applyEdit(step, edit);
  }
}

/** Lets the older items of a list go whose events, as their rows tell, can all be read from the log. */
function releaseRows<T extends object>(
  list: GrowingList<T>,
  rows: Rows,
  written: number,
  window: number,
  mustStay: (item: T) => boolean = () => false,
): void {
  const count = list.own - window;
  if (count < window) return;
  const first = list.length - list.own;
  for (let index = first; index < first + count; index++) if ((rows.get(index).at(-1) ?? 0) > written) return;
  list.release(count, mustStay);
}

/**
 * Folds events (references already resolved) into a view.
 * @param header the session's header; the one in `session.opened` wins
 */
export function foldSession(events: Iterable<Event | UnknownEvent>, header?: SessionHeader): SessionView {
  let fold: Fold | undefined = header && new Fold(header);
  for (const event of events) {
    fold ??= new Fold(event.type === 'session.opened' ? (event.data as unknown as SessionHeader) : NO_HEADER);
    fold.apply(event);
  }
  return (fold ?? new Fold(NO_HEADER)).view;
}

/** For events without a beginning: everything that is known is that nothing is known. */
const NO_HEADER: SessionHeader = {
  format: 'chassis.session',
  v: 1,
  id: '',
  created: 0,
  chassis: '',
  title: '',
  workspace: '',
  project: '',
  agent: { name: '', version: '', digest: '', agent: '' },
  model: { name: '', fallbacks: [], params: {} },
  plugins: [],
  settings: {},
};

class FoldedView implements SessionView {
  header: SessionHeader;
  readonly stepList: GrowingList<OpenStep>;
  readonly turnList: GrowingList<Mutable<Turn>>;
  readonly valueList: GrowingList<ValueRead>;
  readonly approvalList: GrowingList<OpenApproval>;
  readonly noteList: GrowingList<Note>;
  readonly problems: Problem[];
  readonly requests: Requests;
  readonly marks: Marks | undefined;
  lastSeq: number;
  outcome: 'running' | Outcome;

  constructor(header: SessionHeader, past: Past | undefined, problems: Problem[]) {
    this.header = header;
    this.problems = problems;
    const trail = past?.trail;
    this.requests = new Requests(
      trail &&
        past && {
          known: (step) => past.request(step),
          before: (step) => trail.requestBefore(step),
          edited: trail.edited,
        },
    );
    this.lastSeq = trail?.seq ?? -1;
    this.outcome = trail?.outcome ?? 'running';
    if (!past || !trail) {
      this.stepList = new GrowingList();
      this.turnList = new GrowingList();
      this.valueList = new GrowingList();
      this.approvalList = new GrowingList();
      this.noteList = new GrowingList();
      return;
    }
    const outline = (number: number): Json => this.requests.outline(number);
    this.stepList = new GrowingList(trail.steps.length, (index) => past.step(index + 1, outline));
    this.turnList = new GrowingList(trail.turns.length, (index) => past.turn(index));
    this.valueList = new GrowingList(trail.values.length, (index) => past.value(index));
    this.approvalList = new GrowingList(trail.approvals.length, (index) => past.approval(index));
    this.noteList = new GrowingList(trail.notes.length, (index) => past.note(index));
    // What is under way is going to be changed: later it would be read with what is not in the log yet.
    for (const number of trail.open) this.stepList.change(number - 1);
    this.turnList.change(trail.turns.length - 1);
    this.marks = marksOf(trail);
  }

  get steps(): readonly Step[] {
    return this.stepList.items as readonly Step[];
  }

  get turns(): readonly Turn[] {
    return this.turnList.items;
  }

  get values(): readonly ValueRead[] {
    return this.valueList.items;
  }

  get approvals(): readonly Json[] {
    return this.approvalList.items;
  }

  get notes(): readonly Note[] {
    return this.noteList.items;
  }

  step(number: number): Step | undefined {
    return this.stepList.at(number - 1) as Step | undefined;
  }

  request(step: number): ModelInput {
    return this.requests.request(step);
  }

  delta(step: number): RequestDelta | undefined {
    return this.requests.delta(step);
  }
}

function marksOf(trail: Trail): Marks | undefined {
  const numbers = (rows: Iterable<readonly number[]>): number[] =>
    [...new Set(Array.from(rows, ([number = 0]) => number))].sort((a, b) => a - b);
  return {
    unfinished: () => [...trail.open].sort((a, b) => a - b),
    changing: () => numbers(trail.changing),
    states: () => numbers(trail.states),
    before: (turn) => rowOf(trail, turn)?.[0],
    began: (turn) => rowOf(trail, turn)?.[1],
  };
}

function rowOf({ turns }: Trail, turn: number): readonly number[] | undefined {
  return turn < 1 || turn > turns.length ? undefined : turns.get(turn - 1);
}
