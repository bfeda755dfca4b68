/**
 * `${env:NAME}` and `${secret:NAME}` inside configuration values.
 *
 * Promise: a text is expanded whole or refused, never half; an unset name is an error that says the name and
 * nothing else; `$${` stands for a literal `${`. What came out of a placeholder is never looked at again, so a
 * value cannot smuggle in another placeholder.
 */
import type { Json } from '@chassis/types';

export interface Lookup {
  /** undefined when unset. */
  env(name: string): string | undefined;
  /** undefined when unset. */
  secret(name: string): Promise<string | undefined>;
}

export interface Placeholder {
  readonly kind: 'env' | 'secret';
  readonly name: string;
}

export class PlaceholderError extends Error {
  /** JSON Pointer of the value. */
  readonly path: string;
  constructor(path: string, message: string) {
    super(message);
    this.path = path;
  }
}

type Piece = string | Placeholder;

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** What looks like a placeholder of a shell or of another tool, and would reach the plugin unexpanded. */
const FOREIGN = /^\$\{([A-Z_][A-Z0-9_]*)\}/;

/** Splits a text into literal parts and placeholders. @throws PlaceholderError */
export function pieces(text: string, path = ''): Piece[] {
  const found: Piece[] = [];
  let literal = '';
  let at = 0;
  while (at < text.length) {
    if (text.startsWith('$${', at)) {
      literal += '${';
      at += 3;
      continue;
    }
    const start = /^\$\{(env|secret):/.exec(text.slice(at, at + 9));
    if (start === null) {
      const foreign = FOREIGN.exec(text.slice(at, at + 130));
      if (foreign !== null) {
        throw new PlaceholderError(
          path,
          `\${${foreign[1]}} is no placeholder; write \${env:${foreign[1]}}, or $\${${foreign[1]}} for the text itself`,
        );
      }
      literal += text[at];
      at++;
      continue;
    }
    const end = text.indexOf('}', at);
    const name = end < 0 ? '' : text.slice(at + start[0].length, end);
    if (end < 0 || !NAME.test(name)) {
      throw new PlaceholderError(path, `a placeholder is \${${start[1]}:NAME}; this one is broken`);
    }
    if (literal !== '') found.push(literal);
    literal = '';
    found.push({ kind: start[1] as 'env' | 'secret', name });
    at = end + 1;
  }
  if (literal !== '') found.push(literal);
  return found;
}

/** Whether the text has a placeholder; false for a text with a broken one. */
export function hasPlaceholder(text: string): boolean {
  return text.includes('${env:') || text.includes('${secret:');
}

/**
 * Expands every string inside a JSON value.
 *
 * @throws PlaceholderError with the JSON Pointer of the first value that cannot be expanded
 */
export async function expand(value: Json, lookup: Lookup, path = ''): Promise<Json> {
  if (typeof value === 'string') return expandText(value, lookup, path);
  if (Array.isArray(value)) {
    return Promise.all(value.map((item: Json, i) => expand(item, lookup, `${path}/${i}`)));
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(async ([key, member]) => {
      const at = `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      return [key, await expand(member as Json, lookup, at)] as const;
    });
    return Object.fromEntries(await Promise.all(entries));
  }
  return value;
}

async function expandText(text: string, lookup: Lookup, path: string): Promise<string> {
  if (!text.includes('${')) return text;
  const parts = await Promise.all(
    pieces(text, path).map(async (piece) => {
      if (typeof piece === 'string') return piece;
      const value = piece.kind === 'env' ? lookup.env(piece.name) : await lookup.secret(piece.name);
      if (value !== undefined) return value;
      throw new PlaceholderError(
        path,
        piece.kind === 'env'
          ? `the variable ${piece.name} is not set`
          : `the secret ${piece.name} is not set`,
      );
    }),
  );
  return parts.join('');
}

/** Every placeholder inside a JSON value, broken ones left out. */
export function placeholdersIn(value: unknown): Placeholder[] {
  if (typeof value === 'string') {
    try {
      return pieces(value).filter((piece) => typeof piece !== 'string');
    } catch {
      return [];
    }
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(placeholdersIn);
}
