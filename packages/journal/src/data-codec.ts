/**
 * From an event's data to the JSON text that is logged: checked, copied, redacted, large values moved out.
 *
 * Promise: nothing that was appended can change the record afterwards; no known secret gets past here; the usual event
 * costs one check and one `JSON.stringify`.
 */
import type { Json, JsonObject } from '@chassis/types';
import { BLOB_LIMIT, escapeRefs, isBlobRef, isIssued, issueRef } from './blob-ref.ts';
import { type DeltaHead, headIn } from './delta-head.ts';
import type { BlobRef } from './event.ts';
import { copyJson, copyMembers, escapeSeparators, JsonCheck, serialise, setMember } from './json.ts';
import { LAZY_LENGTH, type Large, largeMemberOf } from './lazy.ts';
import { escapeMarks, type Secrets } from './secrets.ts';

/** Takes a blob's bytes; they must be on disk before a line that names them is. */
export type KeepBlob = (sha256: string, bytes: Buffer) => void;

export interface LoggedData {
  /** A copy, as a reader of the line gets it, references not resolved; null stands for the member that is too large for that. */
  readonly data: Json;
  /** That member: it is only in the text. */
  readonly large: Large['key'] | undefined;
  /** Of a model's request: what its messages begin with. */
  readonly head: DeltaHead | undefined;
  readonly text: string;
  /** Whether it may hold references or escaped look-alikes. */
  readonly refs: boolean;
}

export class DataCodec {
  readonly #secrets: Secrets;
  readonly #keep: KeepBlob;
  /** References of frozen values: a catalogue of tools is looked at once, not with every request. */
  readonly #frozen = new WeakMap<object, { ref: BlobRef; revision: number }>();

  constructor(secrets: Secrets, keep: KeepBlob) {
    this.#secrets = secrets;
    this.#keep = keep;
  }

  /**
   * @param data a plain object
   * @throws ChassisError InvalidOutput naming the path when it is no JSON
   */
  encode(type: string, data: object): LoggedData {
    const offered = offeredTools(type, data);
    const check = new JsonCheck(data, (value) => value === offered || isIssued(value));
    const heavy = heaviest(data as JsonObject, largeMemberOf(type), check);
    const { negativeZero, lookAlikes, refs } = check;
    const source = (lookAlikes ? escapeRefs(copyJson(data).value, data, offered) : data) as JsonObject;
    let whole = serialise(source, negativeZero);
    // `shown` is what a reader gets; what is written differs from it in escaped look-alikes of marks.
    let shown = source;
    let written = source;
    let mark = escapeMarks;
    if (this.#secrets.suspects(whole)) {
      shown = this.#secrets.redact(source);
      written = this.#secrets.redactForLog(source);
      whole = serialise(written, negativeZero);
      mark = unchanged;
    }
    const head = type === 'step.started' ? headIn(shown.input) : undefined;
    const own: Record<string, Json> = { ...shown };
    if (type === 'session.opened' || !isLarge(whole)) {
      if (heavy !== undefined) own[heavy] = null;
      const text = escapeSeparators(mark(whole));
      return { data: copyMembers(own), large: heavy, head, text, refs: refs || lookAlikes };
    }
    let large = heavy;
    const stored = new Map<string, BlobRef>();
    const parts = Object.keys(written).map((key) => {
      let text = serialise(written[key] as Json, negativeZero);
      if (isLarge(text)) {
        const ref = this.#storeText(mark(text), shown[key] as Json);
        stored.set(key, ref);
        if (key === heavy) large = undefined;
        text = JSON.stringify(ref);
      }
      return `${JSON.stringify(key)}:${text}`;
    });
    if (large !== undefined) own[large] = null;
    for (const key of stored.keys()) setMember(own, key, null);
    copyMembers(own);
    for (const [key, ref] of stored) setMember(own, key, ref);
    return { data: own, large, head, text: escapeSeparators(mark(`{${parts.join(',')}}`)), refs: true };
  }

  /** Stores a value whatever its size. Bytes are stored as they are. */
  blob(value: unknown): BlobRef {
    if (value instanceof Uint8Array) return this.#store(Buffer.from(value), 'application/octet-stream');
    const cacheable = typeof value === 'object' && value !== null && Object.isFrozen(value);
    const known = cacheable ? this.#frozen.get(value) : undefined;
    if (known && known.revision === this.#secrets.revision) return known.ref;
    const copy = copyJson(value);
    const plain = copy.blobs ? escapeRefs(copy.value, value) : copy.value;
    const text = serialise(plain, copy.negativeZero);
    const suspect = this.#secrets.suspects(text);
    const written = suspect
      ? serialise(this.#secrets.redactForLog(plain), copy.negativeZero)
      : escapeMarks(text);
    const ref = this.#storeText(written, plain);
    if (cacheable) this.#frozen.set(value, { ref, revision: this.#secrets.revision });
    return ref;
  }

  /** @param text the JSON text to store, redacted and with marks escaped */
  #storeText(text: string, value: Json): BlobRef {
    // Text that is no well-formed UTF-16 has no UTF-8; as JSON it keeps its escapes.
    if (typeof value === 'string' && value.isWellFormed()) {
      return this.#store(Buffer.from(JSON.parse(text) as string), 'text/plain');
    }
    return this.#store(Buffer.from(escapeSeparators(text)), 'application/json');
  }

  #store(bytes: Buffer, mediaType: string): BlobRef {
    const ref = issueRef(bytes, mediaType);
    this.#keep(ref.$blob.sha256, bytes);
    return ref;
  }
}

/** In a model step's logged input `tools` is a reference by its place, also when it was read back from a log. */
function offeredTools(type: string, data: unknown): unknown {
  if (type !== 'step.started') return undefined;
  const { kind, input } = data as { kind?: unknown; input?: { tools?: unknown } | null };
  return kind === 'model' && isBlobRef(input?.tools) ? input.tools : undefined;
}

/** Checks all members; answers the one that may be large when it is. */
function heaviest(
  data: JsonObject,
  candidate: Large['key'] | undefined,
  check: JsonCheck,
): Large['key'] | undefined {
  let heavy: Large['key'] | undefined;
  for (const key of Object.keys(data)) {
    const before = check.weight;
    check.check(data[key], 1);
    if (key === candidate && check.weight - before >= LAZY_LENGTH) heavy = candidate;
  }
  return heavy;
}

/** No character takes more than three bytes; most texts are short enough not to be counted. */
function isLarge(text: string): boolean {
  return text.length > BLOB_LIMIT / 3 && (text.length > BLOB_LIMIT || Buffer.byteLength(text) > BLOB_LIMIT);
}

function unchanged(text: string): string {
  return text;
}
