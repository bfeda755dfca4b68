/**
 * One event, one line, chained: `hash` is SHA-256 over the previous event's 32 hash bytes and the exact bytes of this
 * line up to `,"hash":`. It is taken over bytes, never over re-serialised JSON, so copies and exports keep it.
 */
import { hash, randomBytes } from 'node:crypto';
import { ChassisError } from '@chassis/errors';
import type { Json } from '@chassis/types';
import { mayHoldRefs } from './blob-ref.ts';
import type { Event, UnknownEvent } from './event.ts';
import { parseJson } from './json.ts';
import { Kept, LAZY_LENGTH, type Large, largeMemberOf } from './lazy.ts';
import { lineHead, type ReadHead } from './line-head.ts';
import { memberRange, type Range } from './members.ts';
import { unescapeMarks } from './secrets.ts';
import { FORMAT_VERSION, upgradeEvent } from './upgrade.ts';

/** What stands before the first event: 32 zero bytes, in hex. */
export const GENESIS = '0'.repeat(64);

const OPEN = ',"hash":"';
const OPEN_BYTES = Buffer.from(OPEN);
const QUOTE = 0x22;
const CLOSE = 0x7d;
const HASH = /^[0-9a-f]{64}$/;
/** Bytes of `,"hash":"<64 hex>"}`. */
export const TAIL = OPEN.length + 64 + 2;

/** Bytes of a hash. */
const HASH_BYTES = 32;

/** Turns events of one session into whole lines, through one buffer that is used again and again. */
export class LineEncoder {
  readonly #session: string;
  /** The previous hash, then the line: what is hashed stands in a row. */
  #scratch = Buffer.alloc(0);
  /** Where the sequence number of a line begins: what is before it is the same in every line. */
  #seqAt = 0;
  /** Hash of the last line, in hex. */
  hash: string;
  /** Where the data of the last line begin and end, in bytes. */
  dataStart = 0;
  dataEnd = 0;

  constructor(session: string, previous: string) {
    this.#session = session;
    this.hash = previous;
    this.#makeRoom(64 * 1024);
  }

  /**
   * The line with its hash and newline. The bytes are valid until the next call.
   * @param data JSON text
   */
  encode(seq: number, time: number, type: string, step: number | undefined, data: string): Buffer {
    const place = step === undefined ? '' : `,"step":${step}`;
    const start = `${seq},"time":${time},"type":"${type}"${place},"data":`;
    this.#makeRoom(this.#seqAt + (start.length + data.length) * 3 + TAIL + 1);
    const scratch = this.#scratch;
    putHex(scratch, this.hash);
    const dataAt = this.#seqAt + scratch.write(start, this.#seqAt);
    const end = dataAt + scratch.write(data, dataAt);
    this.hash = hash('sha256', scratch.subarray(0, end));
    const length = scratch.write(`${OPEN}${this.hash}"}\n`, end, 'latin1');
    this.dataStart = dataAt - HASH_BYTES;
    this.dataEnd = end - HASH_BYTES;
    return scratch.subarray(HASH_BYTES, end + length);
  }

  #makeRoom(bytes: number): void {
    if (bytes <= this.#scratch.length) return;
    this.#scratch = Buffer.allocUnsafe(bytes * 2);
    const head = `{"v":${FORMAT_VERSION},"session":"${this.#session}","seq":`;
    this.#seqAt = HASH_BYTES + this.#scratch.write(head, HASH_BYTES);
  }
}

/** Writes a hash as its bytes. */
function putHex(bytes: Buffer, hex: string): void {
  for (let i = 0; i < HASH_BYTES; i++)
    bytes[i] = digit(hex.charCodeAt(2 * i)) * 16 + digit(hex.charCodeAt(2 * i + 1));
}

/** The value of a lower-case hexadecimal digit. */
function digit(code: number): number {
  return code <= 0x39 ? code - 0x30 : code - 0x57;
}

/**
 * What a line carries as its hash (64 characters, not looked at), or undefined when it does not end like one of ours.
 * `line` is without its newline.
 */
export function storedHash(line: Buffer): string | undefined {
  const start = line.length - TAIL;
  if (start < 2) return undefined;
  for (let i = 0; i < OPEN_BYTES.length; i++) if (line[start + i] !== OPEN_BYTES[i]) return undefined;
  if (line[line.length - 2] !== QUOTE || line[line.length - 1] !== CLOSE) return undefined;
  return line.toString('latin1', start + OPEN.length, line.length - 2);
}

/** What is hashed of the next line stands here, then what is parsed of it: one copy is cheaper than a hash object. */
let joined = Buffer.allocUnsafe(64 * 1024);
const LARGEST_KEPT = 4 * 1024 * 1024;

/** The hash that a line must carry after `previous`. */
export function computedHash(previous: string, line: Buffer): string {
  const length = line.length - TAIL;
  const room = 32 + length <= joined.length ? joined : Buffer.allocUnsafe((32 + length) * 2);
  if (room.length <= LARGEST_KEPT) joined = room;
  room.write(previous, 0, 32, 'hex');
  line.copy(room, 32, 0, length);
  return hash('sha256', room.subarray(0, 32 + length));
}

/** Whether a line ends as ours do, with this hash. */
export function carries(line: Buffer, hash: string): boolean {
  const start = line.length - TAIL;
  if (start < 2 || line[line.length - 2] !== QUOTE || line[line.length - 1] !== CLOSE) return false;
  for (let i = 0; i < OPEN_BYTES.length; i++) if (line[start + i] !== OPEN_BYTES[i]) return false;
  const at = start + OPEN_BYTES.length;
  for (let i = 0; i < 64; i++) if (line[at + i] !== hash.charCodeAt(i)) return false;
  return true;
}

/** An event as logged, in today's format, and whether it may hold blob references. */
export interface Decoded {
  readonly event: Event | UnknownEvent;
  readonly refs: boolean;
  /** What was left out of the event's data. */
  readonly large?: Large;
}

interface Known {
  readonly head?: ReadHead;
  readonly hash?: string;
}

const NAMES = { input: Buffer.from('input'), output: Buffer.from('output') };
/** Stands in for a member that was left out; nobody can have logged it. Short, so that a parser makes no new string of it. */
const LEFT_OUT = randomBytes(5).toString('hex');
const LEFT_OUT_BYTES = Buffer.from(`"${LEFT_OUT}"`);

/**
 * Reads a line.
 * @param lean leave a large input or output out until somebody looks at it; for folds, which keep every event. The line's bytes
 *   must not change then
 * @param known what is known of the line, if its hash was checked before
 * @throws ChassisError ParseError when it is no event; InvalidParams when its format is newer than ours
 */
export function decodeLine(line: Buffer | string, lean = false, known?: Known): Decoded {
  const bytes = typeof line === 'string' ? Buffer.from(line) : line;
  const head = known?.head ?? lineHead(bytes);
  const hash = known?.hash ?? hexIn(bytes);
  if (head?.v !== FORMAT_VERSION || hash === undefined) return decodeWhole(bytes);
  const end = bytes.length - TAIL;
  const key = lean && end - head.dataAt > 2 * LAZY_LENGTH ? largeMemberOf(head.type) : undefined;
  const range = key && memberRange(bytes, head.dataAt, end, NAMES[key]);
  const cut = range && range.end - range.start >= LAZY_LENGTH ? range : undefined;
  const text =
    cut === undefined ? bytes.toString('utf8', head.dataAt, end) : textWithout(cut, bytes, head.dataAt, end);
  let data: Json;
  try {
    data = parseJson(unescapeMarks(text));
  } catch {
    // There is something behind the data, or the line is no JSON.
    return decodeWhole(bytes);
  }
  const refs = mayHoldRefs(text) || (cut !== undefined && mayHoldRefs(bytes, cut.start));
  const { v, session, seq, time, type, step } = head;
  const event = (
    step === undefined
      ? { v, session, seq, time, type, data, hash }
      : { v, session, seq, time, type, step, data, hash }
  ) as UnknownEvent;
  if (key === undefined || cut === undefined) return { event, refs };
  // A second member of that name would count.
  if ((data as Record<string, Json>)[key] !== LEFT_OUT) return decodeWhole(bytes);
  return { event, refs, large: { key, value: new Kept(bytes, cut.start, cut.end) } };
}

/** Puts the text together in bytes: one string is made of it, not four. */
function textWithout(cut: Range, bytes: Buffer, start: number, end: number): string {
  const most = end - start + LEFT_OUT_BYTES.length;
  const room = most <= joined.length ? joined : Buffer.allocUnsafe(most);
  let length = bytes.copy(room, 0, start, cut.start);
  length += LEFT_OUT_BYTES.copy(room, length);
  length += bytes.copy(room, length, cut.end, end);
  return room.toString('utf8', 0, length);
}

function hexIn(line: Buffer): string | undefined {
  const stored = storedHash(line);
  return stored !== undefined && HASH.test(stored) ? stored : undefined;
}

/** Any line, by parsing all of it. */
function decodeWhole(bytes: Buffer): Decoded {
  let value: Json;
  try {
    value = parseJson(unescapeMarks(bytes.toString('utf8')));
  } catch (cause) {
    throw new ChassisError('ParseError', 'this line of the log is no JSON', { cause });
  }
  const { v, seq, type } = (value ?? {}) as Record<string, unknown>;
  if (typeof v !== 'number' || typeof seq !== 'number' || typeof type !== 'string') {
    throw new ChassisError('ParseError', 'this line of the log is no event');
  }
  return { event: upgradeEvent(value as unknown as UnknownEvent), refs: mayHoldRefs(bytes) };
}
