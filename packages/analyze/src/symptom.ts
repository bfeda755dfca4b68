/**
 * Where a run shows that it failed, and which of its values the failure complains about.
 *
 * The symptom is the failure that ended the last turn, or the step that was asked for.
 */
import { ChassisError, ErrorCode, type ErrorRecord } from '@chassis/errors';
import type { SessionView, Step } from '@chassis/journal';
import { findExact } from './match.ts';
import type { Place } from './place.ts';
import { follow } from './pointer.ts';
import { isDistinctive } from './search.ts';
import { type Spot, spotsOf } from './spots.ts';

export interface Symptom {
  readonly step: number;
  readonly kind: Step['kind'];
  readonly name: string;
  readonly status: Step['status'];
  /** What went wrong, in the words of the record. */
  readonly text: string;
  /** Where in the step the failure points, when it does. */
  readonly path?: string;
}

/** A value that the failure complains about. */
export interface Complaint {
  readonly place: Place;
  /** `direct`: the failure names the place or quotes the value. `input`: it is one of the arguments, no more. */
  readonly kind: 'direct' | 'input';
  /** What is said about it. */
  readonly text: string;
}

interface Issue {
  readonly path: string;
  readonly message?: string;
  readonly expected?: string;
  readonly received?: string;
}

const mostInputs = 24;

/**
 * The failure of a run; undefined when the run did not fail and no step is asked for.
 * @throws InvalidParams when there is no such step
 */
export function symptomOf(view: SessionView, asked?: number): Symptom | undefined {
  if (asked !== undefined) {
    const step = view.step(asked);
    if (!step)
      throw new ChassisError('InvalidParams', `no step ${asked}: the session has ${view.steps.length}`);
    return described(step, step.error);
  }
  const turn = view.turns.at(-1);
  const running = view.outcome === 'running';
  if (view.outcome === 'ok' || (running && !view.steps.some(isOpen))) return undefined;
  const named = turn?.failed_step === undefined ? undefined : view.step(turn.failed_step);
  const step = named ?? failing(view, turn?.error);
  return step && described(step, step.error ?? turn?.error);
}

/** The issues that a failed schema check left in an error. */
export function issuesOf(error: ErrorRecord | undefined): readonly Issue[] {
  const issues = follow(error?.data, '/issues');
  if (!Array.isArray(issues)) return [];
  return issues.filter((issue): issue is Issue => typeof follow(issue, '/path') === 'string');
}

/** Whether a step's end is not on record. */
export function isOpen(step: Step): boolean {
  return step.status === 'started' || step.status === 'dispatched';
}

/** The values behind a symptom, most telling first. */
export function complaintsOf(view: SessionView, symptom: Symptom): Complaint[] {
  const step = view.step(symptom.step);
  if (!step) return [];
  const root = rootOfIssues(step);
  const issues = issuesOf(step.error)
    .filter(({ path }) => follow(step, root + path) !== undefined)
    .map(
      (issue): Complaint => ({
        place: { step: step.number, pointer: root + issue.path },
        kind: 'direct',
        text: issueText(issue),
      }),
    );
  if (issues.length > 0) return issues;
  const quoted = quotedIn(view, step, symptom.text);
  if (quoted.length > 0) return quoted;
  if (step.kind === 'model') return [];
  return spotsOf(view, step.number, '/input')
    .filter(({ text, range }) => !range && isDistinctive(text))
    .slice(0, mostInputs)
    .map((spot) => ({ place: place(spot), kind: 'input', text: 'an argument of the failed call' }));
}

/** A broken result is at fault in its output, everything else in what it was given. */
function rootOfIssues(step: Step): string {
  return step.error?.code === ErrorCode.InvalidOutput ? '/output' : '/input';
}

/** Values of the step's data that the message repeats; parts of a longer text with their range. */
function quotedIn(view: SessionView, step: Step, message: string): Complaint[] {
  const root = step.kind === 'model' ? '/output/message' : '/input';
  const spots = spotsOf(view, step.number, root).filter(({ type }) => type === 'string' || type === 'number');
  const whole = spots.filter((spot) => isTold(spot) && !spot.range && findExact(spot.text, message));
  const found = whole.map(
    (spot): Complaint => ({ place: place(spot), kind: 'direct', text: 'the error repeats it' }),
  );
  const quotes = [...message.matchAll(/["'`“«‘]([^"'`”»’\n]{3,200})["'`”»’]/g)].map(
    (match) => match[1] ?? '',
  );
  const parts = quotes.flatMap((quote) =>
    spots.flatMap((spot): Complaint[] => {
      const inside = spot.range || spot.text === quote ? undefined : findExact(quote, spot.text);
      if (!inside) return [];
      return [
        { place: { ...place(spot), range: inside.range }, kind: 'direct', text: 'the error quotes it' },
      ];
    }),
  );
  return [...found, ...parts].slice(0, mostInputs);
}

/** Long enough that a message which holds it means it. */
function isTold({ text, type }: Spot): boolean {
  return text.length >= (type === 'number' ? 2 : 3);
}

function described(step: Step, error: ErrorRecord | undefined): Symptom {
  const { number, kind, name, status } = step;
  const issue = issuesOf(step.error)[0];
  const base = { step: number, kind, name, status, text: textOf(step, error) };
  if (issue) return { ...base, path: rootOfIssues(step) + issue.path };
  return step.error ? { ...base, path: '/error/message' } : base;
}

function textOf(step: Step, error: ErrorRecord | undefined): string {
  if (error) return `${error.name}: ${error.message}`;
  if (isOpen(step)) return 'no end on record: interrupted';
  return step.status === 'ok' ? 'this step did not fail' : step.status;
}

function issueText({ message, expected, received }: Issue): string {
  if (expected !== undefined && received !== undefined) return `expected ${expected}, received ${received}`;
  return message ?? 'breaks the schema';
}

/** The step that a turn's failure belongs to when the record does not name it. */
function failing(view: SessionView, error: ErrorRecord | undefined): Step | undefined {
  const turn = view.turns.at(-1)?.number;
  const steps = view.steps.filter((step) => turn === undefined || step.turn === turn);
  const same =
    error &&
    steps.findLast((step) => step.error?.code === error.code && step.error.message === error.message);
  return (
    same ??
    steps.findLast((step) => step.status !== 'ok' && step.parent === null) ??
    steps.at(-1) ??
    view.steps.at(-1)
  );
}

function place(spot: Spot): Place {
  const at = { step: spot.step, pointer: spot.pointer };
  return spot.range ? { ...at, range: spot.range } : at;
}
