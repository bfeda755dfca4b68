/** Recorded text on a person's screen: on one line, short, and with control characters made visible. */

const hidden = /[\p{Cc}\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;
const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\u001b': '\\e' };

/** Control characters, and those that turn the direction of text, as escapes. */
export function visible(text: string): string {
  return text.replaceAll(
    hidden,
    (char) => named[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** At most `length` UTF-16 units, cut with `…` and never inside a surrogate pair. */
export function clip(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, length - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** Milliseconds as `0.4s`, `12s`, `3m12s`. */
export function duration(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)}s`;
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole}s` : `${Math.floor(whole / 60)}m${String(whole % 60).padStart(2, '0')}s`;
}

/** US dollars; `cost unknown` when no price is known, `≥` when something is left out. */
export function dollars(cost: number | null, lowerBound: boolean): string {
  if (cost === null) return 'cost unknown';
  return `${lowerBound ? '≥ ' : ''}$${cost < 0.01 && cost > 0 ? cost.toFixed(6) : cost.toFixed(2)}`;
}
