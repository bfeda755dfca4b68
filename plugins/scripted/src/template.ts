/**
 * `{{ … }}` inside a script's strings: JSONata expressions over the conversation.
 *
 * Promise: a string that is one expression and nothing else gives the value with its type; in the middle of a
 * text a value is written as text. An expression that gives nothing is an error, and so is one that asks for
 * the clock or for chance: a script answers the same conversation in the same way.
 */
import type { Json } from '@chassis/types';
import jsonata from 'jsonata';

/** Evaluates a compiled string or value; `facts` is what expressions see. */
export type Template<T = unknown> = (facts: object) => Promise<T>;

/** An expression that cannot be used, or gave nothing. */
export class TemplateError extends Error {}

/** @throws TemplateError */
export function compileText(text: string): Template<string> {
  const parts = partsOf(text);
  return async (facts) => {
    const written: string[] = [];
    for (const part of parts) {
      if (typeof part === 'string') written.push(part);
      else {
        const value = await part(facts);
        written.push(typeof value === 'string' ? value : JSON.stringify(value));
      }
    }
    return written.join('');
  };
}

/**
 * Compiles every string inside a JSON value.
 *
 * @param at JSON Pointer of the value, given to `onError` with each expression that cannot be used
 */
export function compileValue(
  value: Json,
  at: string,
  onError: (at: string, error: TemplateError) => void,
): Template {
  if (typeof value === 'string') {
    try {
      const parts = partsOf(value.trim());
      const [only] = parts;
      return parts.length === 1 && typeof only === 'function' ? only : compileText(value);
    } catch (error) {
      onError(at, error as TemplateError);
      return async () => value;
    }
  }
  if (Array.isArray(value)) {
    const items = value.map((item: Json, i) => compileValue(item, `${at}/${i}`, onError));
    return async (facts) => Promise.all(items.map((item) => item(facts)));
  }
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([key, member]) => {
      const token = key.replaceAll('~', '~0').replaceAll('/', '~1');
      return [key, compileValue(member as Json, `${at}/${token}`, onError)] as const;
    });
    return async (facts) =>
      Object.fromEntries(await Promise.all(members.map(async ([key, member]) => [key, await member(facts)])));
  }
  return async () => value;
}

/** Literal text and expressions, in order. */
function partsOf(text: string): (string | Template)[] {
  const parts: (string | Template)[] = [];
  let at = 0;
  for (;;) {
    const start = text.indexOf('{{', at);
    if (start < 0) break;
    if (start > at) parts.push(text.slice(at, start));
    const { expression, end } = expressionAt(text, start + 2);
    parts.push(expression);
    at = end;
  }
  if (at < text.length || parts.length === 0) parts.push(text.slice(at));
  return parts;
}

/** The expression up to the first `}}` that makes it whole: `}}` may also end two objects inside of it. */
function expressionAt(text: string, start: number): { expression: Template; end: number } {
  let problem: string | undefined;
  for (let close = text.indexOf('}}', start); close >= 0; close = text.indexOf('}}', close + 1)) {
    const source = text.slice(start, close).trim();
    try {
      return { expression: evaluator(source), end: close + 2 };
    } catch (error) {
      problem ??= `"${source}" is no JSONata expression: ${(error as Error).message}`;
    }
  }
  throw new TemplateError(problem ?? 'this {{ has no }}');
}

const UNREPEATABLE = ['now', 'millis', 'random', 'shuffle'];

function evaluator(source: string): Template {
  const compiled = jsonata(source);
  for (const name of UNREPEATABLE) {
    compiled.registerFunction(name, () => {
      throw new TemplateError(`$${name}() is not available: a script must answer the same way every time`);
    });
  }
  return async (facts) => {
    let value: unknown;
    try {
      value = await compiled.evaluate(facts);
    } catch (error) {
      throw new TemplateError(`{{ ${source} }}: ${(error as Error).message}`);
    }
    if (value === undefined || typeof value === 'function')
      throw new TemplateError(`{{ ${source} }} gave nothing${whatIsThere(source, facts)}`);
    return value;
  };
}

/** What there is of the tools that an expression asks about; of all tools when it names none. */
function whatIsThere(source: string, facts: object): string {
  const { results, errors } = facts as { readonly [name: string]: Lists | undefined };
  if (results === undefined || errors === undefined || !/\b(?:results|errors)\b/.test(source)) return '';
  const known = [...new Set([...Object.keys(results), ...Object.keys(errors)])];
  const named = [...source.matchAll(/\b(?:results|errors)\.(?:`([^`]+)`|(\w+))/g)].map(
    ([, a, b]) => a ?? b ?? '',
  );
  const asked = named.filter((name) => known.includes(name));
  if (asked.length < named.length || named.length === 0) {
    return `: there are results and errors of ${known.length === 0 ? 'no tool yet' : known.join(', ')}`;
  }
  const lines = [...new Set(asked)].flatMap((name) => [
    `results.${name} has ${entries(results[name]?.length ?? 0)}`,
    ...(errors[name] === undefined
      ? []
      : [`errors.${name} has ${errors[name].length}: ${JSON.stringify(brief(errors[name].at(-1)))}`]),
  ]);
  return `: ${lines.join('; ')}`;
}

type Lists = { readonly [tool: string]: readonly unknown[] | undefined };

function entries(count: number): string {
  return `${count} ${count === 1 ? 'entry' : 'entries'}`;
}

function brief(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
}
