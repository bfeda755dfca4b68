/**
 * One problem in a document or a value, and how problems become an error.
 *
 * Promise: an issue names its place as exactly as it is known (file, line, column, JSON Pointer) and its
 * message is a whole sentence: what is wrong, what was expected, and the nearest valid name if there is one.
 */
import { ChassisError } from '@chassis/errors';

export interface Issue {
  /** JSON Pointer into the value; empty for the whole. */
  readonly path: string;
  readonly message: string;
  readonly expected?: string;
  readonly received?: string;
  readonly file?: string;
  /** From 1. */
  readonly line?: number;
  /** From 1, in UTF-16 units. */
  readonly column?: number;
}

/** `file:line:column: message`; without a file, `/json/pointer: message`. */
export function issueText(issue: Issue): string {
  if (issue.file !== undefined) {
    const place = issue.line === undefined ? '' : `:${issue.line}:${issue.column ?? 1}`;
    return `${issue.file}${place}: ${issue.message}`;
  }
  return issue.path === '' ? issue.message : `${issue.path}: ${issue.message}`;
}

/** The most issues that one error's message spells out; `data.issues` holds up to a hundred. */
const SPELLED_OUT = 10;
const KEPT = 100;

/**
 * One InvalidParams error for all the issues.
 *
 * @param lead what was being read, put before issues without a file (`input of fetch_orders`)
 */
export function invalid(issues: readonly Issue[], lead?: string): ChassisError {
  const lines = issues
    .slice(0, SPELLED_OUT)
    .map((issue) =>
      lead !== undefined && issue.file === undefined ? `${lead}: ${issueText(issue)}` : issueText(issue),
    );
  if (issues.length > SPELLED_OUT) lines.push(`… and ${issues.length - SPELLED_OUT} more`);
  return new ChassisError('InvalidParams', lines.join('\n'), { data: { issues: issues.slice(0, KEPT) } });
}

/** The issues that an error carries in `data.issues`, or none. */
export function issuesOf(error: unknown): readonly Issue[] {
  const data = (error as { data?: { issues?: unknown } } | null | undefined)?.data;
  return Array.isArray(data?.issues) ? (data.issues as Issue[]) : [];
}

/** One token of a JSON Pointer (RFC 6901), escaped. */
export function pointerToken(key: string | number): string {
  return String(key).replaceAll('~', '~0').replaceAll('/', '~1');
}

/** The keys of a JSON Pointer. */
export function pointerKeys(pointer: string): string[] {
  if (pointer === '') return [];
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** A value in a few words for a person: `a string ("N/A")`, `an object`, `nothing`. */
export function describe(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${value.length}`;
  switch (typeof value) {
    case 'string':
      return `a string (${JSON.stringify(clip(value))})`;
    case 'number':
      return `a number (${value})`;
    case 'boolean':
      return String(value);
    case 'object':
      return 'an object';
    default:
      return `a ${typeof value}`;
  }
}

/** JSON text of a value, short enough for a message. */
export function shown(value: unknown): string {
  return clip(JSON.stringify(value) ?? String(value));
}

function clip(text: string): string {
  return text.length <= 60 ? text : `${text.slice(0, 59).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
