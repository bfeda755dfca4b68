/**
 * Texts that say the same in other letters: white space, case, percent-encoding, path spelling, base64.
 *
 * Every form keeps track of where its characters stood, so that a match can be shown in the original.
 */

/** A rewritten text; `at[i]` is where its character i began in the original, `at[length]` the original's end. */
export interface Folded {
  readonly text: string;
  readonly at: readonly number[];
}

/** Lower case, every run of white space one space. */
export function fold(text: string): Folded {
  let out = '';
  const at: number[] = [];
  for (let index = 0; index < text.length; index++) {
    const char = text[index] ?? '';
    const blank = /\s/.test(char);
    if (blank && (out === '' || out.endsWith(' '))) continue;
    const lower = blank ? ' ' : char.toLowerCase();
    for (let unit = 0; unit < lower.length; unit++) at.push(index);
    out += lower;
  }
  at.push(text.length);
  return { text: out, at };
}

/** A text with its percent-encoding undone; the text itself when it has none or a broken one. */
export function percentDecoded(text: string): string {
  if (!/%[0-9a-f]{2}/i.test(text)) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** One spelling for a path or URL: `file:` scheme, backslashes, doubled slashes, `.` and `..` resolved; else undefined. */
export function pathForm(text: string): string | undefined {
  if (!/[/\\]/.test(text) || /\s{2,}|\n/.test(text) || text.length > 1024) return undefined;
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.exec(text)?.[0] ?? '';
  const scheme = url.toLowerCase() === 'file://' ? '' : url.toLowerCase();
  const rest = percentDecoded(text.slice(url.length)).replaceAll('\\', '/');
  const parts: string[] = [];
  for (const part of rest.split('/')) {
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else if (part !== '.' && part !== '') parts.push(part);
  }
  return `${scheme}${rest.startsWith('/') ? '/' : ''}${parts.join('/')}`;
}

const unreadable = /[^\P{Cc}\t\n\r]/u;
const base64Token = /(?<![\w+/-])[A-Za-z0-9+/_-]{12,}={0,2}(?![\w+/=-])/g;

/** The base64 tokens in a text that decode to readable text. */
export function base64In(
  text: string,
): { readonly range: readonly [number, number]; readonly decoded: string }[] {
  return [...text.matchAll(base64Token)].flatMap((match) => {
    const decoded = base64Decoded(match[0]);
    return decoded === undefined
      ? []
      : [{ range: [match.index, match.index + match[0].length] as const, decoded }];
  });
}

/** The text behind a base64 (or base64url) token; undefined when it is none or no readable text. */
export function base64Decoded(token: string): string | undefined {
  if (!/^[A-Za-z0-9+/_-]{12,}={0,2}$/.test(token)) return undefined;
  try {
    const bytes = Uint8Array.from(atob(token.replaceAll('-', '+').replaceAll('_', '/')), (c) =>
      c.charCodeAt(0),
    );
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return unreadable.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}
