/**
 * From an event's data to the JSON text that is logged: checked, copied, redacted, large values moved out.
 *
 * Promise: nothing that was appended can change the record afterwards; no known secret gets past here; the usual event
 * costs one check and one `JSON.stringify`.
 */
import type { Json, JsonObject } from '@chassis/types';
import { BLOB_LIMIT, escapeRefs, isBlobRef, isIssued, issueRef } from './blob-ref.ts';
import type { BlobRef } from './event.ts';
import { checkJson, copyJson, escapeSeparators, parseJson, serialise, setMember } from './json.ts';
import { LAZY_LENGTH, lazyMember } from './lazy.ts';
import { escapeMarks, type Secrets, unescapeMarks } from './secrets.ts';

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

  /**
   * @param data a plain object
   * @throws ChassisError InvalidOutput naming the path when it is no JSON
   */
  encode(type: string, data: object): LoggedData {
    const offered = offeredTools(type, data);
    const { negativeZero, lookAlikes, refs } = checkJson(
      data,
      (value) => value === offered || isIssued(value),
    );
    const source = (lookAlikes ? escapeRefs(copyJson(data).value, data, offered) : data) as JsonObject;
    let texts = memberTexts(source, negativeZero);
    // `shown` is what a reader gets; what is written differs from it in escaped look-alikes of marks.
    let shown = source;
    let mark = escapeMarks;
    if (texts.some(([, text]) => this.#secrets.suspects(text))) {
      shown = this.#secrets.redact(source);
      texts = memberTexts(this.#secrets.redactForLog(source), negativeZero);
      mark = unchanged;
    }
    const logged: Record<string, Json> = {};
    let moved = false;
    const parts = texts.map(([key, text]) => {
      const member = shown[key] as Json;
      if (type !== 'session.opened' && isLarge(text)) {
        const ref = this.#storeText(mark(text), member);
        moved = true;
        setMember(logged, key, ref);
        return `${JSON.stringify(key)}:${JSON.stringify(ref)}`;
      }
      keepMember(logged, key, member, mark === unchanged ? unescapeMarks(text) : text);
      return `${JSON.stringify(key)}:${text}`;
    });
    return {
      data: logged,
      text: escapeSeparators(mark(`{${parts.join(',')}}`)),
      refs: refs || lookAlikes || moved,
    };
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

/** Each member with its JSON text. */
function memberTexts(data: JsonObject, negativeZero: boolean): [string, string][] {
  const texts: [string, string][] = [];
  for (const key of Object.keys(data)) texts.push([key, serialise(data[key] as Json, negativeZero)]);
  return texts;
}

/** No character takes more than three bytes; most texts are short enough not to be counted. */
function isLarge(text: string): boolean {
  return text.length > BLOB_LIMIT / 3 && (text.length > BLOB_LIMIT || Buffer.byteLength(text) > BLOB_LIMIT);
}

/** Keeps a member for readers: small ones as a copy, larger ones as their text. */
function keepMember(target: Record<string, Json>, key: string, member: Json, text: string): void {
  if (typeof member !== 'object' || member === null) setMember(target, key, member);
  else if (text.length < LAZY_LENGTH) setMember(target, key, copyJson(member).value);
  else lazyMember(target, key, () => parseJson(text));
}

function unchanged(text: string): string {
  return text;
}
