import type { Json, ToolSpec } from '@chassis/types';
import { lostBlobIn, type Resolve, textOf } from './blob-ref.ts';
import type { Edit, Event, Outcome, SessionHeader, UnknownEvent } from './event.ts';
import { type Large, type Lazy, Made } from './lazy.ts';
import { attemptOf, finish, type Mutable, NONE, OpenStep, plain, reopen, takenOver } from './open-step.ts';
import { setPointer } from './pointer.ts';
import type { Problem } from './problem.ts';
import { type ModelInput, Requests } from './requests.ts';
import type { RequestDelta, SessionView, Step, Turn, ValueRead } from './step.ts';

/** Steps or turns in a row that may be lost. A number that is further away than this is none. */
const MOST_LOST = 100_000;

type OpenApproval = { [key: string]: Json };

/** A session as it grows. `apply` takes its events in order; `view` always shows the state after the last one. */
export class Fold {
  readonly #view: FoldedView;

  constructor(header: SessionHeader) {
    this.#view = new FoldedView(header);
  }

  get view(): SessionView {
    return this.#view;
  }

  /** The view's problems, for whoever reads the events to add to. */
  get problems(): Problem[] {
    return this.#view.problems;
  }

  /**
   * @param event the next event
   * @param resolve when given, the event is in its logged form: references are resolved through it
   * @param large a member of its data that the event has not, or not really
   */
  apply(event: Event | UnknownEvent, resolve?: Resolve, large?: Large): void {
    const view = this.#view;
    const known = event as Event;
    view.lastSeq = Math.max(view.lastSeq, event.seq);
    // Only a foreign writer leaves `data` out; there is nothing to fold then.
    if (typeof event.data !== 'object' || event.data === null) return;
    const step = known.step === undefined ? undefined : (view.open[known.step - 1] ?? this.#revealed(known));
    switch (known.type) {
      case 'session.opened':
        // A parent's header is in the prefix of a fork's log; the session keeps its own.
        if (known.session === view.header.id || view.header.id === '') view.header = known.data;
        break;
      case 'input.received': {
        const { turn, content, tools, model } = plain(known.data, resolve);
        this.#fillTurns(turn - 1);
        view.turns.push({
          number: turn,
          input: textOf(content),
          ...(lostBlobIn(content) || lostBlobIn(tools) ? { lost: true } : {}),
          ...(Array.isArray(tools) ? { tools: tools as readonly ToolSpec[] } : {}),
          ...(model === undefined ? {} : { model }),
        });
        view.outcome = 'running';
        break;
      }
      case 'step.started':
        this.#started(known, resolve, large?.value);
        break;
      case 'step.chunk': {
        if (!step) break;
        const { attempt, text, reasoning } = plain(known.data, resolve);
        const open = attemptOf(step, attempt);
        open.text += textOf(text);
        open.reasoning += textOf(reasoning);
        break;
      }
      case 'step.dispatched': {
        if (!step) break;
        const { attempt, idempotency_key, model } = plain(known.data, resolve);
        const open = attemptOf(step, attempt);
        open.idempotency_key = idempotency_key;
        if (model !== undefined) open.model = model;
        step.status = 'dispatched';
        step.seq.dispatched = known.seq;
        break;
      }
      case 'step.attempt': {
        if (!step) break;
        const { attempt, error, usage, wait_ms, model } = plain(known.data, resolve);
        const open = attemptOf(step, attempt);
        open.error = error;
        open.usage = usage;
        open.wait_ms = wait_ms;
        if (model !== undefined) open.model = model;
        break;
      }
      case 'value.read': {
        const { name, value, agent, turn } = plain(known.data, resolve);
        view.values.push({ name, value, step: known.step ?? null, agent, turn });
        break;
      }
      case 'step.finished':
        if (step) finish(step, known.data, known.seq, resolve, large?.value);
        break;
      case 'approval.requested': {
        const approval = {
          ...(plain(known.data, resolve) as unknown as OpenApproval),
          step: known.step ?? null,
        };
        view.approvals.push(approval);
        break;
      }
      case 'approval.resolved': {
        const { id, ...decision } = plain(known.data, resolve);
        const approval = view.approvals.find((open) => open.id === id);
        if (approval) Object.assign(approval, { resolved: decision });
        break;
      }
      case 'note.added': {
        const { text, author } = plain(known.data, resolve);
        view.notes.push({ text: textOf(text), author, time: known.time });
        break;
      }
      case 'session.forked': {
        const { edits, rerun } = plain(known.data, resolve);
        for (const number of rerun ?? []) reopen(view.open[number - 1], true);
        for (const edit of edits ?? []) this.#edit(edit);
        view.outcome = 'running';
        break;
      }
      case 'session.resumed':
        for (const number of plain(known.data, resolve).rerun ?? []) reopen(view.open[number - 1], false);
        reopenTurn(view.turns.at(-1));
        view.outcome = 'running';
        break;
      case 'session.ended': {
        const { outcome, turn, answer, error, failed_step } = plain(known.data, resolve);
        view.outcome = outcome;
        const ended = this.#turn(turn);
        ended.outcome = outcome;
        if (answer !== undefined) ended.answer = textOf(answer);
        if (error !== undefined) ended.error = error;
        if (failed_step !== undefined) ended.failed_step = failed_step;
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
    const number = event.step ?? view.open.length + 1;
    this.#fill(number - 1, event.seq, event.time);
    // A number that is taken comes from a damaged log: what is there stays as it is.
    if (number !== view.open.length + 1) return;
    const { kind, name, digest, causes, parent, agent, turn, plugin, call_id, declared } = resolve
      ? plain({ ...event.data, input: null }, resolve)
      : event.data;
    const input = large ?? (event.data.input as Json);
    if (kind === 'model') view.requests.add(number, input, resolve);
    const step = new OpenStep(
      {
        number,
        kind,
        name,
        digest,
        causes: Array.isArray(causes) ? causes : NONE,
        parent: parent ?? null,
        agent,
        turn,
        plugin: plugin ?? null,
        ...(call_id === undefined ? {} : { call_id }),
        ...(declared === undefined ? {} : { declared }),
        status: 'started',
        started: event.time,
        effects: NONE,
      },
      kind === 'model' ? new Made(() => view.requests.outline(number)) : takenOver('input', input, resolve),
      event.seq,
    );
    view.open.push(step);
    this.#turn(turn);
  }

  /** A step whose start is not on record, seen by another of its events. */
  #revealed({ type, step, seq, time }: Event): OpenStep | undefined {
    const known =
      type === 'step.dispatched' ||
      type === 'step.chunk' ||
      type === 'step.attempt' ||
      type === 'step.finished';
    if (!known || step === undefined) return undefined;
    this.#fill(step, seq, time);
    return this.#view.open[step - 1];
  }

  /** Steps up to a number whose starts are lost: what is known of them, and all that comes later, is shown. */
  #fill(last: number, seq: number, started: number): void {
    const { open, turns } = this.#view;
    if (last - open.length > MOST_LOST) return;
    const turn = turns.at(-1)?.number ?? 1;
    while (open.length < last) {
      this.#turn(turn);
      open.push(new OpenStep({ ...LOST_STEP, number: open.length + 1, turn, started }, null, seq));
    }
  }

  /** The turn with a number; one whose beginning is not on record is made. */
  #turn(number: number): Mutable<Turn> {
    const { turns } = this.#view;
    let turn = turns.findLast((open) => open.number === number);
    if (turn === undefined) {
      this.#fillTurns(number - 1);
      turn = { number, input: '', lost: true };
      turns.push(turn);
    }
    return turn;
  }

  /** Turns up to a number of which nothing is on record: a turn stands at the place that its number says. */
  #fillTurns(last: number): void {
    const { turns } = this.#view;
    if (last - turns.length > MOST_LOST) return;
    while (turns.length < last) turns.push({ number: turns.length + 1, input: '', lost: true });
  }

  #edit(edit: Edit): void {
    const view = this.#view;
    const step = view.open[edit.step - 1];
    if (!step) return;
    step.edits = [...step.edits, edit];
    if (step.kind === 'model' && /^\/input(\/|$)/.test(edit.path)) {
      view.requests.edit(edit);
      return;
    }
    const whole: { [key: string]: Json } = { input: step.input };
    if (step.output !== undefined) whole.output = step.output;
    if (step.error !== undefined) whole.error = step.error as unknown as Json;
    const { input, output, error } = setPointer(whole, edit.path, edit.value) as { [key: string]: Json };
    if (/^\/output(\/|$)/.test(edit.path) && output !== undefined) {
      step.setValue('output', output);
      delete step.error;
      step.status = 'ok';
    } else if (/^\/error(\/|$)/.test(edit.path) && error !== undefined) {
      step.setValue('error', error);
      delete step.output;
      step.status = 'error';
    } else if (input !== undefined) {
      step.setValue('input', input);
    }
  }
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

const LOST_STEP = {
  kind: 'tool',
  name: '(lost)',
  digest: '',
  causes: NONE,
  parent: null,
  agent: '',
  plugin: null,
  status: 'unknown',
  effects: NONE,
  lost: true,
} as const;

class FoldedView implements SessionView {
  header: SessionHeader;
  readonly turns: Mutable<Turn>[] = [];
  readonly open: OpenStep[] = [];
  readonly values: ValueRead[] = [];
  readonly approvals: OpenApproval[] = [];
  readonly notes: { text: string; author: string; time: number }[] = [];
  readonly problems: Problem[] = [];
  readonly requests = new Requests();
  lastSeq = -1;
  outcome: 'running' | Outcome = 'running';

  constructor(header: SessionHeader) {
    this.header = header;
  }

  get steps(): readonly Step[] {
    return this.open as readonly Step[];
  }

  step(number: number): Step | undefined {
    return this.steps[number - 1];
  }

  request(step: number): ModelInput {
    return this.requests.request(step);
  }

  delta(step: number): RequestDelta | undefined {
    return this.requests.delta(step);
  }
}

/** The turn goes on: how it ended before is no longer how it ends. */
function reopenTurn(turn: Mutable<Turn> | undefined): void {
  delete turn?.outcome;
  delete turn?.answer;
  delete turn?.error;
  delete turn?.failed_step;
}
