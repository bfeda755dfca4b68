/**
 * Dates as people write them: `2026-03-01`, `01.03.2026`, `3/1/2026`, `1 March 2026`, `March 1, 2026`, `20260301`.
 *
 * A reading is `yyyy-mm-dd`. What can be a day or a month is read both ways.
 */

/** A date in a text. */
export interface DateToken {
  readonly range: readonly [number, number];
  readonly readings: ReadonlySet<string>;
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const name = `(?:${months.join('|')})[a-z]*\\.?`;
const patterns: readonly [RegExp, (parts: readonly string[]) => string[]][] = [
  [/(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)/g, ([y, m, d]) => day(y, m, d)],
  [/(?<!\d)(\d{4})(\d{2})(\d{2})(?!\d)/g, ([y, m, d]) => day(y, m, d)],
  [/(?<!\d)(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})(?!\d)/g, ([a, b, y]) => [...day(y, b, a), ...day(y, a, b)]],
  [new RegExp(`(?<!\\d)(\\d{1,2})\\.? (${name}) (\\d{4})(?!\\d)`, 'gi'), ([d, m, y]) => day(y, month(m), d)],
  [new RegExp(`\\b(${name}) (\\d{1,2}),? (\\d{4})(?!\\d)`, 'gi'), ([m, d, y]) => day(y, month(m), d)],
];

/** The dates in a text. */
export function datesIn(text: string): DateToken[] {
  if (!/\d{4}/.test(text)) return [];
  return patterns.flatMap(([pattern, read]) =>
    [...text.matchAll(pattern)].flatMap((match) => {
      const readings = new Set(read(match.slice(1)));
      return readings.size === 0
        ? []
        : [{ range: [match.index, match.index + match[0].length] as const, readings }];
    }),
  );
}

/** Every way to read a whole text as a date; empty when it is none. */
export function dateReadings(text: string): ReadonlySet<string> {
  const whole = datesIn(text).filter(({ range }) => range[0] === 0 && range[1] === text.length);
  return new Set(whole.flatMap(({ readings }) => [...readings]));
}

function month(word = ''): string {
  return String(months.indexOf(word.slice(0, 3).toLowerCase()) + 1);
}

function day(y = '', m = '', d = ''): string[] {
  const date = `${y}-${m.padStart(2, '0')}-${d.padStart(2, '0')}`;
  const time = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(date) ? [date] : [];
}
