/**
 * Numbers as people write them: `1249.9`, `1.249,90`, `1,249.90`, `1'249.90` and `1 249,90` can be one number.
 *
 * Readings are exact decimal texts, never doubles, so that two long ids are not taken for one. A token that can be
 * read in two ways (`1,249`) has both readings.
 */

/** A number in a text. */
export interface NumberToken {
  readonly range: readonly [number, number];
  readonly readings: ReadonlySet<string>;
}

const token =
  /(?<![\w.,])[-+]?\d+(?:[.,'’]\d+|[ \u00a0\u202f]\d{3}(?!\d))*(?:[eE][-+]?\d+)?(?=[a-zA-Z]{0,3}(?!\w))(?![.,'’]?\d)/g;
const plain = /^([-+]?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/;
const grouped = /^([-+]?)(\d{1,3}(?:([.,'’ \u00a0\u202f])\d{3})(?:\3\d{3})*)(?:([.,])(\d+))?$/;
const comma = /^([-+]?)(\d+),(\d+)$/;

/** Every way to read a text as one number; empty when it is none. */
export function numberReadings(text: string): ReadonlySet<string> {
  const readings = new Set<string>();
  const asPlain = plain.exec(text);
  if (asPlain) add(readings, asPlain[1], asPlain[2], asPlain[3], Number(asPlain[4] ?? 0));
  const asGrouped = grouped.exec(text);
  if (asGrouped && asGrouped[3] !== asGrouped[4]) {
    add(readings, asGrouped[1], asGrouped[2]?.replaceAll(/\D/g, ''), asGrouped[5]);
  }
  const asComma = comma.exec(text);
  if (asComma) add(readings, asComma[1], asComma[2], asComma[3]);
  return readings;
}

/** The numbers in a text, with currency signs and units around them left out. */
export function numbersIn(text: string): NumberToken[] {
  return [...text.matchAll(token)].flatMap((match) => {
    const readings = numberReadings(match[0]);
    return readings.size === 0 ? [] : [{ range: [match.index, match.index + match[0].length], readings }];
  });
}

/** Digits that carry information: `1200.0` has 2, `0.050` has 1. */
export function significantDigits(text: string): number {
  return text
    .replace(/[eE].*$/, '')
    .replaceAll(/\D/g, '')
    .replace(/^0+/, '')
    .replace(/0+$/, '').length;
}

/** Whether two sets of readings have one in common. */
export function sameNumber(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return [...a].some((reading) => b.has(reading));
}

function add(readings: Set<string>, sign = '', whole = '', fraction = '', exponent = 0): void {
  if (!Number.isSafeInteger(exponent) || Math.abs(exponent) > 400) return;
  const digits = whole + fraction;
  const point = whole.length + exponent;
  const padded = point < 0 ? '0'.repeat(-point) + digits : digits.padEnd(point, '0');
  const integer = padded.slice(0, Math.max(point, 0)).replace(/^0+/, '') || '0';
  const rest = padded.slice(Math.max(point, 0)).replace(/0+$/, '');
  const text = rest === '' ? integer : `${integer}.${rest}`;
  readings.add(sign === '-' && text !== '0' ? `-${text}` : text);
}
