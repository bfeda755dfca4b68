/**
 * From an event's data to the JSON text that is logged: checked, copied, redacted, large values moved out.
 *
 * Promise: nothing that was appended can change the record afterwards; no known secret gets past here; the usual event
 * costs one copy and one `JSON.stringify`.
 */
import type { Json, JsonObject } from '@chassis/types';
import { BLOB_LIMIT, escapeRefs, isBlobRef, issueRef } from './blob-ref.ts';
import type { BlobRef } from './event.ts';
import { copyJson, escapeSeparators, serialise } from './json.ts';
import { escapeMarks, type Secrets } from './secrets.ts';

/** Takes a blob's bytes; they must be on disk before a line that names them is. */
export type KeepBlob = (sha256: string, bytes: Buffer) => void;

export interface LoggedData {
  /** As a reader of the line gets it, references not resolved. */
  readonly data: Json;
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

  /** @throws ChassisError InvalidOutput naming the path when it is no JSON */
  encode(type: string, data: unknown): LoggedData {
    const copy = copyJson(data);
    const value = copy.blobs ? escapeRefs(copy.value, data, offeredTools(type, data)) : copy.value;
    let refs = copy.blobs;
    let text = serialise(value, copy.negativeZero);
    const suspect = this.#secrets.suspects(text);
    // `shown` is what a reader gets; `written` differs from it only in escaped look-alikes of marks.
    let shown = suspect ? this.#secrets.redact(value) : value;
    let written = suspect ? this.#secrets.redactForLog(value) : value;
    const mark = suspect ? unchanged : escapeMarks;
    if (suspect) text = serialise(written, copy.negativeZero);
    if (text.length > BLOB_LIMIT / 3 && type !== 'session.opened' && Buffer.byteLength(text) > BLOB_LIMIT) {
      const moved = this.#moveOut(written as JsonObject, copy.negativeZero, mark);
      if (moved) {
        shown = { ...(shown as JsonObject), ...moved };
        written = { ...(written as JsonObject), ...moved };
        text = serialise(written, copy.negativeZero);
        refs = true;
      }
    }
    return { data: shown, text: escapeSeparators(mark(text)), refs };
  }

  /** Stores a value whatever its size. Bytes are stored as they are. */
  blob(value: unknown): BlobRef {
    if (value instanceof Uint8Array) return this.#store(Buffer.from(value), 'application/octet-stream');
    const cacheable = typeof value === 'object' && value !== null && Object.isFrozen(value);
    const known = cacheable ? this.#frozen.get(value) : undefined;
    if (known && known.revision === this.#secrets.revision) return known.ref;
    const copy = copyJson(value);
    const plain = copy.blobs ? escapeRefs(copy.value, value) : copy.value;
    const suspect = this.#secrets.suspects(serialise(plain, copy.negativeZero));
    const written = suspect ? this.#secrets.redactForLog(plain) : plain;
    const ref = this.#storeJson(written, copy.negativeZero, suspect ? unchanged : escapeMarks);
    if (cacheable) this.#frozen.set(value, { ref, revision: this.#secrets.revision });
    return ref;
  }

  /** References for the members over the limit. What is inside such a member goes with it. */
  #moveOut(data: JsonObject, negativeZero: boolean, mark: (text: string) => string): JsonObject | undefined {
    let moved: Record<string, Json> | undefined;
    for (const [key, member] of Object.entries(data)) {
      // No character takes more than six bytes of JSON.
      if (typeof member === 'string' ? member.length * 6 < BLOB_LIMIT : typeof member !== 'object') continue;
      if (member === null || isBlobRef(member)) continue;
      if (Buffer.byteLength(serialise(member, negativeZero)) <= BLOB_LIMIT) continue;
      moved ??= {};
      moved[key] = this.#storeJson(member, negativeZero, mark) as unknown as Json;
    }
    return moved;
  }

  #storeJson(value: Json, negativeZero: boolean, mark: (text: string) => string): BlobRef {
    // Text that is no well-formed UTF-16 has no UTF-8; as JSON it keeps its escapes.
    if (typeof value === 'string' && value.isWellFormed())
      return this.#store(Buffer.from(mark(value)), 'text/plain');
    const text = escapeSeparators(mark(serialise(value, negativeZero)));
    return this.#store(Buffer.from(text), 'application/json');
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

function unchanged(text: string): string {
  return text;
}
