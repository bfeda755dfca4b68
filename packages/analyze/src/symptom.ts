/**
 * Where a run shows that it failed, and which of its values the failure complains about.
 *
 * The symptom is the failure that ended the last turn, or the step that was asked for.
 */
import { ChassisError, ErrorCode, type ErrorRecord } from '@chassis/errors';
import type { SessionView, Step } from '@chassis/journal';
import { childrenOf } from './holders.ts';
import { leavesOf } from './json.ts';
import { findExact } from './match.ts';
import { misfitOf } from './misfit.ts';
import { unitOf } from './names.ts';
import { opened } from './opened.ts';
import type { Place } from './place.ts';
import { follow, parentOf } from './pointer.ts';
import { failureInside, isWriting } from './rules/looks.ts';
import { isDistinctive } from './search.ts';
import { type Spot, spotsOf } from './spots.ts';
import { type Issue, isOpen, issuesOf, type Statuses, statuses } from './statuses.ts';
import { isIdentifier } from './subject.ts';

export interface Symptom {
  readonly step: number;
  readonly kind: Step['kind'];
  readonly name: string;
  readonly status: Step['status'];
  /** What went wrong, in the words of the record. */
  readonly text: string;
  /** Where in the step the failure points, when it does. */
  readonly path?: string;
  /** The call in which it happened and which failed with it: a nested step's failure is looked for where it began. */
  readonly inside?: number;
  /** A step that was asked about, and did not fail. */
  readonly asked?: true;
  /** A value that was asked about, whether or not the failure speaks of it. */
  readonly about?: Place;
  readonly statuses: Statuses;
}

/** A value that the failure complains about. */
export interface Complaint {
  readonly place: Place;
  /** `direct`: the failure names the place or quotes the value. `input`: it is one of the arguments, no more. */
  readonly kind: 'direct' | 'input';
  /** What is said about it. */
  readonly text: string;
}

const mostInputs = 24;
/** How a complaint says that the message holds a value, without more. */
const repeats = 'the error repeats it';

/**
 * The failure of a run; undefined when the run did not fail and no step is asked for.
 * @throws InvalidParams when there is no such step
 */
export function symptomOf(view: SessionView, asked?: number, about?: Place): Symptom | undefined {
  if (asked !== undefined) {
    const step = view.step(asked);
    if (!step)
      throw new ChassisError('InvalidParams', `no step ${asked}: the session has ${view.steps.length}`);
    if (about) return { ...described(view, step, step.error), about };
    const found = nested(view, step);
    return found.status === 'ok' ? { ...found, asked: true } : found;
  }
  const turn = view.turns.at(-1);
  const running = view.outcome === 'running';
  if (view.outcome === 'ok' || (running && !view.steps.some(isOpen))) return undefined;
  const named = turn?.failed_step === undefined ? undefined : view.step(turn.failed_step);
  const step = named ?? failing(view, turn?.error);
  return step && nested(view, step, turn?.error);
}

/** The failure of a step, or of the step inside it whose failure it passes on. */
function nested(view: SessionView, outer: Step, error?: ErrorRecord): Symptom {
  let step = outer;
  for (let inner: Step | undefined = step; inner; ) {
    step = inner;
    const said: string = step.error?.message ?? '';
    inner = childrenOf(view, step.number).findLast(
      (child) => child.error && child.error.message.length > 3 && said.includes(child.error.message),
    );
  }
  const found = described(view, step, step.error ?? error);
  return step === outer ? found : { ...found, inside: outer.number };
}

/** The values behind a symptom, most telling first. */
export function complaintsOf(view: SessionView, symptom: Symptom): Complaint[] {
  const step = view.step(symptom.step);
  if (!step) return [];
  if (symptom.about) return [{ place: symptom.about, kind: 'direct', text: 'it was asked about' }];
  // That a tool has no such argument says nothing about its value.
  const misfit = misfitOf(view, step);
  if (misfit && misfit.kind !== 'missing') return [];
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
  const faults = quoted.filter((complaint) => !isSubject(view, step, complaint));
  if (faults.length > 0) return faults;
  if (step.kind === 'model') return quoted;
  const text = 'an argument of the failed call';
  const spots = spotsOf(view, step.number, '/input');
  const inputs = spots
    .filter((spot) => !spot.range && isWorthTracing(spot))
    .flatMap((spot): Complaint[] => {
      // In a longer text a code is a value of its own.
      const codes = /\s/.test(spot.text) ? codesIn(spot.text).flatMap((code) => within(spot, code)) : [];
      return [
        { place: place(spot), kind: 'input', text },
        ...codes.map((code) => ({ ...code, kind: 'input', text }) as const),
      ];
    });
  return [...straysIn(spots), ...inputs].slice(0, mostInputs);
}

/** How a complaint says that a value is of another type than the rest of its list. */
export const amongNumbers = 'a text among numbers';

/** Texts of a list whose other items are numbers. */
function straysIn(spots: readonly Spot[]): Complaint[] {
  const lists = Map.groupBy(
    spots.filter(({ pointer, range }) => !range && /\/\d+$/.test(pointer)),
    ({ pointer }) => parentOf(pointer),
  );
  return [...lists.values()].flatMap((items) => {
    const texts = items.filter(({ type }) => type === 'string');
    const numbers = items.filter(({ type }) => type === 'number').length;
    const few = numbers >= 2 && texts.length < numbers && numbers + texts.length === items.length;
    return few
      ? texts.map((spot): Complaint => ({ place: place(spot), kind: 'direct', text: amongNumbers }))
      : [];
  });
}

/**
 * Whether the failure names a thing only to say what it speaks of: an id that an earlier call took without complaint. What the run
 * itself has made is another matter: the fault may lie in the making.
 */
function isSubject(view: SessionView, failed: Step, { place, text }: Complaint): boolean {
  const value = place.range === undefined ? follow(view.step(place.step), place.pointer) : undefined;
  if (failed.kind !== 'tool' || text !== repeats || !isIdentifier(value)) return false;
  let taken = false;
  for (let number = failed.number - 1; number > 0 && number > failed.number - mostEarlier; number--) {
    const step = view.step(number);
    if (step?.kind !== 'tool' || step.status !== 'ok' || failureInside(step)) continue;
    if (leavesOf(step.input).some((leaf) => leaf.text === value)) taken = true;
    else if (isMadeBy(step, value)) return false;
  }
  return taken;
}

/** Whether a step gave out a name for what it had made. */
export function isMadeBy(step: Step, name: string): boolean {
  return (
    isWriting(step) &&
    !leavesOf(step.input).some(({ text }) => text === name) &&
    leavesOf(opened(step.output)).some(({ text }) => text === name)
  );
}

function isWorthTracing({ text, name, type }: Spot): boolean {
  return isDistinctive(text) || unitOf(name) !== undefined || (type === 'number' && text.length >= 2);
}

/** A broken result is at fault in its output, everything else in what it was given. */
function rootOfIssues(step: Step): string {
  return step.error?.code === ErrorCode.InvalidOutput ? '/output' : '/input';
}

/** Values of the step's data that the message repeats; parts of a longer text with their range. */
function quotedIn(view: SessionView, step: Step, message: string): Complaint[] {
  const root = step.kind === 'model' ? '/output/message' : '/input';
  const spots = spotsOf(view, step.number, root).filter(({ type }) => type === 'string' || type === 'number');
  const whole = spots.filter(
    (spot) => isTold(spot) && !spot.range && findExact(spot.text, message) && !isWanted(message, spot.text),
  );
  // What stands in quotation marks is meant; what is merely repeated says where that was.
  const isQuoted = (spot: Spot): boolean =>
    new RegExp(`["'\`“«‘「„]${RegExp.escape(spot.text)}["'\`”»’」“]`).test(message);
  whole.sort((a, b) => Number(isQuoted(b)) - Number(isQuoted(a)));
  const told = whole.map((spot): Complaint => ({ place: place(spot), kind: 'direct', text: repeats }));
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
  const codes = told.length + parts.length > 0 ? [] : codesIn(message);
  const inside = codes.flatMap((code) => spots.flatMap((spot) => within(spot, code)));
  const got = whole.filter((spot) => isGot(message, spot.text));
  if (got.length > 0)
    return got.map((spot): Complaint => ({ place: place(spot), kind: 'direct', text: repeats }));
  const found = [...told, ...parts, ...inside, ...partly(spots, message)];
  if (found.length > 0) return found.slice(0, mostInputs);
  // A word of the message may be a value that an earlier call was given.
  const words = codes.length > 0 ? codes : (message.match(/[\p{L}][\p{L}\p{N}_-]{3,40}/gu) ?? []).slice(-12);
  return earlierIn(view, step, words).slice(0, 1);
}

/** Whether a message says that this is what it got, and not what it expected or speaks of. */
function isGot(message: string, value: string): boolean {
  const before = /(?:\b(?:got|received|actual(?:ly)?|but (?:was|is|found))|erhalten|得到|收到)\W{1,4}$/i;
  for (let at = message.indexOf(value); at !== -1; at = message.indexOf(value, at + 1))
    if (before.test(message.slice(Math.max(0, at - 24), at))) return true;
  return false;
}

/** Whether a message names a value only as the one that should have been. */
function isWanted(message: string, value: string): boolean {
  const before =
    /(?:\b(?:expected|expects|wanted|needs?|requires?|should (?:be|have been)|must (?:be|equal)|instead of|due)|erwartet|期望|应为)\W{1,4}$/i;
  const behind =
    /^\W{0,2}\s*(?:(?:is|are|was|were) )?(?:needed|required|expected|wanted|due|planned|agreed|allowed|budgeted)\b/i;
  let found = false;
  for (let at = message.indexOf(value); at !== -1; at = message.indexOf(value, at + 1)) {
    if (
      !before.test(message.slice(Math.max(0, at - 24), at)) &&
      !behind.test(message.slice(at + value.length))
    )
      return false;
    found = true;
  }
  return found;
}

/** Addresses and paths of which the message repeats a part that is a word. */
function partly(spots: readonly Spot[], message: string): Complaint[] {
  const words = new Set(message.toLowerCase().match(/[a-z]{5,30}/g) ?? []);
  return spots
    .filter(({ text, range }) => !range && text.length <= 200 && /^[^\s]*[/.:@][^\s]*$/.test(text))
    .filter(({ text }) => (text.toLowerCase().match(/[a-z]{5,30}/g) ?? []).some((word) => words.has(word)))
    .map(
      (spot): Complaint => ({ place: place(spot), kind: 'direct', text: 'the error repeats a part of it' }),
    );
}

/** Words of a text that hold a digit and a letter, or many digits: ids, paths, codes. */
function codesIn(text: string): string[] {
  const words = text.match(/[\p{L}\p{N}][\p{L}\p{N}_./@:+-]{2,60}[\p{L}\p{N}]/gu) ?? [];
  return [...new Set(words.filter((word) => /\d/.test(word) && isDistinctive(word)))];
}

/** A part of a longer text. */
function within(spot: Spot, part: string): Complaint[] {
  const found = spot.range || spot.text === part ? undefined : findExact(part, spot.text);
  return found ? [{ place: { ...place(spot), range: found.range }, kind: 'direct', text: repeats }] : [];
}

const mostEarlier = 400;
const joined = /[\p{L}\d][_.-][\p{L}\d]/u;

/** What the message repeats and the failed call was not given: the newest argument before it that was just that. */
function earlierIn(view: SessionView, failed: Step, codes: readonly string[]): Complaint[] {
  if (failed.kind !== 'tool') return [];
  return codes.flatMap((code): Complaint[] => {
    for (let number = failed.number - 1; number > 0 && number > failed.number - mostEarlier; number--) {
      const step = view.step(number);
      if (step?.kind !== 'tool') continue;
      const leaves = leavesOf(step.input, '/input');
      const leaf = leaves.find(({ text }) => text === code);
      if (leaf) return [{ place: { step: number, pointer: leaf.pointer }, kind: 'direct', text: repeats }];
      // In a statement or a script a name of several parts is a word of its own.
      const part = joined.test(code)
        ? leaves.flatMap(({ pointer, text }) => {
            const found = findExact(code, text);
            return found ? [{ step: number, pointer, range: found.range }] : [];
          })[0]
        : undefined;
      if (part) return [{ place: part, kind: 'direct', text: repeats }];
    }
    return [];
  });
}

/** Long enough that a message which holds it means it. */
function isTold({ text, type }: Spot): boolean {
  return text.length >= (type === 'number' ? 2 : 3);
}

function described(view: SessionView, step: Step, error: ErrorRecord | undefined): Symptom {
  const { number, kind, name, status } = step;
  const issue = issuesOf(step.error)[0];
  const base = {
    step: number,
    kind,
    name,
    status,
    text: textOf(step, error),
    statuses: statuses(view, step),
  };
  if (issue) return { ...base, path: rootOfIssues(step) + issue.path };
  return step.error ? { ...base, path: '/error/message' } : base;
}

function textOf(step: Step, error: ErrorRecord | undefined): string {
  if (error) return `${error.name}: ${error.message}`;
  if (isOpen(step)) return 'no end on record: interrupted';
  if (step.status !== 'ok') return step.status;
  const inside = failureInside(step);
  return inside ? `it counts as done, its answer says otherwise: ${inside.text}` : 'this step did not fail';
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
