/**
 * Reads a YAML or JSON document, and remembers where everything stands.
 *
 * Promise: size and nesting are checked before the parser may spend time on them; the value holds plain JSON
 * only (no NaN, no dates, no shared references); anything else is an issue with line and column.
 * It never runs a tag, follows a file, or expands an alias bomb.
 */
import { readFileSync, statSync } from 'node:fs';
import { ChassisError, fileProblem } from '@chassis/errors';
import { YAMLException } from 'js-yaml';
import { type Issue, invalid, pointerKeys } from './issue.ts';
import { plainValue } from './plain-value.ts';
import { secondOpinion } from './second-opinion.ts';
import { type YamlNode, type YamlTree, yamlTree } from './yaml-nodes.ts';

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

/** @throws InvalidParams with every problem of the text and its place */
export function parseDocument(text: string, file: string, limits: DocumentLimits = {}): SourceDocument {
  const source = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const maxDepth = limits.maxDepth ?? MAX_DEPTH;
  if (source.length > (limits.maxLength ?? MAX_LENGTH)) throw tooLong(file, limits);
  const at = placesOf(source);
  const issues: Issue[] = [];
  const complain = (offset: number, path: string, message: string): void => {
    issues.push({ path, file, ...at(offset), message });
  };

  const { root, second } = treeOf(source, maxDepth, (offset, message) => complain(offset, '', message));
  if (second !== undefined)
    complain(second, '', 'a second document begins here; one file holds one document');
  if (issues.length > 0) throw invalid(issues);
  const value = root === undefined ? undefined : plainValue(root, maxDepth, complain);
  if (issues.length > 0) throw invalid(issues);
  return {
    file,
    value,
    place: (pointer, what = 'value') => placeOf(root, pointerKeys(pointer), what, at),
  };
}

function tooLong(file: string, { maxLength = MAX_LENGTH }: DocumentLimits): ChassisError {
  return invalid([{ path: '', file, message: `the file is longer than ${maxLength} characters` }]);
}

function treeOf(
  source: string,
  maxDepth: number,
  complain: (offset: number, message: string) => void,
): YamlTree {
  try {
    return yamlTree(source, maxDepth);
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const opinion = secondOpinion(source, error);
    if ('root' in opinion) return opinion;
    for (const { offset, message } of opinion.problems) complain(offset, message);
    return { root: undefined, second: undefined };
  }
}

/** @throws InvalidParams when the file cannot be read, is no UTF-8, or is no valid document */
export async function readDocument(path: string, limits: DocumentLimits = {}): Promise<SourceDocument> {
  let bytes: Uint8Array;
  try {
    // Not even read when it must be too long: no character takes more than three bytes for each of its units.
    if (statSync(path).size > 3 * (limits.maxLength ?? MAX_LENGTH)) throw tooLong(path, limits);
    bytes = readFileSync(path);
  } catch (cause) {
    if (cause instanceof ChassisError) throw cause;
    const message = `cannot be read: ${fileProblem(cause)}`;
    throw new ChassisError('InvalidParams', `${path}: ${message}`, {
      cause,
      data: { issues: [{ path: '', file: path, message }] },
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

/** Line and column of an offset; the lines are counted when the first place is asked for. */
function placesOf(source: string): (offset: number) => Place {
  let starts: number[] | undefined;
  return (offset) => {
    if (starts === undefined) {
      starts = [0];
      for (let at = source.indexOf('\n'); at >= 0; at = source.indexOf('\n', at + 1)) starts.push(at + 1);
    }
    let line = 0;
    for (let above = starts.length; line + 1 < above; ) {
      const middle = (line + above) >> 1;
      if ((starts[middle] ?? 0) <= offset) line = middle;
      else above = middle;
    }
    return { line: line + 1, column: offset - (starts[line] ?? 0) + 1 };
  };
}

function placeOf(
  root: YamlNode | undefined,
  keys: readonly string[],
  what: 'key' | 'value',
  at: (offset: number) => Place,
): Place | undefined {
  let node = root;
  let offset = root?.start ?? 0;
  for (const key of keys) {
    if (node?.kind === 'alias') node = node.target;
    if (node?.kind === 'mapping') {
      const pair = node.pairs.find((one) => one.key.kind === 'scalar' && one.key.text === key);
      if (pair === undefined) return undefined;
      node = pair.value;
      const isWritten = node.kind !== 'scalar' || node.isWritten;
      offset = what === 'key' || !isWritten ? pair.key.start : node.start;
    } else if (node?.kind === 'sequence') {
      node = node.items[Number(key)];
      if (node === undefined) return undefined;
      offset = node.start;
    } else return undefined;
  }
  return at(offset);
}
