/**
 * Reads a YAML or JSON document, and remembers where everything stands.
 *
 * Promise: size and nesting are checked before the parser may spend time on them; the value holds plain JSON
 * only (no NaN, no dates, no shared references); anything else is an issue with line and column.
 * It never runs a tag, follows a file, or expands an alias bomb.
 */
import { readFile } from 'node:fs/promises';
import { ChassisError } from '@chassis/errors';
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  parseDocument as parseYaml,
} from 'yaml';
import { type Issue, invalid, pointerKeys, pointerToken } from './issue.ts';

export interface Place {
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 units. */
  readonly column: number;
}

export interface SourceDocument {
  readonly file: string;
  /** Plain JSON; undefined when the document is empty. */
  readonly value: unknown;
  /** Where a value, or with `'key'` the key that names it, stands; undefined when the pointer leads nowhere. */
  place(pointer: string, what?: 'key' | 'value'): Place | undefined;
}

export interface DocumentLimits {
  /** Of the text in UTF-16 units; 1 Mi by default. */
  readonly maxLength?: number;
  /** Levels of nesting; 64 by default. */
  readonly maxDepth?: number;
}

const MAX_LENGTH = 1024 * 1024;
const MAX_DEPTH = 64;
/** Aliases followed, those inside an alias's target included: a bomb needs thousands, a person a few. */
const MAX_ALIASES = 1000;

/** @throws InvalidParams with every problem of the text and its place */
export function parseDocument(text: string, file: string, limits: DocumentLimits = {}): SourceDocument {
  const source = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const maxDepth = limits.maxDepth ?? MAX_DEPTH;
  const maxLength = limits.maxLength ?? MAX_LENGTH;
  if (source.length > maxLength) {
    throw invalid([{ path: '', file, message: `the file is longer than ${maxLength} characters` }]);
  }
  const lines = new LineCounter();
  const deep = tooDeep(source, maxDepth);
  if (deep !== undefined) {
    const before = source.slice(0, deep).split('\n');
    const place = { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
    throw invalid([{ path: '', file, ...place, message: `nested deeper than ${maxDepth} levels` }]);
  }
  const parsed = parseYaml(source, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: true,
    version: '1.2',
    logLevel: 'error',
  });
  const at = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const issues: Issue[] = [...parsed.errors, ...parsed.warnings].map((problem) => ({
    path: '',
    file,
    ...at(problem.pos[0]),
    message: inPlainWords(problem.code, problem.message),
  }));
  if (issues.length > 0) throw invalid(withoutRepeats(issues));

  const value = plainValue(parsed, { maxDepth, file, at, issues });
  if (issues.length > 0) throw invalid(issues);
  return { file, value, place: (pointer, what = 'value') => placeOf(parsed, pointerKeys(pointer), what, at) };
}

/** @throws InvalidParams when the file cannot be read, is no UTF-8, or is no valid document */
export async function readDocument(path: string, limits: DocumentLimits = {}): Promise<SourceDocument> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(path);
  } catch (cause) {
    throw new ChassisError('InvalidParams', `${path}: cannot be read: ${(cause as Error).message}`, {
      cause,
      data: { issues: [{ path: '', file: path, message: 'cannot be read' }] },
    });
  }
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalid([{ path: '', file: path, message: 'the file is no valid UTF-8 text' }]);
  }
  return parseDocument(text, path, limits);
}

/** Offset of the first token that nests too deep, by counting brackets and by `- - -` on one line. */
function tooDeep(source: string, maxDepth: number): number | undefined {
  // Reading tokens costs as much as parsing; a text that cannot nest thousands deep is looked at afterwards.
  if (!mayBeVeryDeep(source)) return undefined;
  let offset = 0;
  let brackets = 0;
  let indicators = 0;
  for (const token of new Lexer().lex(source)) {
    if (token === '[' || token === '{') brackets++;
    else if (token === ']' || token === '}') brackets--;
    else if (token === '-' || token === '?') indicators++;
    else if (token === '\n' || token === '\r\n') indicators = 0;
    if (brackets > maxDepth || indicators > maxDepth) return offset;
    // The lexer marks document start, scalars and errors with characters that are not in the text.
    if (token !== '\u0002' && token !== '\u0018' && token !== '\u001F') offset += token.length;
  }
  return undefined;
}

/** A bracket that is never closed is reported once for every bracket around it. */
function withoutRepeats(issues: readonly Issue[]): Issue[] {
  return [
    ...new Map(issues.map((issue) => [`${issue.line}:${issue.column} ${issue.message}`, issue])).values(),
  ];
}

function mayBeVeryDeep(source: string): boolean {
  if (/(?:[-?][ \t]+){200}/.test(source)) return true;
  let brackets = 0;
  for (const bracket of ['[', '{']) {
    for (let at = source.indexOf(bracket); at >= 0; at = source.indexOf(bracket, at + 1)) brackets++;
  }
  return brackets > 1000;
}

interface Reading {
  readonly maxDepth: number;
  readonly file: string;
  readonly at: (offset: number) => Place;
  readonly issues: Issue[];
}

function plainValue(document: Document.Parsed, reading: Reading): unknown {
  let aliases = 0;
  let overflow = false;
  const open = new Set<unknown>();

  const problem = (node: unknown, path: string, message: string): void => {
    const offset = (node as Node | null)?.range?.[0] ?? 0;
    reading.issues.push({ path, file: reading.file, ...reading.at(offset), message });
  };

  const read = (node: unknown, path: string, depth: number): unknown => {
    if (overflow) return null;
    if (depth > reading.maxDepth) {
      overflow = true;
      problem(node, path, `nested deeper than ${reading.maxDepth} levels`);
      return null;
    }
    if (isAlias(node)) {
      if (++aliases > MAX_ALIASES) {
        overflow = true;
        problem(node, path, `more than ${MAX_ALIASES} aliases to follow`);
        return null;
      }
      const target = node.resolve(document);
      if (target === undefined) {
        problem(node, path, `alias *${node.source} has no anchor before it`);
        return null;
      }
      if (open.has(target)) {
        problem(node, path, `alias *${node.source} contains itself`);
        return null;
      }
      return read(target, path, depth);
    }
    if (isScalar(node)) return scalar(node, path);
    if (isSeq(node)) {
      open.add(node);
      const list = node.items.map((item, i) => read(item, `${path}/${i}`, depth + 1));
      open.delete(node);
      return list;
    }
    if (isMap(node)) {
      open.add(node);
      const object: Record<string, unknown> = {};
      for (const pair of node.items) {
        const key = keyText(pair.key);
        if (key === undefined) {
          problem(pair.key, path, 'a key must be plain text, not a list or an object');
          continue;
        }
        const value = read(pair.value, `${path}/${pointerToken(key)}`, depth + 1);
        Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
      }
      open.delete(node);
      return object;
    }
    return null;
  };

  const scalar = (node: { value: unknown; source?: string | undefined }, path: string): unknown => {
    const { value } = node;
    if (typeof value !== 'number') return value ?? null;
    if (!Number.isFinite(value)) {
      problem(node, path, `${node.source ?? value} is no JSON number`);
      return null;
    }
    if (Number.isInteger(value) && !Number.isSafeInteger(value) && /^[-+]?\d+$/.test(node.source ?? '')) {
      problem(node, path, `${node.source} is too large for an exact number; put it in quotes`);
      return null;
    }
    return value;
  };

  return document.contents === null ? undefined : read(document.contents, '', 0);
}

function keyText(key: unknown): string | undefined {
  if (key === null) return '';
  if (!isScalar(key)) return undefined;
  if (typeof key.value === 'string') return key.value;
  return key.source ?? String(key.value);
}

function placeOf(
  document: Document.Parsed,
  keys: readonly string[],
  what: 'key' | 'value',
  at: (offset: number) => Place,
): Place | undefined {
  let node: unknown = document.contents;
  let offset = (document.contents as Node | null)?.range?.[0] ?? 0;
  for (const key of keys) {
    if (isAlias(node)) node = node.resolve(document);
    if (isMap(node)) {
      const pair = node.items.find((item) => keyText(item.key) === key);
      if (pair === undefined) return undefined;
      const keyOffset = (pair.key as Node | null)?.range?.[0] ?? offset;
      const valueNode = pair.value as Node | null;
      node = valueNode;
      const written = valueNode !== null && !(isScalar(valueNode) && (valueNode.source ?? '') === '');
      offset = what === 'key' || !written ? keyOffset : (valueNode?.range?.[0] ?? keyOffset);
    } else if (isSeq(node)) {
      const item = node.items[Number(key)] as Node | undefined;
      if (item === undefined) return undefined;
      node = item;
      offset = item?.range?.[0] ?? offset;
    } else return undefined;
  }
  return at(offset);
}

function inPlainWords(code: string, message: string): string {
  switch (code) {
    case 'DUPLICATE_KEY':
      return 'this key is already there; keys must be unique';
    case 'TAB_AS_INDENT':
      return 'a tab cannot indent YAML; use spaces';
    case 'MULTIPLE_DOCS':
      return 'a second document begins here; one file holds one document';
    case 'TAG_RESOLVE_FAILED':
      return `${message.replace(/^Unresolved tag/, 'unknown tag')}; tags are not supported`;
    default:
      return message.replace(/^./, (letter) => letter.toLowerCase());
  }
}
