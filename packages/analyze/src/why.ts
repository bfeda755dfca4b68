/**
 * Why a run failed: from the symptom backwards to the step where the bad value, or the broken promise, first appeared.
 *
 * Promise: no language model, no guess dressed as a fact. Every link is labelled, and when the record does not show a
 * cause the answer says so and gives the slice, which is what there is to read.
 */
import type { SessionView, Step } from '@chassis/journal';
import type { Json } from '@chassis/types';
import type { ChainLink } from './chain.ts';
import { chainTo } from './chain.ts';
import { totalCost } from './cost.ts';
import { gather } from './evidence.ts';
import { hold } from './hold.ts';
import { perStep } from './memo.ts';
import type { Label } from './origins.ts';
import type { Place } from './place.ts';
import { follow } from './pointer.ts';
import { type Ranked, ranked } from './rank.ts';
import { failureInside } from './rules/looks.ts';
import type { Evidence } from './rules/rule.ts';
import { shown } from './spots.ts';
import { type Symptom, symptomOf } from './symptom.ts';

/** Something suspicious at a place. */
export interface Suspicion {
  readonly step: number;
  readonly kind: Step['kind'];
  /** The step's name: the tool or the model. */
  readonly name: string;
  readonly pointer?: string;
  /** The part of a text that it is about, in UTF-16 units. */
  readonly range?: readonly [number, number];
  readonly value?: Json;
  /** The name of the rule that speaks. */
  readonly rule: string;
  readonly text: string;
  /** 0 to 1: how strongly the record speaks for it. */
  readonly score: number;
}

export interface Cause extends Suspicion {
  /** How the cause is tied to the failure: by facts of the record, by equal bytes, or by its place before it only. */
  readonly label: Label;
}

/** Something else worth knowing. */
export interface Note {
  readonly step: number;
  readonly pointer?: string;
  readonly value?: Json;
  readonly text: string;
}

/** The run in a line. */
export interface RunHead {
  readonly session: string;
  readonly title: string;
  readonly model: string;
  readonly outcome: SessionView['outcome'];
  readonly steps: number;
  readonly duration_ms: number;
  /** Null when no price is known. */
  readonly cost_usd: number | null;
  readonly cost_lower_bound: boolean;
}

export interface Why {
  /** `cause`: found. `slice`: it failed, and the record does not show why. `none`: nothing failed. */
  readonly status: 'cause' | 'slice' | 'none';
  readonly run: RunHead;
  /** Null only with status `none`. */
  readonly symptom: Symptom | null;
  readonly cause?: Cause;
  /** From the symptom backwards to the cause. */
  readonly chain: readonly ChainLink[];
  /** Further suspects, the likeliest first. */
  readonly others: readonly Suspicion[];
  readonly also: readonly Note[];
  /** The steps that led to the symptom, ascending, itself included. */
  readonly slice: readonly number[];
  /** Whether still older steps led to it: they were not looked at, as those of the slice hold the cause. */
  readonly older: boolean;
  /** Steps of the whole run. */
  readonly total: number;
}

export interface WhyOptions {
  /** A run of the same task that went well: the first difference from it on the way to the failure weighs most. */
  readonly against?: SessionView;
  /** A value of the step to ask about, instead of those that its failure speaks of. */
  readonly about?: Place;
}

/** So many of the newest steps of a slice are looked at before all of it is. */
const near = 1000;
/** Less than this is a guess, however sure the way to it is. */
const sure = 0.56;
/** Less than this is no cause. */
const enough = 0.4;
const mostOthers = 8;
const mostNotes = 8;
/** So many of the newest steps of a run that went well are read for failures that nobody heard of. */
const mostUnheard = 2000;

/**
 * Explains the failure that ended the run, or the step that is asked for.
 * @throws InvalidParams when there is no such step
 */
export function why(view: SessionView, step?: number, options: WhyOptions = {}): Why {
  const held = hold(view);
  if (options.against || options.about) return explained(held, step, options);
  return known(held, step ?? Number.NaN);
}

const known = perStep((view, step) => explained(view, Number.isNaN(step) ? undefined : step));

function explained(view: SessionView, step: number | undefined, options: WhyOptions = {}): Why {
  const symptom = symptomOf(view, step, options.about);
  const base = { run: headOf(view), total: view.steps.length };
  if (!symptom)
    return {
      ...base,
      status: 'none',
      symptom: null,
      chain: [],
      others: [],
      also: unheard(view),
      slice: [],
      older: false,
    };
  const { evidence, suspects, older } = judged(view, symptom, options.against);
  const [top, ...rest] = suspects;
  const found = { ...base, symptom, slice: evidence.steps.map(({ number }) => number), older };
  if (!isCause(top)) {
    const { chain } = chainTo(evidence, undefined);
    return {
      ...found,
      status: 'slice',
      chain,
      others: suspicions(view, suspects),
      also: notesOf(evidence, suspects, undefined),
    };
  }
  const { chain, label } = chainTo(evidence, top);
  const elsewhere = rest.filter(
    (suspect) => suspect.step !== top.step && (suspect.rule !== 'repeated-call' || suspect.score >= 0.5),
  );
  return {
    ...found,
    status: 'cause',
    cause: { ...suspicion(view, top), label: top.score < sure ? 'guess' : label },
    chain,
    others: suspicions(view, elsewhere),
    also: notesOf(evidence, rest, top),
  };
}

/** What is merely related would be named for most failures that have no cause on record. */
function isCause(top: Ranked | undefined): top is Ranked {
  return top !== undefined && top.score >= enough && top.rule !== 'related';
}

/** A loop is told once, where it begins: that its second round repeats the first says no more. */
function isNews({ tools }: Evidence): (suspect: Ranked) => boolean {
  const second = new Set(
    tools.flatMap(({ groups }) => groups.flatMap(([, again, more]) => (again && more ? [again.number] : []))),
  );
  return ({ rule, step }) => rule !== 'repeated-call' || !second.has(step);
}

/** The suspects among the newest steps that led to a failure; all the steps are looked at when those hold no sure cause. */
function judged(
  view: SessionView,
  symptom: Symptom,
  against: SessionView | undefined,
): { readonly evidence: Evidence; readonly suspects: readonly Ranked[]; readonly older: boolean } {
  const newest = against ? undefined : gather(view, symptom, undefined, near);
  if (newest && newest.left !== 'traced') {
    const suspects = ranked(newest);
    const older = newest.left === 'older';
    if (!older || (isCause(suspects[0]) && suspects[0].score >= sure))
      return { evidence: newest.evidence, suspects, older };
  }
  const all = gather(view, symptom, against);
  return { evidence: all.evidence, suspects: ranked(all), older: false };
}

/** Calls of a run that went well whose answers say that they failed, and that were not made good. */
function unheard(view: SessionView): Note[] {
  const notes: Note[] = [];
  const steps = view.steps.length > mostUnheard ? view.steps.slice(-mostUnheard) : view.steps;
  for (const step of steps) {
    const found = failureInside(step);
    if (!found) continue;
    const text = `${step.name} counts as done, its answer says otherwise: ${found.text}`;
    notes.push({ step: step.number, pointer: found.pointer, text });
  }
  const last = view.steps.at(-1);
  const said = last?.kind === 'model' ? follow(last.output, '/message') : undefined;
  if (last && said && isSilent(said)) {
    notes.push({ step: last.number, pointer: '/output/message', text: 'the run ended with an empty answer' });
  }
  return notes.slice(-mostNotes);
}

function isSilent(message: Json): boolean {
  const { content, tool_calls } = message as { content?: Json; tool_calls?: readonly Json[] };
  return (content === '' || content === null || content === undefined) && !tool_calls?.length;
}

/** Other bad values at the cause, other values that the failure complains about, and repeated calls. */
function notesOf(evidence: Evidence, all: readonly Ranked[], cause: Ranked | undefined): Note[] {
  const { traces, view } = evidence;
  const suspects = all.filter(isNews(evidence));
  const notes = new Map<string, Note>();
  const add = (note: Note): void => {
    const key = `${note.step}${note.pointer ?? note.text}`;
    const main =
      cause && note.step === cause.step && note.pointer === cause.pointer && note.pointer !== undefined;
    if (!notes.has(key) && !main) notes.set(key, note);
  };
  for (const {
    complaint,
    lineage: { birth },
  } of traces) {
    if (complaint.kind !== 'direct' || !cause) continue;
    const text = `${shown(view, birth)} (${complaint.text} at ${complaint.place.pointer})`;
    add({ step: birth.step, pointer: birth.pointer, value: birth.text, text });
  }
  for (const { step, pointer, value, text, rule, kind } of suspects) {
    if (rule !== 'repeated-call' && step !== cause?.step) continue;
    if (kind === 'end' || rule === 'related') continue;
    add({
      step,
      ...(pointer === undefined ? {} : { pointer }),
      ...(value === undefined ? {} : { value }),
      text,
    });
  }
  return [...notes.values()].filter(({ step }) => step === 0 || view.step(step)).slice(0, mostNotes);
}

function suspicions(view: SessionView, suspects: readonly Ranked[]): Suspicion[] {
  return suspects.slice(0, mostOthers).map((suspect) => suspicion(view, suspect));
}

function suspicion(view: SessionView, suspect: Ranked): Suspicion {
  const step = view.step(suspect.step);
  return { ...suspect, kind: step?.kind ?? 'state', name: step?.name ?? 'session' };
}

function headOf(view: SessionView): RunHead {
  const { cost_usd, lower_bound } = totalCost(view);
  const first = view.steps[0];
  const end = view.steps.reduce(
    (latest, { started, duration_ms }) => Math.max(latest, started + (duration_ms ?? 0)),
    0,
  );
  return {
    session: view.header.id,
    title: view.header.title,
    model: view.header.model.name,
    outcome: view.outcome,
    steps: view.steps.length,
    // What a fork has from its parent was before its time.
    duration_ms: first ? Math.max(0, end - Math.max(first.started, view.header.created)) : 0,
    cost_usd,
    cost_lower_bound: lower_bound,
  };
}
