/**
 * JSON-RPC 2.0 messages as they lie on the wire, and the texts we write.
 *
 * Promise: an envelope is written around JSON that was serialised before it, so a value that cannot be JSON is
 * found out before anything is sent.
 */
import type { WireError } from './errors.ts';
import { isRawNumber, mayHoldLongNumbers, parseExact, type RawNumber } from './json.ts';

/** An id; a number that a double cannot hold is kept as text. */
export type RequestId = string | number | null | RawNumber;

/** A parsed JSON object that may be a message; nothing about it is known yet. */
export interface Wire {
  readonly jsonrpc?: unknown;
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** Whether a parsed id is one that the specification allows (section 4). */
export function isId(id: unknown): id is string | number | null {
  return typeof id === 'string' || id === null || (typeof id === 'number' && Number.isFinite(id));
}

interface ExactReading {
  readonly text: string;
  done: boolean;
  message: unknown;
}
let reading: ExactReading | undefined;

/**
 * A message with its numbers exactly as they were written; undefined if a double holds them all. Within {@link readOnce} it is
 * read once, however many elements of a batch ask.
 */
export function exactMessage(text: string): unknown {
  const known = reading?.text === text ? reading : undefined;
  if (known?.done) return known.message;
  const message = mayHoldLongNumbers(text) ? parseExact(text) : undefined;
  if (known) {
    known.message = message;
    known.done = true;
  }
  return message;
}

/** Works on the elements of a batch. */
export function readOnce(text: string, work: () => void): void {
  const before = reading;
  reading = { text, done: false, message: undefined };
  try {
    work();
  } finally {
    reading = before;
  }
}

/** A parsed numeric id as it was written, if a double may have changed it. `pick` finds it in the exact message. */
export function exactId<T>(id: T, text: string, pick: (message: unknown) => unknown): T | RawNumber {
  if (typeof id !== 'number' || Number.isSafeInteger(id)) return id;
  const message = exactMessage(text);
  const exact = message === undefined ? undefined : pick(message);
  return isRawNumber(exact) ? exact : id;
}

function idText(id: RequestId): string {
  if (typeof id === 'number') return `${id}`;
  if (typeof id === 'string' && isPlain(id)) return `"${id}"`;
  return id === null ? 'null' : JSON.stringify(id);
}

/** Whether a short string is its own JSON between quotes; much cheaper than asking the serialiser. */
function isPlain(text: string): boolean {
  if (text.length > 64) return false;
  for (let at = 0; at < text.length; at++) {
    const c = text.charCodeAt(at);
    if (c < 32 || c > 126 || c === 34 || c === 92) return false;
  }
  return true;
}

export function resultText(id: RequestId, json: string): string {
  if (typeof id === 'string' && isPlain(id)) return `{"jsonrpc":"2.0","id":"${id}","result":${json}}`;
  return `{"jsonrpc":"2.0","id":${idText(id)},"result":${json}}`;
}

export function errorText(id: RequestId, error: WireError): string {
  return `{"jsonrpc":"2.0","id":${idText(id)},"error":${JSON.stringify(error)}}`;
}

export function notificationText(method: string, paramsJson: string | undefined): string {
  const name = JSON.stringify(method);
  return paramsJson === undefined
    ? `{"jsonrpc":"2.0","method":${name}}`
    : `{"jsonrpc":"2.0","method":${name},"params":${paramsJson}}`;
}

/** A batch of messages. Joined at once: a string that grows piece by piece has to be put together anew before it is written. */
export function arrayText(texts: readonly string[]): string {
  return `[${texts.join(',')}]`;
}
