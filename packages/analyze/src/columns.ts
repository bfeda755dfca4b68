/**
 * The results of one tool as columns: what stands at one place of every result, side by side.
 *
 * A long run has millions of values. They are walked once and let go: of each column its looks, its sizes and the first
 * places of every look are kept, and all values only where the name says that they tell something about the rest.
 */
import type { Step } from '@chassis/journal';
import type { Json } from '@chassis/types';
import { cutHead, endsInMidSentence, isBroken, isRound } from './cut-text.ts';
import { leafText, leavesOf } from './json.ts';
import { opened } from './opened.ts';
import { lastKey, nameOf, pointer, shapeOf } from './pointer.ts';
import { isNumberLook, looker } from './value-looks.ts';

/** One value of a column. */
export interface Sighting {
  readonly step: Step;
  /** Which of the values at this place of the step's result it is. */
  readonly nth: number;
  readonly value: Json;
}

/** A value that may come many times in a row: its first place, and how often. */
export interface Told extends Sighting {
  times: number;
}

/** The numbers of one result at a place. */
export interface Middle {
  readonly at: Sighting;
  /** The median of their sizes. */
  readonly middle: number;
}

export interface Column {
  /** The pointer of all its values, with `*` for every index. */
  readonly shape: string;
  /** The last member name or `*`. */
  readonly key: string;
  /** The nearest member name. */
  readonly name: string;
  /** How many values there are. */
  readonly count: number;
  /** The steps whose results have the place, ascending. */
  readonly steps: readonly Step[];
  /** How many values have a look, and where the first of them are. */
  readonly looks: ReadonlyMap<string, { readonly count: number; readonly first: readonly Sighting[] }>;
  readonly middles: readonly Middle[];
  /** All values, where the name says that they tell something about the result: units, remarks, marks. */
  readonly told: readonly Told[];
  /** Steps with a text that may end cut. */
  readonly cut: readonly Step[];
  /** The different values, when there are only a few, with how often each comes and where first; not of rows. */
  readonly values: ReadonlyMap<Json, Told>;
  /** Numbers that are far from all others of the same list. */
  readonly strays: readonly Sighting[];
}

/** Names of members that tell something about the result beside its data. */
export const remarkName =
  /^(?:warnings?|messages?|reasons?|details?|notes?|hints?|stderr|notices?|info|remarks?|comments?|hinweise?|avisos?|avvisi|remarques?|提示|备注|注意)$/i;
export const unitName = /(?:^|_)(?:unit|units|uom|currency|scale|measure)$/i;
export const partName =
  /^(?:is_?|was_?)?(?:truncated|partial|incomplete|cut|clipped|limit_?(?:reached|exceeded|hit))$/i;
/** Names that say the same when they are false. */
export const wholeName = /^(?:is_?)?(?:complete|completed|eof|all_?rows|full|exhaustive)$/i;

const mostPlaces = 64;

interface Node
  extends Omit<Column, 'steps' | 'looks' | 'middles' | 'told' | 'cut' | 'count' | 'values' | 'strays'> {
  readonly members: Map<string, Node>;
  items?: Node;
  count: number;
  readonly steps: Step[];
  readonly looks: Map<string, { count: number; first: Sighting[] }>;
  readonly middles: Middle[];
  readonly told: Told[];
  readonly cut: Step[];
  readonly values: Map<Json, Told>;
  readonly strays: Sighting[];
  /** Whether it is one of rows, or has too many values to be told apart. */
  many: boolean;
  readonly tells: boolean;
  readonly lookOf: (value: unknown) => string;
  /** Of the newest result: values so far, and its numbers. */
  nth: number;
  numbers: number[];
  firstNumber?: Sighting;
  /** Of the newest value. */
  last?: Json;
  look: string;
  known?: { count: number; first: Sighting[] };
  mayBeCut: boolean;
}

function node(shape: string): Node {
  const name = nameOf(shape.replaceAll('/*', '/0'));
  return {
    shape,
    key: lastKey(shape),
    name,
    members: new Map(),
    count: 0,
    steps: [],
    looks: new Map(),
    middles: [],
    told: [],
    cut: [],
    values: new Map(),
    strays: [],
    many: shape.includes('*'),
    tells:
      remarkName.test(name) ||
      unitName.test(name) ||
      partName.test(lastKey(shape)) ||
      wholeName.test(lastKey(shape)) ||
      shape === '/output',
    lookOf: looker(),
    nth: 0,
    numbers: [],
    look: '',
    mayBeCut: false,
  };
}

/** What is known of one result without holding it. */
export interface Measure {
  /** About the length of its JSON text. */
  readonly size: number;
  /** Equal for equal results; hardly ever for others. */
  readonly print: number;
  readonly leaves: number;
}

/** The columns of one tool, as its results come. */
export class ColumnBook {
  /** Steps with a text that holds data and may end cut. */
  readonly cut: Step[] = [];
  readonly #root = node('/output');
  #size = 0;
  #print = 0;
  #leaves = 0;

  /** Measures a result, and takes its values in when they are to count. */
  add(step: Step, output: Json, counts: boolean): Measure {
    this.#size = 0;
    this.#print = 7;
    this.#leaves = 0;
    this.#take(counts ? this.#root : undefined, output, step);
    return { size: this.#size, print: this.#print, leaves: this.#leaves };
  }

  columns(): Column[] {
    const found: Column[] = [];
    gather(this.#root, found);
    return found;
  }

  #take(at: Node | undefined, value: Json, step: Step): void {
    if (typeof value === 'object' && value !== null && leafText(value) === undefined) {
      this.#size += 2;
      if (Array.isArray(value)) {
        if (at) at.items ??= node(`${at.shape}/*`);
        for (let index = 0; index < value.length; index++) {
          this.#size++;
          this.#take(at?.items, value[index] as Json, step);
        }
        return;
      }
      for (const key of Object.keys(value)) {
        this.#size += key.length + 4;
        this.#take(at && memberOf(at, key), (value as { [key: string]: Json })[key] as Json, step);
      }
      return;
    }
    this.#leaves++;
    this.#measure(value);
    if (at) see(at, value, step);
  }

  /** A text whose data is taken in may end cut as a text. */
  cutIn(step: Step, text: string): void {
    if (text.length > 20 && mayBeCut(text)) this.cut.push(step);
  }

  #measure(value: Json): void {
    let mark = 1;
    if (typeof value === 'number') {
      mark = Math.trunc(value) | 0;
      const part = value - Math.trunc(value);
      if (part !== 0) mark = (mark * 31 + Math.trunc(part * 1e6)) | 0;
      this.#size += digitsOf(value);
    } else if (typeof value === 'string') {
      const { length } = value;
      mark = length;
      let escapes = false;
      for (let at = 0; at < length; at += length < 64 ? 1 : 7) {
        const char = value.charCodeAt(at);
        escapes ||= char < 32 || char === 34 || char === 92;
        mark = (mark * 31 + char) | 0;
      }
      escapes ||= length >= 64 && escaped.test(value);
      this.#size += escapes ? JSON.stringify(value).length : length + 2;
    } else {
      mark = value === null ? 3 : value === true ? 5 : 11;
      this.#size += 4;
    }
    this.#print = (Math.imul(this.#print, 0x01000193) ^ mark) | 0;
  }
}

const escaped = /["\\\p{Cc}]/u;

function digitsOf(value: number): number {
  const whole = Math.abs(Math.trunc(value));
  let digits = value < 0 ? 2 : 1;
  for (let size = 10; size <= whole && size < 1e16; size *= 10) digits++;
  if (whole === Math.abs(value)) return digits;
  return Number.isInteger(Math.round(value * 1e8) / 1e6) ? digits + 3 : digits + 8;
}

function memberOf(at: Node, key: string): Node {
  let member = at.members.get(key);
  if (!member) {
    // A name that looks like an index is one, to those who read a pointer.
    member = node(shapeOf(at.shape + pointer(key)));
    at.members.set(key, member);
  }
  return member;
}

function see(at: Node, value: Json, step: Step): void {
  if (at.steps.at(-1) !== step) {
    flush(at);
    at.steps.push(step);
    at.nth = 0;
  }
  const nth = at.nth++;
  at.count++;
  // Many values of a place are the same as the one before.
  const same = at.known !== undefined && value === at.last;
  const look = same ? at.look : at.lookOf(value);
  let known = same || look === at.look ? at.known : at.looks.get(look);
  if (!known) {
    known = { count: 0, first: [] };
    at.looks.set(look, known);
  }
  at.known = known;
  at.look = look;
  if (known.count++ < mostPlaces) known.first.push({ step, nth, value });
  if (!at.many) count(at, value, { step, nth, value });
  if (isNumberLook(look)) {
    if (at.numbers.length === 0) at.firstNumber = { step, nth, value };
    at.numbers.push(Math.abs(typeof value === 'number' ? value : Number(leafText(value))));
  } else if (typeof value === 'string' && value.length > 20) {
    if (!same) at.mayBeCut = mayBeCut(value);
    if (at.mayBeCut && at.cut.at(-1) !== step) at.cut.push(step);
  }
  at.last = value;
  if (!at.tells) return;
  const newest = at.told.at(-1);
  if (same && newest) newest.times++;
  else at.told.push({ step, nth, value, times: 1 });
}

const fewValues = 6;

function count(at: Node, value: Json, seen: Sighting): void {
  const known = at.values.get(value);
  if (known) known.times++;
  else if (at.values.size < fewValues && (typeof value !== 'string' || value.length <= 60))
    at.values.set(value, { ...seen, times: 1 });
  else {
    at.many = true;
    at.values.clear();
  }
}

const fewest = 4;
const far = 40;

/** The one number of a list that is far from all others, which are near to each other. */
function strayIn(numbers: readonly number[]): number | undefined {
  if (numbers.length < fewest) return undefined;
  let [low, high] = [0, 0];
  for (const [index, value] of numbers.entries()) {
    if (value === 0) return undefined;
    if (value < (numbers[low] ?? 0)) low = index;
    if (value > (numbers[high] ?? 0)) high = index;
  }
  const [least, most] = [numbers[low] ?? 0, numbers[high] ?? 0];
  if (most < far * least) return undefined;
  for (const odd of [low, high]) {
    const rest = numbers.filter((_, index) => index !== odd);
    const [from, to] = [Math.min(...rest), Math.max(...rest)];
    const value = numbers[odd] ?? 0;
    if (to < 10 * from && (value * far <= from || value >= far * to)) return odd;
  }
  return undefined;
}

function flush(at: Node): void {
  if (at.firstNumber === undefined || at.numbers.length === 0) return;
  const stray = at.numbers.length > 1000 ? undefined : strayIn(at.numbers);
  // The place counts all values; numbers among texts are not told apart.
  if (stray !== undefined && at.numbers.length === at.nth)
    at.strays.push({ step: at.firstNumber.step, nth: stray, value: at.numbers[stray] ?? 0 });
  at.middles.push({ at: at.firstNumber, middle: median(at.numbers) });
  at.numbers = [];
}

/** A first look that costs little: most texts hold none of this at their end. */
function mayBeCut(text: string): boolean {
  if (isRound(text.length) || isBroken(text) || endsInMidSentence(text) || cutHead.test(text.slice(0, 160)))
    return true;
  const end = text.length > 200 ? text.slice(-200) : text;
  return (
    end.includes('...') ||
    end.includes('…') ||
    /trunc|cut|clipped|omitted|more|limited|first|capped|abridged|excerpt|gekürzt|截断|省略/i.test(end)
  );
}

function gather(at: Node, columns: Column[]): void {
  flush(at);
  if (at.count > 0) columns.push(at);
  for (const member of at.members.values()) gather(member, columns);
  if (at.items) gather(at.items, columns);
}

/** The pointer of a value. */
export function pointerOf({ shape }: Pick<Column, 'shape'>, { step, nth }: Sighting): string {
  const leaves = leavesOf(opened(step.output), '/output').filter((leaf) => shapeOf(leaf.pointer) === shape);
  return leaves[nth]?.pointer ?? '/output';
}

function median(values: readonly number[]): number {
  if (values.length === 1) return values[0] ?? 0;
  const sorted = values.length < 64 ? values.toSorted((a, b) => a - b) : Float64Array.from(values).sort();
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
}
