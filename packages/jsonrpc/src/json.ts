/**
 * JSON text in both directions, with the two things `JSON.parse` alone does not give: a depth limit and
 * numbers exactly as they were written.
 *
 * Promise: an ordinary small message costs one comparison more than `JSON.parse`; every other check is paid
 * for only by the messages that need it.
 */

/** A number kept as text; `JSON.stringify` writes it verbatim. */
export interface RawNumber {
  readonly rawJSON: string;
}

interface JsonWithSource {
  parse(
    text: string,
    revive: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
}
const json = JSON as unknown as JsonWithSource;

/** Whether a value is a number that was kept as text. */
export function isRawNumber(value: unknown): value is RawNumber {
  return json.isRawJSON(value);
}

/**
 * Whether a text may hold a number that a double changes: one of more than fifteen characters, or with an exponent. What
 * looks like one inside of a string counts as well; if there is none, `JSON.parse` gives what {@link parseExact} gives.
 */
export function mayHoldLongNumbers(text: string): boolean {
  return longNumber.test(text);
}

/** Fifteen digits always survive a double, so a sign does not count. Numbers follow nothing but these characters. */
const longNumber = /(?:^|[\s,:[])-?(?:[\d.]{16}|[\d.]+[eE])/;

/** Like `JSON.parse`, but a number that a double would change is a {@link RawNumber}. */
export function parseExact(text: string): unknown {
  if (!mayHoldLongNumbers(text)) return JSON.parse(text);
  return json.parse(text, (_key, value, context) =>
    typeof value === 'number' && context.source !== undefined && !survives(context.source, value)
      ? json.rawJSON(context.source)
      : value,
  );
}

/** Whether a double holds the decimal number `source`, so that writing it again gives the same number. */
function survives(source: string, value: number): boolean {
  if (source.length <= 15 && !/e/i.test(source)) return true;
  if (!Number.isFinite(value)) return false;
  if (value === 0) return /^[-0.]*(?:[eE]|$)/.test(source);
  return decimal(source) === decimal(String(value));
}

/**
 * A decimal number that is not 0 in one canonical form: sign, digits without outer zeros, power of ten of the last digit. Linear
 * in its length, however it is written: it may come from a stranger.
 */
function decimal(text: string): string {
  const [, sign, whole = '', fraction = '', minus = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE](?:(-)|\+)?0*(\d+))?$/.exec(text) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  let end = digits.length;
  while (digits.charCodeAt(end - 1) === zero) end--; // a pattern would begin anew at every zero
  const shift = BigInt(`${minus}${power}`) - BigInt(fraction.length) + BigInt(digits.length - end);
  return `${sign}${digits.slice(0, end)}e${shift}`;
}

const zero = 48;

/** What an envelope and a batch around it take of the depth that a whole message may have. */
export const envelopeDepth = 2;

/** Whether a text of this length can nest deeper than `limit` at all: each level costs two characters. */
export function mayBeDeep(text: string, limit: number): boolean {
  return text.length > 2 * limit;
}

/**
 * Whether arrays and objects nest deeper than `limit`. Brackets are counted first, with the engine's own
 * search: most long texts have fewer than `limit` of them in all, and are done.
 */
export function isTooDeep(text: string, limit: number): boolean {
  let count = 0;
  for (let at = text.indexOf('{'); at >= 0; at = text.indexOf('{', at + 1)) {
    if (++count > limit) return nestsDeeper(text, limit);
  }
  for (let at = text.indexOf('['); at >= 0; at = text.indexOf('[', at + 1)) {
    if (++count > limit) return nestsDeeper(text, limit);
  }
  return false;
}

const quote = 34;
const backslash = 92;

function nestsDeeper(text: string, limit: number): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const c = text.charCodeAt(at);
    if (c === quote) {
      for (at++; at < text.length; at++) {
        const inside = text.charCodeAt(at);
        if (inside === quote) break;
        if (inside === backslash) at++;
      }
    } else if (c === 123 || c === 91) {
      if (++depth > limit) return true;
    } else if (c === 125 || c === 93) depth--;
  }
  return false;
}

/** Whether a text is longer than `limit` bytes of UTF-8. */
export function isTooLong(text: string, limit: number): boolean {
  if (text.length * 3 <= limit) return false;
  return text.length > limit || Buffer.byteLength(text) > limit;
}
