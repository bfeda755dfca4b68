/**
 * Where a value comes from: hop by hop back to the place where it first appears.
 *
 * Promise: every link is backed by the bytes at both of its ends (`isSupported`), and is `recorded` only when the
 * record itself says that one is the other. What a model wrote and nothing in its sight carries was born there.
 */
import type { SessionView, Step } from '@chassis/journal';
import { compose } from './compose.ts';
import { type Holder, holdersOfInput, holdersOfOutput, own, writersFor } from './holders.ts';
import { locate, textLeaves, writtenRange } from './json-text.ts';
import { type Form, formText, matches } from './match.ts';
import { callOf, type Label, originsOf } from './origins.ts';
import { type Place, read, type Span } from './place.ts';
import { keysOf, pointer } from './pointer.ts';
import { search } from './search.ts';
import { type Spot, spotAt, spotsOf } from './spots.ts';

/** One hop backwards: what stands at `from` was taken from `to`, which is earlier. */
export interface Link {
  readonly from: Span;
  readonly to: Span;
  readonly label: Label;
  /** For people: who did it, and in which form. */
  readonly how: string;
  readonly form: Form;
}

/** Who brought a value into the session. */
export type Birth = 'tool' | 'user' | 'system' | 'model' | 'clock' | 'agent';

export interface Lineage {
  /** The value that was asked for. */
  readonly at: Span;
  /** Hops from `at` backwards; empty when the value was born where it stands. */
  readonly links: readonly Link[];
  /** The first appearance. */
  readonly birth: Span;
  readonly origin: Birth;
  /** The sources of a value that was put together from several; `range` is the piece's place in the value at `birth`. */
  readonly pieces: readonly {
    readonly range: readonly [number, number];
    readonly link: Link;
    readonly origin: Birth;
  }[];
}

const mostHops = 64;

/**
 * The lineage of the string or number at a place, or of the part of a string that its range names.
 * Undefined when nothing stands there, or an array or object does.
 */
export function lineage(view: SessionView, place: Place): Lineage | undefined {
  const start = spotAt(view, place);
  if (!start) return undefined;
  const links: Link[] = [];
  let at = start;
  let origin = originOf(view, at);
  for (let hops = 0; hops < mostHops; hops++) {
    const hop = hopFrom(view, at);
    if (!hop || !isSupported(view, hop.link)) break;
    links.push(hop.link);
    at = hop.to;
    origin = originOf(view, at);
  }
  return { at: span(start), links, birth: span(at), origin, pieces: piecesOf(view, at) };
}

/** Whether the bytes at both ends of a link are one value in the form that the link states. */
export function isSupported(view: SessionView, link: Link): boolean {
  const from = spotAt(view, link.from)?.text;
  const to = spotAt(view, link.to)?.text;
  return from !== undefined && to !== undefined && matches(link.form, from, to);
}

interface Hop {
  readonly link: Link;
  readonly to: Spot;
}

function hopFrom(view: SessionView, at: Spot): Hop | undefined {
  const step = view.step(at.step);
  if (!step) return undefined;
  const root = keysOf(at.pointer)[0];
  if (root === 'input') return step.kind === 'model' ? carried(view, step, at) : argument(view, step, at);
  if (root === 'output' || root === 'error') return copied(view, step, at);
  return undefined;
}

/** A message of a request is the data of the step that it came from. */
function carried(view: SessionView, step: Step, at: Spot): Hop | undefined {
  const index = keysOf(at.pointer)[1] === 'messages' ? Number(keysOf(at.pointer)[2]) : -1;
  const origin = originsOf(view, step.number)[index];
  if (!origin) return undefined;
  if (!origin.source) {
    const first = {
      step: origin.first.step,
      pointer: at.pointer.replace(/^\/input\/messages\/\d+/, origin.first.pointer),
    };
    const earlier =
      at.step === first.step ? undefined : spotAt(view, at.range ? { ...first, range: at.range } : first);
    return earlier && hop(at, earlier, 'recorded', 'exact', 'the same message, first sent here');
  }
  const { step: source, pointer: from } = origin.source;
  const kind = source.kind === 'model' ? 'model' : 'tool';
  const how = kind === 'model' ? 'the model wrote this message' : `result of ${source.name}`;
  const same = spotAt(view, sameIn(source.number, from, at));
  if (same?.text === at.text) return hop(at, same, origin.source.label, 'exact', how);
  const hit = search(view, at, [{ step: source.number, root: from, kind, order: source.number }]);
  const found = hit && spotAt(view, hit.place);
  return found && hop(at, found, 'inferred', hit.form, how);
}

/** The place in a step's data that a place in the message made of it must be, if the message is that data. */
function sameIn(step: number, root: string, at: Spot): Place {
  const tail = at.pointer.replace(/^\/input\/messages\/\d+/, '');
  if (root === '/output/message')
    return { step, pointer: root + tail, ...(at.range ? { range: at.range } : {}) };
  const inner = at.path.slice(at.pointer.length + 1);
  if (at.range && inner !== '') return { step, pointer: root + inner };
  return { step, pointer: root, ...(at.range ? { range: at.range } : {}) };
}

/** An argument was written by the model that made the call, or put together by the agent. */
function argument(view: SessionView, step: Step, at: Spot): Hop | undefined {
  const call = callOf(view, step);
  if (!call) return sought(view, at, holdersOfInput(view, step));
  const model = call.model.number;
  const written = locate(call.text, at.pointer.slice('/input'.length));
  if (written) {
    const range = at.range ? writtenRange(call.text, written, at.range) : written.range;
    const to = spotAt(view, { step: model, pointer: call.pointer, range });
    if (to?.text === at.text)
      return hop(at, to, 'recorded', 'exact', 'the model wrote it as an argument of this call');
  }
  return sought(view, at, [{ step: model, root: call.pointer, kind: 'model', order: model }]);
}

/** What a model or a tool gave out may be a copy of what it was given. */
function copied(view: SessionView, step: Step, at: Spot): Hop | undefined {
  const found = sought(view, at, holdersOfOutput(view, step));
  if (found) return found;
  if (step.kind !== 'model') {
    const named = new Set(spotsOf(view, step.number, '/input').map(({ text }) => text));
    return sought(view, at, writersFor(view, step, named).map(own));
  }
  if (!at.pointer.startsWith('/output/message/tool_calls')) return undefined;
  const thoughts = ['reasoning', 'content'].map(
    (part): Holder => ({
      step: step.number,
      root: pointer('output', 'message', part),
      kind: 'model',
      order: step.number,
    }),
  );
  return sought(view, at, thoughts);
}

function sought(view: SessionView, at: Spot, holders: readonly Holder[]): Hop | undefined {
  const hit = search(view, at, holders);
  const to = hit && spotAt(view, hit.place);
  return to && hop(at, to, 'inferred', hit.form, sourceText(view, hit.holder));
}

function sourceText(view: SessionView, holder: Holder): string {
  const name = view.step(holder.step)?.name ?? 'the session';
  switch (holder.kind) {
    case 'tool':
      return `copied from the result of ${name}`;
    case 'model':
      return holder.root.endsWith('reasoning')
        ? "copied from the model's reasoning"
        : 'copied from what the model wrote';
    case 'user':
      return "copied from the person's message";
    case 'system':
      return 'copied from the instructions';
    case 'clock':
      return 'read from the clock or from chance';
    case 'input':
      return `copied from the arguments of ${name}`;
  }
}

function hop(from: Spot, to: Spot, label: Label, form: Form, how: string): Hop {
  const text = form === 'exact' ? how : `${how} (${formText[form]})`;
  return { to, link: { from: span(from), to: span(to), label, form, how: text } };
}

function piecesOf(view: SessionView, at: Spot): Lineage['pieces'] {
  const step = view.step(at.step);
  if (!step || !at.pointer.startsWith('/output')) return [];
  const pieces = compose(view, at, holdersOfOutput(view, step)) ?? [];
  return pieces.flatMap(({ range, source, holder }) => {
    const to = spotAt(view, source);
    const from = spotAt(view, { step: at.step, pointer: at.pointer, range: partOf(view, at, range) });
    if (!to || !from) return [];
    const how = sourceText(view, holder);
    const link = { from: span(from), to: span(to), label: 'inferred', form: 'exact', how } as const;
    return isSupported(view, link) ? [{ range, link, origin: originOf(view, to) }] : [];
  });
}

/** The range of a part of a spot in the string that the spot stands in. */
function partOf(view: SessionView, at: Spot, range: readonly [number, number]): readonly [number, number] {
  const text = at.range ? read(view, { step: at.step, pointer: at.pointer }) : undefined;
  const leaf =
    typeof text === 'string'
      ? textLeaves(text).find((other) => other.range.join() === at.range?.join())
      : undefined;
  if (typeof text === 'string' && leaf) return writtenRange(text, leaf, range);
  const start = at.range?.[0] ?? 0;
  return [start + range[0], start + range[1]];
}

function originOf(view: SessionView, at: Spot): Birth {
  const keys = keysOf(at.pointer);
  if (at.step === 0) return keys[0] === 'values' ? 'clock' : 'user';
  const step = view.step(at.step);
  if (step?.kind !== 'model') return keys[0] === 'input' ? 'agent' : 'tool';
  if (keys[0] !== 'input') return 'model';
  const role = keys[1] === 'messages' ? originsOf(view, at.step)[Number(keys[2])]?.message.role : 'system';
  return role === 'assistant' ? 'model' : (role ?? 'system');
}

function span(spot: Spot): Span {
  const place = { step: spot.step, pointer: spot.pointer, text: spot.text };
  return spot.range ? { ...place, range: spot.range } : place;
}
