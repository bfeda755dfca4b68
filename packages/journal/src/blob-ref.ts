/**
 * Blob references: a value kept outside the line stands there as `{ "$blob": { sha256, bytes, media_type } }`.
 *
 * Promise: user data that happens to look like a reference is escaped with one more `$` and comes back as it was. Only
 * references that a store gave out are written as references.
 */
import { hash } from 'node:crypto';
import type { Json } from '@chassis/types';
import type { BlobRef } from './event.ts';
import { BLOB_MEMBER, isExactNumber, parseJson, setMember } from './json.ts';
import { unescapeMarks } from './secrets.ts';

/** Values longer than this, in bytes of their JSON text, are kept outside the line. */
export const BLOB_LIMIT = 8192;

/** Answers the value of a reference, or the reference itself when its content is missing or damaged. */
export type Resolve = (ref: BlobRef) => Json;

const issued = new WeakSet<object>();

/** A reference to bytes that a store holds. */
export function issueRef(bytes: Uint8Array, mediaType: string): BlobRef {
  const ref: BlobRef = {
    $blob: { sha256: hash('sha256', bytes), bytes: bytes.byteLength, media_type: mediaType },
  };
  issued.add(ref);
  return ref;
}

/** Whether a store of this process gave this very object out as a reference. */
export function isIssued(value: object): boolean {
  return issued.has(value);
}

/** References that stand for a value that could not be had. User data of the same shape is not among them. */
const lost = new WeakSet<object>();
/** Whether there has been one in this process: as long as there is none, no value has to be searched for it. */
let anyLost = false;

/** What `resolve` answers when the content is missing or damaged: the reference, known as such. */
export function loseRef(ref: BlobRef): Json {
  lost.add(ref);
  anyLost = true;
  return ref as unknown as Json;
}

/** Whether a value as such, not only something in it, is not on record. */
export function isLostBlob(value: unknown): boolean {
  return typeof value === 'object' && value !== null && lost.has(value);
}

/** The first reference in resolved data whose value is not on record. */
export function lostBlobIn(value: unknown): BlobRef | undefined {
  if (!anyLost) return undefined;
  if (typeof value !== 'object' || value === null || isExactNumber(value)) return undefined;
  if (lost.has(value)) return value as BlobRef;
  for (const member of Object.values(value)) {
    const found = lostBlobIn(member);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Text that may be lost: the reference then stands there as JSON. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
}

/** What every reference and every escaped look-alike has; its first character is rare. */
const MARK = '$blob":';
const MARK_BYTES = Buffer.from(MARK);

const HEX = /^[0-9a-f]{64}$/;
const WRITTEN = Buffer.from('{"$blob":{"sha256":"');
const HASH_LENGTH = 64;
/** What stands behind the hash in a reference as our writers write it. */
const REST = /^","bytes":\d+,"media_type":"[^"\\]*"\}\}/;
const REST_LENGTH = 256;

/** Content hashes of the references in a line, found without parsing it. */
export function hashesIn(line: Buffer): string[] {
  const found: string[] = [];
  for (let at = nextMark(line, 0); at !== -1; at = nextMark(line, at + MARK_BYTES.length)) {
    const sha256 = hashAt(line, at);
    if (sha256 !== undefined) found.push(sha256);
  }
  return found;
}

/** Whether everything in a line that may be a reference is one, to one of these contents. */
export function refersOnlyTo(line: Buffer, contents: ReadonlySet<string>): boolean {
  for (let at = nextMark(line, 0); at !== -1; at = nextMark(line, at + MARK_BYTES.length)) {
    const sha256 = hashAt(line, at);
    if (sha256 === undefined || !contents.has(sha256)) return false;
  }
  return true;
}

/** A rare character comes first in what is searched for: that is what makes it fast. */
function nextMark(line: Buffer, from: number): number {
  return line.indexOf(MARK_BYTES, from);
}

/** The reference that was looked at last: most lines refer to the same content, the tools that a model is offered. */
let latest = { bytes: Buffer.alloc(0), sha256: '' };

/** The content hash of the reference whose mark is at a place, when it is written as our writers write it. */
function hashAt(line: Buffer, at: number): string | undefined {
  const start = at - 2;
  if (latest.bytes.length > 0 && startsAt(line, start, latest.bytes)) return latest.sha256;
  if (at < 2 || !startsAt(line, start, WRITTEN)) return undefined;
  const from = start + WRITTEN.length;
  const end = from + HASH_LENGTH;
  const sha256 = line.toString('latin1', from, end);
  const rest = REST.exec(line.toString('latin1', end, end + REST_LENGTH));
  if (!HEX.test(sha256) || rest === null) return undefined;
  latest = { bytes: Buffer.from(line.subarray(start, end + rest[0].length)), sha256 };
  return sha256;
}

function startsAt(line: Buffer, start: number, text: Buffer): boolean {
  for (let i = 0; i < text.length; i++) if (line[start + i] !== text[i]) return false;
  return true;
}

/** Whether a value has the exact shape of a reference. In logged data such an object is one. */
export function isBlobRef(value: unknown): value is BlobRef {
  if (typeof value !== 'object' || value === null || !('$blob' in value)) return false;
  const { $blob } = value as { $blob: unknown };
  if (typeof $blob !== 'object' || $blob === null || Object.keys(value).length !== 1) return false;
  const { sha256, bytes, media_type } = $blob as Record<string, unknown>;
  return (
    typeof sha256 === 'string' &&
    HEX.test(sha256) &&
    typeof bytes === 'number' &&
    typeof media_type === 'string'
  );
}

/**
 * Data as it is logged: user objects that look like references get one more `$`.
 * @param original the data before it was copied, in which references that were given out are recognised
 * @param trusted an object of `original` that is a reference although no store of this process gave it out
 */
export function escapeRefs(copy: Json, original: unknown, trusted?: unknown): Json {
  return mapRefs(copy, original, (key, value, source) => {
    if (issued.has(source as object) || (trusted !== undefined && source === trusted)) return undefined;
    return { [`$${key}`]: escapeRefs(value, (source as Record<string, unknown>)[key], trusted) };
  });
}

/** Logged data with references replaced by their values and escapes removed. */
export function resolveRefs(logged: Json, resolve: Resolve): Json {
  return mapRefs(logged, undefined, (key, value, _source, whole) => {
    if (key !== '$blob') return { [key.slice(1)]: resolveRefs(value, resolve) };
    return isBlobRef(whole) ? resolve(whole) : undefined;
  });
}

function mapRefs(
  value: Json,
  source: unknown,
  change: (key: string, member: Json, source: unknown, whole: Json) => Json | undefined,
): Json {
  if (typeof value !== 'object' || value === null || isExactNumber(value)) return value;
  if (Array.isArray(value)) {
    return (value as readonly Json[]).map((item, i) =>
      mapRefs(item, (source as Json[] | undefined)?.[i], change),
    );
  }
  const keys = Object.keys(value);
  const [key = ''] = keys;
  const object = value as { readonly [key: string]: Json };
  if (keys.length === 1 && BLOB_MEMBER.test(key)) {
    const changed = change(key, object[key] as Json, source, value);
    if (changed !== undefined) return changed;
    return value;
  }
  const copy: Record<string, Json> = {};
  for (const name of keys) {
    const inner = (source as Record<string, unknown> | undefined)?.[name];
    setMember(copy, name, mapRefs(object[name] as Json, inner, change));
  }
  return copy;
}

/**
 * The value that a blob's bytes stand for: text as a string, JSON as the value (its own references resolved), other bytes
 * as base64 text.
 */
export function blobValue(bytes: Uint8Array, mediaType: string, resolve: Resolve): Json {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (mediaType === 'text/plain') return unescapeMarks(view.toString('utf8'));
  if (mediaType !== 'application/json') return view.toString('base64');
  const text = unescapeMarks(view.toString('utf8'));
  const value = parseJson(text);
  return mayHoldRefs(text) ? resolveRefs(value, resolve) : value;
}

/** Whether JSON text may hold references or escaped look-alikes from a place on. Never wrong with "no". */
export function mayHoldRefs(text: string | Buffer, from = 0): boolean {
  return typeof text === 'string' ? text.includes(MARK, from) : text.includes(MARK_BYTES, from);
}

/** Every reference in logged data. */
export function blobRefsIn(value: Json): BlobRef['$blob'][] {
  if (typeof value !== 'object' || value === null) return [];
  if (isBlobRef(value)) return [value.$blob];
  return Object.values(value).flatMap((member: Json) => blobRefsIn(member));
}
