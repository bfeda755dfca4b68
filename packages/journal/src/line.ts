/**
 * One event, one line, chained: `hash` is SHA-256 over the previous event's 32 hash bytes and the exact bytes of this
 * line up to `,"hash":`. It is taken over bytes, never over re-serialised JSON, so copies and exports keep it.
 */
import { hash } from 'node:crypto';
import { ChassisError } from '@chassis/errors';
import type { Json } from '@chassis/types';
import { isBlobRef, mayHoldRefs } from './blob-ref.ts';
import type { Event, UnknownEvent } from './event.ts';
import { parseJson } from './json.ts';
import { keepHead, LAZY_LENGTH, lazyMember } from './lazy.ts';
import { unescapeMarks } from './secrets.ts';
import { FORMAT_VERSION, upgradeEvent } from './upgrade.ts';

/** What stands before the first event: 32 zero bytes, in hex. */
export const GENESIS = '0'.repeat(64);

const OPEN = ',"hash":"';
/** Bytes of `,"hash":"<64 hex>"}`. */
export const TAIL = OPEN.length + 64 + 2;

/** The line up to its hash. `data` is JSON text. */
export function lineBody(
  session: string,
  seq: number,
  time: number,
  type: string,
  step: number | undefined,
  data: string,
): string {
  const at = step === undefined ? '' : `,"step":${step}`;
  return `{"v":${FORMAT_VERSION},"session":"${session}","seq":${seq},"time":${time},"type":"${type}"${at},"data":${data}`;
}

/** Turns bodies into whole lines, through one buffer that is used again and again. */
export class LineEncoder {
  #scratch = Buffer.allocUnsafe(64 * 1024);
  /** Hash of the last line, in hex. */
  hash: string;

  constructor(previous: string) {
    this.hash = previous;
  }

  /** The line with its hash and newline. The bytes are valid until the next call. */
  encode(body: string): Buffer {
    const need = 32 + body.length * 3 + TAIL + 1;
    if (need > this.#scratch.length) this.#scratch = Buffer.allocUnsafe(need * 2);
    const scratch = this.#scratch;
    scratch.write(this.hash, 0, 32, 'hex');
    const end = 32 + scratch.write(body, 32, 'utf8');
    this.hash = hash('sha256', scratch.subarray(0, end));
    const length = scratch.write(`${OPEN}${this.hash}"}\n`, end, 'latin1');
    return scratch.subarray(32, end + length);
  }
}

/**
 * What a line carries as its hash (64 characters, not looked at), or undefined when it does not end like one of ours.
 * `line` is without its newline.
 */
export function storedHash(line: Buffer): string | undefined {
  const start = line.length - TAIL;
  if (start < 2) return undefined;
  const tail = line.toString('latin1', start);
  if (!tail.startsWith(OPEN) || !tail.endsWith('"}')) return undefined;
  return tail.slice(OPEN.length, -2);
}

/** The hash that a line must carry after `previous`. */
export function computedHash(previous: string, line: Buffer): string {
  const length = line.length - TAIL;
  const bytes = Buffer.allocUnsafe(32 + length);
  bytes.write(previous, 0, 32, 'hex');
  line.copy(bytes, 32, 0, length);
  return hash('sha256', bytes);
}

/** The members before `data`, read without parsing the line. */
export interface LineHead {
  readonly v: number;
  readonly session: string;
  readonly seq: number;
  readonly time: number;
  readonly type: string;
  readonly step?: number;
}

const HEAD =
  /^\{"v":(\d{1,9}),"session":"([^"\\]{1,128})","seq":(\d{1,15}),"time":(-?\d{1,16}),"type":"([^"\\]{1,128})"(?:,"step":(\d{1,15}))?,"data":/;

/** A line's head, or undefined when the line does not start as ours do. */
export function lineHead(line: Buffer): LineHead | undefined {
  const match = HEAD.exec(line.toString('latin1', 0, 512));
  if (!match) return undefined;
  const [, v, session = '', seq, time, type = '', step] = match;
  return {
    v: Number(v),
    session,
    seq: Number(seq),
    time: Number(time),
    type,
    ...(step === undefined ? {} : { step: Number(step) }),
  };
}

/** An event as logged, in today's format, and whether it may hold blob references. */
export interface Decoded {
  readonly event: Event | UnknownEvent;
  readonly refs: boolean;
}

/**
 * Reads a line.
 * @param lean keep large inputs and outputs as text until somebody looks at them; for folds, which keep every event
 * @throws ChassisError ParseError when it is no event; InvalidParams when its format is newer than ours
 */
export function decodeLine(line: Buffer | string, lean = false): Decoded {
  const text = unescapeMarks(typeof line === 'string' ? line : line.toString('utf8'));
  let value: Json;
  try {
    value = parseJson(text);
  } catch (cause) {
    throw new ChassisError('ParseError', 'this line of the log is no JSON', { cause });
  }
  const { v, seq, type } = (value ?? {}) as Record<string, unknown>;
  if (typeof v !== 'number' || typeof seq !== 'number' || typeof type !== 'string') {
    throw new ChassisError('ParseError', 'this line of the log is no event');
  }
  const event = upgradeEvent(value as unknown as UnknownEvent);
  if (lean && text.length > 2 * LAZY_LENGTH) {
    if (type === 'step.finished') keepAsText(event.data as object, 'output', text);
    else if (type === 'step.started') keepAsText(event.data as object, 'input', text);
  }
  return { event, refs: mayHoldRefs(text) };
}

function keepAsText(data: object, key: string, line: string): void {
  const { [key]: member } = data as Record<string, unknown>;
  if (typeof member !== 'object' || member === null || isBlobRef(member)) return;
  if (key === 'input') keepHead(data, member);
  lazyMember(
    data,
    key,
    () =>
      (upgradeEvent(parseJson(line) as unknown as UnknownEvent).data as Record<string, Json>)[key] as Json,
  );
}
