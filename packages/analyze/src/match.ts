/**
 * Whether a text carries a value, where, and in which form.
 *
 * Promise: a match is backed by the bytes. `matches` is the one judge; what it does not confirm is no link.
 * Forms are tried from the most to the least literal, and the first that fits is the answer.
 */
import { dateReadings, datesIn } from './dates.ts';
import { numberReadings, numbersIn, sameNumber } from './numbers.ts';
import { base64Decoded, base64In, fold, pathForm, percentDecoded } from './texts.ts';

/** How a copy differs from its source. `exact` also covers escaping: both sides are compared with their escapes undone. */
export type Form = 'exact' | 'number' | 'date' | 'spelling' | 'path' | 'url' | 'base64';

/** What a form means, for people. */
export const formText: Readonly<Record<Form, string>> = {
  exact: 'exact',
  number: 'same number, written differently',
  date: 'same date, written differently',
  spelling: 'same but for white space or case',
  path: 'same path, spelled differently',
  url: 'same but for percent-encoding',
  base64: 'same after base64',
};

export interface Match {
  readonly form: Form;
  /** Half-open range in the text that was searched, in UTF-16 units. */
  readonly range: readonly [number, number];
}

/** Texts shorter than this are not searched for inside longer ones. */
export const shortest = 6;

/** Looks for a value inside a text as it stands. Never matches inside a longer word or number. */
export function findExact(needle: string, text: string): Match | undefined {
  if (needle === '') return undefined;
  for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + 1)) {
    const range = [at, at + needle.length] as const;
    if (standsAlone(text, range)) return { form: 'exact', range };
  }
  return undefined;
}

/** Looks for a value inside a text. */
type Finder = (text: string) => Match | undefined;

/** Prepares to look for a value in every other form than the literal one. */
export function otherForms(needle: string): Finder {
  const finders = forms.flatMap((form) => form(needle) ?? []);
  return (text) => {
    for (const find of finders) {
      const found = find(text);
      if (found) return found;
    }
    return undefined;
  };
}

/** Whether two texts are one value in the given form: the check that every link has to pass. */
export function matches(form: Form, copy: string, source: string): boolean {
  switch (form) {
    case 'exact':
      return copy === source;
    case 'number':
      return sameNumber(numberReadings(copy), numberReadings(source));
    case 'date':
      return sameNumber(dateReadings(copy), dateReadings(source));
    case 'spelling':
      return fold(copy).text.trim() === fold(source).text.trim();
    case 'path':
      return pathForm(copy) !== undefined && pathForm(copy) === pathForm(source);
    case 'url':
      return percentDecoded(copy) === percentDecoded(source);
    case 'base64':
      return base64Decoded(copy) === source || base64Decoded(source)?.includes(copy) === true;
  }
}

/** A finder for each form that the value can have. What is costly is tried only on texts that may hold it. */
const forms: readonly ((needle: string) => Finder | undefined)[] = [
  (needle) => {
    const readings = numberReadings(needle);
    if (readings.size === 0) return undefined;
    const digit = /[1-9]/.exec(needle)?.[0] ?? '0';
    return (text) => {
      if (!text.includes(digit)) return undefined;
      const token = numbersIn(text).find((candidate) => sameNumber(candidate.readings, readings));
      return token && { form: 'number', range: token.range };
    };
  },
  (needle) => {
    const readings = dateReadings(needle);
    const years = [...readings].map((reading) => reading.slice(0, 4));
    if (years.length === 0) return undefined;
    return (text) => {
      if (!years.some((year) => text.includes(year))) return undefined;
      const token = datesIn(text).find((candidate) => sameNumber(candidate.readings, readings));
      return token && { form: 'date', range: token.range };
    };
  },
  (needle) => {
    const wanted = fold(needle).text.trim();
    const first = wanted.split(' ')[0] ?? '';
    if (wanted.length < shortest) return undefined;
    return (text) => {
      if (text.length < wanted.length || !text.toLowerCase().includes(first)) return undefined;
      const folded = fold(text);
      const found = findExact(wanted, folded.text);
      if (!found) return undefined;
      const range = [folded.at[found.range[0]] ?? 0, (folded.at[found.range[1] - 1] ?? 0) + 1] as const;
      return { form: 'spelling', range };
    };
  },
  (needle) => {
    const path = pathForm(needle);
    const last = path?.split('/').at(-1) ?? '';
    if (path === undefined || path.length < shortest) return undefined;
    return (text) =>
      percentDecoded(text).includes(last) && path === pathForm(text)
        ? { form: 'path', range: [0, text.length] }
        : undefined;
  },
  (needle) => {
    const decoded = percentDecoded(needle);
    if (decoded.length < shortest) return undefined;
    if (decoded === needle) {
      return (text) =>
        text.includes('%')
          ? percentTokens(text).find(({ range }) => percentDecoded(text.slice(...range)) === needle)
          : undefined;
    }
    return (text) => {
      const found = findExact(decoded, text);
      return found && { form: 'url', range: found.range };
    };
  },
  (needle) => {
    const decoded = base64Decoded(needle);
    if (decoded === undefined || decoded.length < shortest) return undefined;
    return (text) => {
      const found = findExact(decoded, text);
      return found && { form: 'base64', range: found.range };
    };
  },
  (needle) => {
    if (needle.length < shortest) return undefined;
    return (text) => {
      if (text.length < 12) return undefined;
      const token = base64In(text).find((candidate) => candidate.decoded.includes(needle));
      return token && { form: 'base64', range: token.range };
    };
  },
];

function percentTokens(text: string): Match[] {
  return [...text.matchAll(/[^\s/?&=#"'<>]*%[0-9a-f]{2}[^\s/?&=#"'<>]*/gi)].map((match) => ({
    form: 'url',
    range: [match.index, match.index + match[0].length],
  }));
}

// Scripts that are written without spaces have no word boundaries.
const word = /[^\P{L}\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}]|[\p{N}_]/u;

function standsAlone(text: string, [from, to]: readonly [number, number]): boolean {
  const before = text.slice(Math.max(0, from - 2), from);
  const after = text.slice(to, to + 2);
  const first = text[from] ?? '';
  const last = text[to - 1] ?? '';
  if (word.test(first) && word.test(before.at(-1) ?? '')) return false;
  if (word.test(last) && word.test(after[0] ?? '')) return false;
  // 249.90 is no part of 1.249,90; 12 is no part of 12.5 nor of -12.
  if (/\d/.test(first) && (/\d[.,'’]$/.test(before) || /(?:^|\W)[-+]$/.test(before))) return false;
  return !(/\d/.test(last) && /^[.,'’]\d/.test(after));
}
