/**
 * Where a value comes from: hop by hop back to the place where it first appears.
 *
 * Promise: every link is backed by the bytes at both of its ends (`isSupported`), and is `recorded` only when the
 * record itself says that one is the other. What a model wrote and nothing in its sight carries was born there.
 */
import type { SessionView } from '@chassis/journal';
import { compose } from './compose.ts';
import { type Derived, derivation, isDerived } from './derived.ts';
import { type Holder, holdersOfInput, holdersOfOutput } from './holders.ts';
import { hopFrom, type Link, sourceText, span } from './hops.ts';
import { textLeaves, writtenRange } from './json-text.ts';
import { matches } from './match.ts';
import { callOf, originsOf } from './origins.ts';
import { type Place, read, type Span } from './place.ts';
import { keysOf } from './pointer.ts';
import { type Spot, spotAt } from './spots.ts';

/** Who brought a value into the session; `unknown` when it is too short or too frequent to be told from its likes. */
export type Birth = 'tool' | 'user' | 'system' | 'model' | 'clock' | 'agent' | 'unknown';

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
  /** How the number at `birth` was worked out from others, when it was. */
  readonly derived?: Derived;
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
  let hop = hopFrom(view, at);
  while (hop && hop !== 'ambiguous' && links.length < mostHops && isSupported(view, hop.link)) {
    links.push(hop.link);
    at = hop.to;
    hop = hopFrom(view, at);
  }
  const born = originOf(view, at);
  const origin = hop === 'ambiguous' && (born === 'model' || born === 'agent') ? 'unknown' : born;
  const pieces = piecesOf(view, at);
  const derived = pieces.length > 0 ? undefined : derivedOf(view, at);
  return { at: span(start), links, birth: span(at), origin, pieces, ...(derived ? { derived } : {}) };
}

/** The places that a value is from in the end: where it was born, or what it was put together or worked out from. */
export function sourcesOf({ birth, pieces, derived }: Lineage): readonly Span[] {
  return [birth, ...pieces.map(({ link }) => link.to), ...(derived?.of ?? [])];
}

/** Whether the bytes at both ends of a link are one value in the form that the link states. */
export function isSupported(view: SessionView, link: Link): boolean {
  const from = spotAt(view, link.from)?.text;
  const to = spotAt(view, link.to)?.text;
  return from !== undefined && to !== undefined && matches(link.form, from, to);
}

/** What was in sight of whoever made a value; nothing where somebody else made it. */
function sightOf(view: SessionView, at: Spot): readonly Holder[] {
  const step = view.step(at.step);
  if (!step) return [];
  if (at.pointer.startsWith('/output')) return holdersOfOutput(view, step);
  const own = step.kind !== 'model' && at.pointer.startsWith('/input') && !callOf(view, step);
  return own ? holdersOfInput(view, step) : [];
}

function derivedOf(view: SessionView, at: Spot): Derived | undefined {
  if (at.type !== 'number' && at.type !== 'string') return undefined;
  const found = derivation(view, at, sightOf(view, at));
  return found && isDerived(at.text, found) ? found : undefined;
}

function piecesOf(view: SessionView, at: Spot): Lineage['pieces'] {
  const pieces = compose(view, at, sightOf(view, at)) ?? [];
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
  if (step?.kind === 'state') return 'agent';
  if (step?.kind !== 'model') return keys[0] === 'input' ? 'agent' : 'tool';
  if (keys[0] !== 'input') return 'model';
  const role = keys[1] === 'messages' ? originsOf(view, at.step)[Number(keys[2])]?.message.role : 'system';
  return role === 'assistant' ? 'model' : (role ?? 'system');
}
