/**
 * What one event says about one step, turn, value, approval or note: shared by the fold, which takes all events in order,
 * and by the past, which looks up those of one thing.
 */
import type { Json, ToolSpec } from '@chassis/types';
import { lostBlobIn, type Resolve, textOf } from './blob-ref.ts';
import type { Edit, Event, EventData } from './event.ts';
import type { Large, Lazy } from './lazy.ts';
import { attemptOf, finish, type Mutable, NONE, OpenStep, plain, type Said } from './open-step.ts';
import { setPointer } from './pointer.ts';
import type { Turn, ValueRead } from './step.ts';

export type OpenApproval = { [key: string]: Json };
export type Note = { text: string; author: string; time: number; step?: number };

/**
 * A step as its start says.
 * @param input what stands for the input, when it is not the one of the data
 */
export function startedStep(
  event: Event & { type: 'step.started' },
  number: number,
  resolve: Resolve | undefined,
  input: Json | Lazy,
): OpenStep {
  const { kind, name, digest, causes, parent, agent, turn, plugin, call_id, declared } = event.data;
  const said: Said = {
    kind: plain(kind, resolve),
    name: plain(name, resolve),
    digest: plain(digest, resolve),
    causes: plain(causes, resolve),
    parent,
    agent: plain(agent, resolve),
    turn,
    plugin: plain(plugin, resolve),
    call_id: plain(call_id, resolve),
    declared: plain(declared, resolve),
  };
  return new OpenStep(number, said, input, event.time, event.seq);
}

/** A step whose start is not on record. */
export function lostStep(number: number, turn: number, seq: number, started: number): OpenStep {
  const step = new OpenStep(number, { ...NOTHING_SAID, turn }, null, started, seq);
  step.status = 'unknown';
  step.lost = true;
  return step;
}

const NOTHING_SAID: Said = {
  kind: 'tool',
  name: '(lost)',
  digest: '',
  causes: NONE,
  parent: null,
  agent: '',
  turn: 0,
  plugin: null,
  call_id: undefined,
  declared: undefined,
};

/** What an event of a step changes in it; events of other kinds change nothing. */
export function applyToStep(
  step: OpenStep,
  event: Event,
  resolve: Resolve | undefined,
  large: Large | undefined,
): void {
  switch (event.type) {
    case 'step.chunk': {
      const { attempt, text, reasoning } = plain(event.data, resolve);
      const open = attemptOf(step, attempt);
      open.text += textOf(text);
      open.reasoning += textOf(reasoning);
      return;
    }
    case 'step.dispatched': {
      const { attempt, idempotency_key, model } = plain(event.data, resolve);
      const open = attemptOf(step, attempt);
      open.idempotency_key = idempotency_key;
      if (model !== undefined) open.model = model;
      step.status = 'dispatched';
      step.seq.dispatched = event.seq;
      return;
    }
    case 'step.attempt': {
      const { attempt, error, usage, wait_ms, model } = plain(event.data, resolve);
      const open = attemptOf(step, attempt);
      open.error = error;
      open.usage = usage;
      open.wait_ms = wait_ms;
      if (model !== undefined) open.model = model;
      return;
    }
    case 'step.finished':
      finish(step, event.data, event.seq, resolve, large?.value);
      return;
    default:
  }
}

/** Whether an edit changes what a step was asked. */
export function isOfInput({ path }: Edit): boolean {
  return /^\/input(\/|$)/.test(path);
}

/** An edit of a step; that of a model's input is the requests' business. */
export function applyEdit(step: OpenStep, edit: Edit): void {
  step.edits = [...step.edits, edit];
  if (step.kind === 'model' && isOfInput(edit)) return;
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

export function begunTurn(data: EventData['input.received'], resolve: Resolve | undefined): Mutable<Turn> {
  const { turn, content, tools, model } = plain(data, resolve);
  return {
    number: turn,
    input: textOf(content),
    ...(lostBlobIn(content) || lostBlobIn(tools) ? { lost: true } : {}),
    ...(Array.isArray(tools) ? { tools: tools as readonly ToolSpec[] } : {}),
    ...(model === undefined ? {} : { model }),
  };
}

/** A turn whose beginning is not on record. */
export function lostTurn(number: number): Mutable<Turn> {
  return { number, input: '', lost: true };
}

export function endTurn(
  ended: Mutable<Turn>,
  data: EventData['session.ended'],
  resolve: Resolve | undefined,
): void {
  const { outcome, answer, error, failed_step } = plain(data, resolve);
  ended.outcome = outcome;
  if (answer !== undefined) ended.answer = textOf(answer);
  if (error !== undefined) ended.error = error;
  if (failed_step !== undefined) ended.failed_step = failed_step;
}

/** The turn goes on: how it ended before is no longer how it ends. */
export function reopenTurn(turn: Mutable<Turn> | undefined): void {
  delete turn?.outcome;
  delete turn?.answer;
  delete turn?.error;
  delete turn?.failed_step;
}

export function valueRead(event: Event & { type: 'value.read' }, resolve: Resolve | undefined): ValueRead {
  const { name, value, agent, turn } = plain(event.data, resolve);
  return { name, value, step: event.step ?? null, agent, turn };
}

export function askedApproval(
  event: Event & { type: 'approval.requested' },
  resolve: Resolve | undefined,
): OpenApproval {
  return { ...(plain(event.data, resolve) as unknown as OpenApproval), step: event.step ?? null };
}

export function resolveApproval(approval: OpenApproval, resolution: EventData['approval.resolved']): void {
  const { id, ...resolved } = resolution;
  Object.assign(approval, { id, resolved });
}

export function noteOf(event: Event & { type: 'note.added' }, resolve: Resolve | undefined): Note {
  const { text, author } = plain(event.data, resolve);
  return {
    text: textOf(text),
    author,
    time: event.time,
    ...(event.step === undefined ? {} : { step: event.step }),
  };
}
