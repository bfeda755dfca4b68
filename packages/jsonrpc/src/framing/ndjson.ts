/**
 * Newline-delimited JSON: byte 0x0A alone ends a message.
 *
 * Promise: whole lines are decoded together, once; no byte is looked at twice in search of a newline. A line
 * over the limit is reported once and skipped to its end; invalid UTF-8 costs only its own line.
 */
import { isTooLong } from '../json.ts';
import type { Damage } from '../transport.ts';
import { type Decoder, HeldBytes, invalidUtf8, isUtf8, tooLong } from './decoder.ts';

const newline = 10;

export function frameLine(text: string): string {
  return `${text}\n`;
}

export class LineDecoder implements Decoder {
  readonly #limit: number;
  /** Decoded whole lines, each with its newline; those before `#at` were handed out. */
  #lines = '';
  #at = 0;
  /** Lines of a chunk with invalid UTF-8, and reports of skipped ones; they come after `#lines`. */
  #odd: (string | Damage)[] = [];
  #held = new HeldBytes();
  #skipping = false;
  #unread: Buffer[] = [];

  constructor(maxMessageBytes: number) {
    this.#limit = maxMessageBytes;
  }

  push(chunk: Buffer): void {
    if (this.#at === this.#lines.length && this.#odd.length === 0 && this.#unread.length === 0) {
      this.#read(chunk);
    } else this.#unread.push(chunk);
  }

  /** A last line without a newline counts. */
  end(): void {
    this.#unread.push(Buffer.of(newline));
  }

  next(): string | Damage | undefined {
    for (;;) {
      while (this.#at < this.#lines.length) {
        const from = this.#at;
        const to = this.#lines.indexOf('\n', from);
        this.#at = to + 1;
        // The newline is white space to JSON.parse: a chunk of one line needs no second string.
        const whole = from === 0 && to === this.#lines.length - 1;
        if (this.#lines.charCodeAt(from) <= 32 && isBlank(this.#lines.slice(from, to))) continue;
        const line = whole ? this.#lines : this.#lines.slice(from, to);
        return isTooLong(line, this.#limit) && isTooLong(this.#lines.slice(from, to), this.#limit)
          ? tooLong(this.#limit)
          : line;
      }
      // An idle connection must not keep the last large message alive.
      this.#lines = '';
      this.#at = 0;
      const odd = this.#odd.shift();
      if (odd !== undefined) return odd;
      const chunk = this.#unread.shift();
      if (chunk === undefined) return undefined;
      this.#read(chunk);
    }
  }

  /** Only called when everything decoded before has been handed out. */
  #read(chunk: Buffer): void {
    const last = chunk[chunk.length - 1] === newline ? chunk.length - 1 : chunk.lastIndexOf(newline);
    if (last < 0) {
      this.#hold(chunk);
      return;
    }
    let start = 0;
    if (this.#skipping) {
      this.#skipping = false;
      start = chunk.indexOf(newline) + 1;
    }
    if (this.#held.size > 0) {
      // Only the line that has begun before is put together; copying all that follows would cost as much as decoding it.
      const end = chunk.indexOf(newline) + 1;
      if (end < chunk.length) this.#unread.unshift(chunk.subarray(end));
      this.#decode(this.#held.take(chunk.subarray(0, end)));
      return;
    }
    this.#decode(start === 0 && last === chunk.length - 1 ? chunk : chunk.subarray(start, last + 1));
    if (last + 1 < chunk.length) this.#hold(chunk.subarray(last + 1));
  }

  #decode(bytes: Buffer): void {
    const text = bytes.toString('utf8');
    this.#lines = text;
    this.#at = 0;
    if (text.indexOf('\ufffd') < 0 || isUtf8(bytes)) return;
    this.#at = text.length;
    for (let from = 0; from < bytes.length; ) {
      const to = bytes.indexOf(newline, from);
      const line = bytes.subarray(from, to);
      if (line.length > this.#limit) this.#odd.push(tooLong(this.#limit));
      else if (!isUtf8(line)) this.#odd.push(invalidUtf8);
      else if (!isBlank(line.toString('latin1'))) this.#odd.push(line.toString('utf8'));
      from = to + 1;
    }
  }

  /** Keeps the beginning of a line; past the limit it is reported, and the rest of the line skipped. */
  #hold(part: Buffer): void {
    if (this.#skipping) return;
    if (this.#held.size + part.length <= this.#limit) {
      this.#held.add(part);
      return;
    }
    this.#held.drop();
    this.#skipping = true;
    this.#odd.push(tooLong(this.#limit));
  }
}

function isBlank(line: string): boolean {
  return /^[ \t\r]*$/.test(line);
}
