/**
 * A number that was worked out from others: their sum, average or count, the smallest or the largest.
 *
 * Promise: the operation was carried out again on the recorded values, in exact decimals, and gives the number; so many
 * values could give a short number by chance that one without a telling name needs three significant digits. Always
 * `inferred`: the record holds the values, not the working.
 */
import type { SessionView } from '@chassis/journal';
import type { Holder } from './holders.ts';
import { numberReadings, significantDigits } from './numbers.ts';
import type { Span } from './place.ts';
import { shapeOf } from './pointer.ts';
import { type Spot, spotsOf } from './spots.ts';

export type Operation = 'sum' | 'average' | 'count' | 'smallest' | 'largest';

export interface Derived {
  readonly operation: Operation;
  /** The values it was worked out from, in the order of the record. */
  readonly of: readonly Span[];
  readonly label: 'inferred';
  readonly how: string;
}

const mostValues = 100_000;
const names: Readonly<Record<Operation, RegExp>> = {
  sum: /sum|total|overall|gesamt|summe|合计|总/i,
  average: /av(?:era)?ge?|mean|durchschnitt|mittel|平均/i,
  count: /count|number|total|rows|items|size|length|anzahl|数量|^n$|_n$/i,
  smallest: /min|lowest|least|smallest|cheapest|最小|最低/i,
  largest: /max|highest|most|largest|peak|最大|最高/i,
};

/** How a number was worked out from what was in sight; undefined when it was not, or cannot be told. */
export function derivation(view: SessionView, needle: Spot, holders: readonly Holder[]): Derived | undefined {
  const target = decimalOf(needle.text);
  if (!target) return undefined;
  for (const values of listsIn(view, needle, holders)) {
    const operation = operationOf(needle, target, values);
    if (!operation) continue;
    const of = values.map(({ step, pointer, range, text }) =>
      range ? { step, pointer, range, text } : { step, pointer, text },
    );
    const how =
      operation === 'count'
        ? `the number of these ${of.length} values`
        : `the ${operation} of ${of.length} values`;
    return { operation, of, label: 'inferred', how };
  }
  return undefined;
}

/** Whether the values still give the number: the judge that every derivation has to pass. */
export function isDerived(text: string, { operation, of }: Pick<Derived, 'operation' | 'of'>): boolean {
  const target = decimalOf(text);
  const values = of.map((value) => decimalOf(value.text));
  if (!target || of.length < 2) return false;
  if (operation === 'count') return same(target, { digits: BigInt(of.length), scale: 0 });
  if (!values.every((value) => value !== undefined)) return false;
  return gives(operation, target, values);
}

function operationOf(needle: Spot, target: Decimal, spots: readonly Spot[]): Operation | undefined {
  const digits = significantDigits(needle.text);
  const named = (operation: Operation): boolean => names[operation].test(needle.name);
  if (named('count') && same(target, { digits: BigInt(spots.length), scale: 0 })) return 'count';
  const wanted = (['sum', 'average', 'smallest', 'largest'] as const).filter(
    (operation) => named(operation) || (digits >= 3 && (operation === 'sum' || operation === 'average')),
  );
  if (wanted.length === 0) return undefined;
  const values = spots.flatMap(({ text }) => decimalOf(text) ?? []);
  if (values.length !== spots.length) return undefined;
  return wanted.find((operation) => gives(operation, target, values));
}

/** Numbers at one place of a result, and those at that place in all results of the tool. */
function* listsIn(view: SessionView, needle: Spot, holders: readonly Holder[]): Generator<Spot[]> {
  const all = new Map<string, { list: Spot[]; results: number }>();
  let seen = 0;
  for (const { step, root } of holders) {
    const own = new Map<string, Spot[]>();
    for (const spot of spotsOf(view, step, root)) {
      if (!isPlainNumber(spot) || (spot.step === needle.step && spot.path === needle.path)) continue;
      if (++seen > mostValues) return;
      const shape = shapeOf(spot.path);
      const list = own.get(shape);
      if (list) list.push(spot);
      else own.set(shape, [spot]);
    }
    for (const [shape, list] of own) {
      if (list.length > 1) yield list;
      const key = `${view.step(step)?.name ?? ''} ${shape}`;
      const known = all.get(key) ?? { list: [], results: 0 };
      known.list.push(...list);
      known.results++;
      all.set(key, known);
    }
  }
  for (const { list, results } of all.values()) if (results > 1 && list.length > 1) yield list;
}

function isPlainNumber({ type, text }: Spot): boolean {
  return type === 'number' || (type === 'string' && /^[-+]?\d+(?:\.\d+)?$/.test(text));
}

/** `digits / 10^scale`. */
interface Decimal {
  readonly digits: bigint;
  readonly scale: number;
}

function decimalOf(text: string): Decimal | undefined {
  const [reading, ...others] = numberReadings(text);
  if (reading === undefined || others.length > 0 || reading.length > 64) return undefined;
  const [whole = '', fraction = ''] = reading.split('.');
  return { digits: BigInt(whole + fraction), scale: fraction.length };
}

function gives(operation: Operation, target: Decimal, values: readonly Decimal[]): boolean {
  const scale = values.reduce((most, value) => Math.max(most, value.scale), target.scale);
  const at = ({ digits, scale: own }: Decimal): bigint => digits * 10n ** BigInt(scale - own);
  const numbers = values.map(at);
  const wanted = at(target);
  switch (operation) {
    case 'sum':
      return numbers.reduce((sum, value) => sum + value, 0n) === wanted;
    case 'average': {
      const count = BigInt(numbers.length);
      const gap = numbers.reduce((sum, value) => sum + value, 0n) - wanted * count;
      // The average as it was rounded: within half of the last digit that is written; a whole number is not taken for a rounded one.
      const unit = target.scale >= 1 ? 10n ** BigInt(scale - target.scale) : 0n;
      return (gap < 0n ? -gap : gap) * 2n <= unit * count;
    }
    case 'smallest':
      return numbers.every((value) => value >= wanted) && numbers.includes(wanted);
    case 'largest':
      return numbers.every((value) => value <= wanted) && numbers.includes(wanted);
    case 'count':
      return false;
  }
}

function same(a: Decimal, b: Decimal): boolean {
  return a.digits * 10n ** BigInt(b.scale) === b.digits * 10n ** BigInt(a.scale);
}
