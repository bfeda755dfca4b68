/** The shapes in which a secret's value turns up in text, and the shapes of keys that give themselves away. */

/** Shortest form that is searched for; anything shorter would hit ordinary text. */
export const MIN_SECRET = 6;

/** `text` as it stands between the quotes of a JSON string. */
export function jsonEscaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** The same as an encoder writes it that keeps to ASCII (Python's `json.dumps`): everything else as `\uXXXX`, by UTF-16 unit. */
function asciiEscaped(text: string, upper: boolean): string {
  return jsonEscaped(text).replace(/[^ -~]/g, (unit) => {
    const hex = unit.charCodeAt(0).toString(16).padStart(4, '0');
    return `\\u${upper ? hex.toUpperCase() : hex}`;
  });
}

/** How often JSON may stand inside of JSON: a tool's text, quoted in a result, quoted in a message, quoted in a log. */
const JSON_LEVELS = 4;

/** Every text that gives the value away: plain, escaped for JSON any number of times, for URLs, in base64 at any alignment. */
export function formsOf(value: string): string[] {
  const forms = new Set<string>();
  let texts = new Set([value]);
  for (let level = 0; level <= JSON_LEVELS; level++) {
    const next = new Set<string>();
    for (const text of texts) {
      forms.add(text);
      // Once it is all ASCII the three are the same: their number grows by two a level, not threefold.
      for (const escaped of [jsonEscaped(text), asciiEscaped(text, false), asciiEscaped(text, true)])
        next.add(escaped);
    }
    texts = next;
  }
  const wellFormed = value.toWellFormed();
  const url = encodeURIComponent(wellFormed);
  const form = new URLSearchParams({ v: wellFormed }).toString().slice(2);
  const strict = url.replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  for (const encoded of [url, form, strict]) {
    forms.add(encoded);
    forms.add(encoded.replace(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase()));
  }
  const bytes = Buffer.from(wellFormed);
  for (let shift = 0; shift < 3; shift++) {
    // Only the characters that the value alone decides, whatever stands before and after it.
    const whole = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
    const inner = whole.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
    if (inner.length < MIN_SECRET) continue;
    forms.add(inner);
    forms.add(inner.replaceAll('+', '-').replaceAll('/', '_'));
  }
  return [...forms].filter((text) => text.length >= MIN_SECRET);
}

/** Keys whose shape leaves no doubt: a fixed prefix and a long random rest. */
export const KEY_SHAPES = new RegExp(
  [
    `(?<![A-Za-z0-9_-])(?:${[
      'sk-[A-Za-z0-9_-]{20,}',
      'gh[pousr]_[A-Za-z0-9]{36,}',
      'github_pat_[A-Za-z0-9_]{30,}',
      'glpat-[A-Za-z0-9_-]{20,}',
      '(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])',
      'AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])',
      'xox[abprs]-[A-Za-z0-9-]{20,}',
      'npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])',
      'hf_[A-Za-z0-9]{30,}',
      '[sr]k_live_[A-Za-z0-9]{20,}',
      String.raw`eyJ[A-Za-z0-9_-]{16,}\.eyJ[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`,
    ].join('|')})`,
    // A whole private key, or one that was cut off.
    String.raw`-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[A-Za-z0-9+/=\s,:-]|\\+[nr])+?-----END [A-Z ]*PRIVATE KEY-----`,
    String.raw`-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[A-Za-z0-9+/=\r\n]|\\+[nr]){40,}`,
  ].join('|'),
  'g',
);

/** What stands before the first `-` or `_` of a key, by its last character. */
const BEFORE_DASH = byLastCharacter(['sk', 'glpat', 'xoxa', 'xoxb', 'xoxp', 'xoxr', 'xoxs', 'PRIVATE KEY']);
const BEFORE_UNDERSCORE = byLastCharacter([
  'ghp',
  'gho',
  'ghu',
  'ghs',
  'ghr',
  'github',
  'npm',
  'hf',
  'sk',
  'rk',
]);

function byLastCharacter(words: readonly string[]): ReadonlyMap<number, readonly string[]> {
  return Map.groupBy(words, (word) => word.charCodeAt(word.length - 1));
}

/**
 * Whether a text may hold such a key; never wrong with "no". Every event passes here: looking at the few places where a
 * separator stands is several times cheaper than a pattern over the whole text.
 */
export function mayHoldKey(text: string): boolean {
  return (
    standsBefore(text, '-', BEFORE_DASH) ||
    standsBefore(text, '_', BEFORE_UNDERSCORE) ||
    text.includes('.eyJ') ||
    (text.includes('A') && (text.includes('AKIA') || text.includes('ASIA') || text.includes('AIza')))
  );
}

function standsBefore(
  text: string,
  separator: string,
  words: ReadonlyMap<number, readonly string[]>,
): boolean {
  for (let at = text.indexOf(separator); at !== -1; at = text.indexOf(separator, at + 1)) {
    const candidates = words.get(text.charCodeAt(at - 1));
    if (candidates?.some((word) => text.startsWith(word, at - word.length))) return true;
  }
  return false;
}

/** The end of a text that may be the beginning of a key, so that a stream must not pass it on yet. */
export const OPEN_KEY =
  /(?<![A-Za-z0-9_-])(?:sk[-_]|rk_|gh[pousr]_|github_pat_|glpat-|AKIA|ASIA|AIza|xox[abprs]-|npm_|hf_|eyJ)[A-Za-z0-9_.-]{0,512}$|-----BEGIN [A-Z ]{0,40}-{0,5}[A-Za-z0-9+/=\s]{0,8192}$/;
