/**
 * What stands before an event's `data`, read from the bytes of its line without parsing the line.
 *
 * Promise: what is read is what a parser of the whole line would find there; a line that does not start as ours do has none.
 */
import type { EventHead } from './event.ts';

/** The members before `data`. */
export interface LineHead {
  readonly v: number;
  readonly session: string;
  readonly seq: number;
  readonly time: number;
  readonly type: string;
  readonly step?: number;
}

/** The head of a whole line, as readers give it out. */
export function eventHead(line: Buffer): EventHead | undefined {
  const head = lineHead(line);
  if (head === undefined) return undefined;
  const { seq, time, type, step } = head;
  return { seq, time, type, step, bytes: line.length };
}

/** A head that was read from a line. */
export interface ReadHead extends LineHead {
  /** Where the value of `data` begins, in bytes. */
  readonly dataAt: number;
}

const V = Buffer.from('{"v":');
const SESSION = Buffer.from(',"session":"');
const SEQ = Buffer.from('","seq":');
const TIME = Buffer.from(',"time":');
const TYPE = Buffer.from(',"type":"');
const STEP = Buffer.from('","step":');
const DATA = Buffer.from('","data":');
const DATA_AFTER_STEP = Buffer.from(',"data":');

/** Names of the types of nearly every line, given out as the same strings; no two are of one length. */
const TYPES: { readonly name: string; readonly bytes: Buffer }[] = [];
for (const name of ['step.started', 'step.dispatched', 'step.finished', 'step.chunk', 'snapshot.taken'])
  TYPES[name.length] = { name, bytes: Buffer.from(name) };

/** Longest session id and longest name of an event type. */
const LONGEST_NAME = 128;

/** What the line before began with, up to its number: lines of one log are read one after the other and begin alike. */
let latest = { bytes: Buffer.alloc(0), v: 0, session: '' };

/** A line's head, or undefined when the line does not start as ours do. */
export function lineHead(line: Buffer): ReadHead | undefined {
  let seqAt = latest.bytes.length === 0 ? NOWHERE : after(line, 0, latest.bytes);
  if (seqAt === NOWHERE) seqAt = beginning(line);
  const seqEnd = digitsEnd(line, seqAt, 15);
  const timeAt = after(line, seqEnd, TIME);
  const negative = line[timeAt] === MINUS;
  const timeEnd = digitsEnd(line, negative ? timeAt + 1 : timeAt, 16);
  const typeAt = after(line, timeEnd, TYPE);
  const typeEnd = nameEnd(line, typeAt);
  if (typeEnd === NOWHERE) return undefined;
  const { v, session } = latest;
  const seq = numberIn(line, seqAt, seqEnd);
  const time = negative ? -numberIn(line, timeAt + 1, timeEnd) : numberIn(line, timeAt, timeEnd);
  const type = typeIn(line, typeAt, typeEnd);
  const plain = after(line, typeEnd, DATA);
  if (plain !== NOWHERE) return { v, session, seq, time, type, dataAt: plain };
  const stepAt = after(line, typeEnd, STEP);
  const stepEnd = digitsEnd(line, stepAt, 15);
  const dataAt = after(line, stepEnd, DATA_AFTER_STEP);
  if (dataAt === NOWHERE) return undefined;
  return { v, session, seq, time, type, step: numberIn(line, stepAt, stepEnd), dataAt };
}

/** Reads version and session, and remembers them; the place behind them. */
function beginning(line: Buffer): number {
  const vAt = after(line, 0, V);
  const vEnd = digitsEnd(line, vAt, 9);
  const sessionAt = after(line, vEnd, SESSION);
  const sessionEnd = nameEnd(line, sessionAt);
  const seqAt = after(line, sessionEnd, SEQ);
  if (seqAt === NOWHERE) return NOWHERE;
  latest = {
    bytes: Buffer.from(line.subarray(0, seqAt)),
    v: numberIn(line, vAt, vEnd),
    session: line.toString('latin1', sessionAt, sessionEnd),
  };
  return seqAt;
}

/** A place that is not there; so is every place after it. */
const NOWHERE = -1;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;

/** The place behind an expected text. */
function after(line: Buffer, at: number, text: Buffer): number {
  if (at === NOWHERE) return NOWHERE;
  for (let i = 0; i < text.length; i++) if (line[at + i] !== text[i]) return NOWHERE;
  return at + text.length;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 48 && byte <= 57;
}

/** The end of 1 to `most` digits. */
function digitsEnd(line: Buffer, at: number, most: number): number {
  if (at === NOWHERE || !isDigit(line[at])) return NOWHERE;
  let end = at + 1;
  while (isDigit(line[end])) end++;
  return end - at > most ? NOWHERE : end;
}

/** The end of a name without escapes. */
function nameEnd(line: Buffer, at: number): number {
  if (at === NOWHERE) return NOWHERE;
  const limit = Math.min(line.length, at + LONGEST_NAME + 1);
  for (let end = at; end < limit; end++) {
    if (line[end] === QUOTE) return end === at ? NOWHERE : end;
    if (line[end] === BACKSLASH) return NOWHERE;
  }
  return NOWHERE;
}

function numberIn(line: Buffer, from: number, to: number): number {
  let value = 0;
  for (let at = from; at < to; at++) value = value * 10 + ((line[at] as number) - 48);
  return value;
}

function typeIn(line: Buffer, from: number, to: number): string {
  const known = TYPES[to - from];
  return known !== undefined && after(line, from, known.bytes) !== NOWHERE
    ? known.name
    : line.toString('latin1', from, to);
}
