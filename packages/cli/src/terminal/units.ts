/** Numbers as people read them: durations, bytes, tokens, money, points in time. */

/** `12ms`, `3.4s`, `2m05s`, `1h02m`. */
export function duration(milliseconds: number): string {
  const ms = Math.max(0, Math.round(milliseconds));
  if (ms < 1000) return `${ms}ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)}s`;
  const seconds = Math.round(ms / 1000);
  const two = (value: number): string => String(value).padStart(2, '0');
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m${two(seconds % 60)}s`;
  return `${Math.floor(seconds / 3600)}h${two(Math.floor(seconds / 60) % 60)}m`;
}

/** `812 B`, `4.1 kB`, `2.0 MB`. */
export function bytes(count: number): string {
  if (count < 1000) return `${count} B`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  let value = count / 1000;
  let unit = 0;
  while (value >= 999.95 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${value.toFixed(1)} ${units[unit]}`;
}

/** `950`, `12.3k`, `1.2M`. */
export function count(value: number): string {
  if (value < 1000) return String(value);
  if (value < 999_950) return `${(value / 1000).toFixed(1)}k`;
  return `${(value / 1_000_000).toFixed(1)}M`;
}

/** `$0.0042`; nothing when the price is unknown. */
export function money(dollars: number | null | undefined): string {
  if (dollars === null || dollars === undefined) return '';
  if (dollars === 0) return '$0';
  return `$${dollars < 1 ? dollars.toFixed(4) : dollars.toFixed(2)}`;
}

/** `2026-11-30 02:14:09`, in the local zone. */
export function moment(milliseconds: number): string {
  const date = new Date(milliseconds);
  if (Number.isNaN(date.getTime())) return 'no date';
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

const SPANS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Milliseconds of `90s`, `30m`, `12h`, `2d`, `1w`; undefined for anything else. */
export function spanOf(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*([smhdw])$/.exec(text.trim());
  if (match === null) return undefined;
  return Number(match[1]) * (SPANS[match[2] ?? ''] ?? Number.NaN);
}

/** The point in time that a person means: a span back from now, or a date. Undefined for anything else. */
export function since(text: string, now: number): number | undefined {
  const span = spanOf(text);
  if (span !== undefined) return now - span;
  const date = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : date;
}
