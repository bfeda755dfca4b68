/**
 * What a value looks like: its type, and for text the format of the number or date in it.
 *
 * Looks are asked for very often, and mostly of values that are alike: a text with the same kinds of characters in the
 * same places as the one before it looks the same, unless it may be a date.
 */
import { dateReadings } from './dates.ts';
import { typeOf } from './json.ts';
import { numberReadings } from './numbers.ts';

/**
 * A judge that remembers its last verdict. It gives the name of a look: `text` is any text that is neither a number nor a
 * date.
 */
export function looker(): (value: unknown) => string {
  let last = '';
  let look = '';
  return (value) => {
    if (typeof value === 'number') return value > 0 ? 'number' : value < 0 ? 'negative' : 'zero';
    if (typeof value !== 'string') return typeOf(value);
    if (look !== '' && isAlike(value, last)) return look;
    const found = textLook(value);
    const steady =
      found === 'iso date' ||
      found.endsWith('number text') ||
      (found === 'text' && !/[\d*]/.test(value) && value.length > 12);
    [last, look] = steady ? [value, found] : ['', ''];
    return found;
  };
}

/** A number with its unit behind it: `20 kg`, `4,5%`. */
const withUnit = /^[-+]?\d[\d.,]*\s?(\p{L}{1,5}|[%°µ]\p{L}?|\p{L}{1,4}\/\p{L}{1,4})$/u;
/** What stands where a value is not to be seen, or where there was none. */
const inItsPlace =
  /^(?:[*•●█xX#?_-]{3,}|[*•●█#-]{2,}[-\s][*•●█#-]{2,}.*|[[<({]?(?:redacted|hidden|masked|removed|restricted|n\/?a|none|nil|null|undefined|unknown|tbd|todo|placeholder)[\]>)}]?)$/i;

/** Whether a text only holds the place of a value. */
function isPlaceholder(text: string): boolean {
  return text.length >= 2 && text.length <= 40 && inItsPlace.test(text);
}

function textLook(text: string): string {
  if (isPlaceholder(text)) return 'placeholder';
  const unit = withUnit.exec(text)?.[1];
  if (unit !== undefined) return `in ${unit}`;
  if (!/\d/.test(text) || (/^[^\d-]{5}/.test(text) && !/\d{4}/.test(text))) return 'text';
  if (/^[-+]?\d+(?:\.\d+)?$/.test(text)) return 'plain number text';
  if (
    /^[^\d-]{0,4}-?\d[\d.,'’\s]*[^\d]{0,4}$/.test(text) &&
    numberReadings(text.replaceAll(/^[^\d-]+|[^\d]+$/g, '')).size > 0
  ) {
    return /,\d{1,2}\D*$|\.\d{3}(?:\D|$)/.test(text) ? 'comma number text' : 'formatted number text';
  }
  if (/^\d{4}-\d\d-\d\d(?:$|T[\d:.]+Z?$)/.test(text)) return 'iso date';
  if (/^\d{4}-\d\d-\d\dT[\d:.]+[-+]/.test(text)) return 'offset date';
  if (/^\d{4}-\d\d-\d\d/.test(text)) return 'other date';
  return dateReadings(text).size > 0 ? 'local date' : 'text';
}

/** The same length, digits where the other has digits, everything else the same or a letter for a letter. */
function isAlike(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at++) {
    const [x, y] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (x !== y && kindOf(x) !== kindOf(y)) return false;
  }
  return true;
}

/** 1: a digit, 2: an ASCII letter, else the character itself. */
function kindOf(char: number): number {
  if (char >= 48 && char <= 57) return 1;
  const lower = char | 32;
  return lower >= 97 && lower <= 122 ? 2 : char + 3;
}

const words: Readonly<Record<string, string>> = {
  'plain number text': 'numbers as text',
  'comma number text': 'a number in text with a decimal comma',
  'formatted number text': 'a formatted number in text',
  'iso date': 'ISO dates',
  'offset date': 'times with an offset from UTC',
  'other date': 'dates and times written in another way',
  'local date': 'a date in a local format',
  number: 'numbers',
  negative: 'below zero',
  zero: 'zero',
  placeholder: 'no value, only the place of one',
  text: 'text',
  boolean: 'true or false',
  null: 'empty',
};

/** A look in words. */
export function lookText(look: string): string {
  return words[look] ?? (look.startsWith('in ') ? `in ${JSON.stringify(look.slice(3))}` : look);
}

/** Whether a look is that of a number, whatever its sign. */
export function isNumberLook(look: string): boolean {
  return look === 'number' || look === 'negative' || look === 'zero';
}
