/**
 * The texts that stand in a step's data, each with its place: what a search looks through.
 *
 * A string that is itself a JSON document is opened once, so that an argument in a model's tool call, or a row in a
 * tool's textual result, has a name, neighbours and a range of its own.
 */
import type { SessionView } from '@chassis/journal';
import { leavesOf, typeOf } from './json.ts';
import { textLeaves } from './json-text.ts';
import { perStep } from './memo.ts';
import { type Place, read, type Span } from './place.ts';
import { nameOf, parentOf, pointer } from './pointer.ts';

export interface Spot extends Span {
  /** The nearest member name. */
  readonly name: string;
  /** Pointer of the place, continued into the document that a string holds. */
  readonly path: string;
  readonly type: string;
}

const known = perStep(() => new Map<string, readonly Spot[]>());

/** The spots below a pointer of a step, in the order in which they are written. */
export function spotsOf(view: SessionView, step: number, root: string): readonly Spot[] {
  const spots = known(view, step);
  let found = spots.get(root);
  if (!found) {
    found = [...walk(view, step, root)];
    spots.set(root, found);
  }
  return found;
}

/** The places of the texts and numbers below a pointer. */
export function valuesBelow(view: SessionView, { step, pointer: root }: Place): Place[] {
  return spotsOf(view, step, root).flatMap(({ pointer: at, range }) =>
    range ? [] : [{ step, pointer: at }],
  );
}

/** A value as it is shown to people: a text in quotation marks, a number without. */
export function shown(view: SessionView, span: Span): string {
  return spotAt(view, span)?.type === 'number' ? span.text : JSON.stringify(span.text);
}

/** The spot at a place: the text there, with its name and type. Undefined for containers and for nothing. */
export function spotAt(view: SessionView, place: Place): Spot | undefined {
  const spots = spotsOf(view, place.step, place.pointer);
  if (!place.range) return spots.find((spot) => spot.pointer === place.pointer && !spot.range);
  const inner = spots.find(
    (spot) => spot.range?.join() === place.range?.join() && spot.pointer === place.pointer,
  );
  if (inner) return inner;
  const text = read(view, place);
  if (typeof text !== 'string' || text === '') return undefined;
  const around = spots.find((spot) => spot.pointer === place.pointer && holds(spot, place));
  const { name, path } = around ?? { name: nameOf(place.pointer), path: place.pointer };
  return { ...place, name, path, text: around?.type === 'string' ? unescaped(text) : text, type: 'string' };
}

function holds({ range: outer }: Spot, { range: inner }: Place): boolean {
  return outer !== undefined && inner !== undefined && outer[0] <= inner[0] && inner[1] <= outer[1];
}

/** A part of a JSON string as the text that it says; as it stands when it is cut inside an escape. */
function unescaped(text: string): string {
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return text;
  }
}

/** The other texts of the array or object that a spot stands in; for a row of an array of objects also its own row. */
export function neighboursOf(view: SessionView, spot: Spot): ReadonlySet<string> {
  const holder = parentOf(spot.path);
  const root = spot.range ? spot.pointer : holder.length > 0 ? holder : spot.pointer;
  const others = spotsOf(view, spot.step, root).filter(
    (other) => other.path !== spot.path && parentOf(other.path) === holder,
  );
  return new Set(others.slice(0, 64).flatMap(({ text, type }) => (telling(text, type) ? [text] : [])));
}

function telling(text: string, type: string): boolean {
  return text !== '' && text !== '0' && type !== 'boolean' && type !== 'null';
}

function* walk(view: SessionView, step: number, root: string): Generator<Spot> {
  for (const leaf of leavesOf(read(view, { step, pointer: root }), root)) {
    const spot = { step, pointer: leaf.pointer, path: leaf.pointer, name: nameOf(leaf.pointer) };
    yield { ...spot, text: leaf.text, type: typeOf(leaf.value) };
    if (typeof leaf.value !== 'string') continue;
    for (const inner of textLeaves(leaf.text)) {
      const path = `${leaf.pointer}${pointer('')}${inner.pointer}`;
      yield {
        ...spot,
        path,
        range: inner.range,
        name: nameOf(inner.pointer) || spot.name,
        text: inner.text,
        type: inner.quoted ? 'string' : wordType(inner.text),
      };
    }
  }
}

function wordType(text: string): string {
  if (text === 'null') return 'null';
  return text === 'true' || text === 'false' ? 'boolean' : 'number';
}
