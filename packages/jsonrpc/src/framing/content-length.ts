/**
 * `Content-Length` headers, as in the Language Server Protocol's base protocol.
 *
 * Promise: a body is decoded once, straight from its chunk when it lies in one. A header block that cannot be
 * trusted is reported once as `header` damage and ends the decoder: nobody can know where the next one begins.
 */
import type { Damage } from '../transport.ts';
import { type Decoder, HeldBytes, invalidUtf8, isUtf8 } from './decoder.ts';

const maxHeaderBytes = 8192;
const usual = Buffer.from('Content-Length: ');
const cr = 13;
const lf = 10;

export function frameWithHeader(text: string): string {
  return `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}

export class ContentLengthDecoder implements Decoder {
  readonly #limit: number;
  #chunk: Buffer = Buffer.alloc(0);
  #at = 0;
  #unread: Buffer[] = [];
  /** Bytes of the body under way; −1 while a header is read. */
  #length = -1;
  /** Header lines seen so far, and the beginning of the next one. */
  #lines: string[] = [];
  #line = '';
  #headerBytes = 0;
  #body = new HeldBytes();
  #ended = false;
  #broken = false;

  constructor(maxMessageBytes: number) {
    this.#limit = maxMessageBytes;
  }

  push(chunk: Buffer): void {
    if (this.#at === this.#chunk.length && this.#unread.length === 0) {
      this.#chunk = chunk;
      this.#at = 0;
    } else this.#unread.push(chunk);
  }

  end(): void {
    this.#ended = true;
  }

  next(): string | Damage | undefined {
    while (!this.#broken) {
      if (this.#length !== 0 && this.#at === this.#chunk.length) {
        const chunk = this.#unread.shift();
        if (chunk === undefined) return this.#ended ? this.#cut() : undefined;
        this.#chunk = chunk;
        this.#at = 0;
      }
      if (this.#length < 0 && !this.#usualHeader()) {
        const problem = this.#header();
        if (problem !== undefined) return this.#giveUp(problem);
      }
      if (this.#length > this.#limit) {
        return this.#giveUp(`Content-Length ${this.#length} is over the limit of ${this.#limit} bytes`);
      }
      if (this.#length >= 0) {
        const message = this.#take();
        if (message !== undefined) return message;
      }
    }
    return undefined;
  }

  /** The one-line header that almost every peer writes, when it lies whole in the chunk. */
  #usualHeader(): boolean {
    if (this.#headerBytes !== 0) return false;
    const chunk = this.#chunk;
    let at = this.#at;
    for (let i = 0; i < usual.length; i++) if (chunk[at + i] !== usual[i]) return false;
    at += usual.length;
    let length = 0;
    const digits = at;
    for (let c = chunk[at]; c !== undefined && c >= 48 && c <= 57; c = chunk[++at])
      length = length * 10 + c - 48;
    if (at === digits || at - digits > 15) return false;
    if (chunk[at] !== cr || chunk[at + 1] !== lf || chunk[at + 2] !== cr || chunk[at + 3] !== lf)
      return false;
    this.#at = at + 4;
    this.#length = length;
    return true;
  }

  /** Reads header lines up to the blank one. Returns what is wrong, if anything. */
  #header(): string | undefined {
    const chunk = this.#chunk;
    while (this.#at < chunk.length) {
      const first = this.#headerBytes === 0 && (chunk[this.#at] === cr || chunk[this.#at] === lf);
      if (first) {
        this.#at++; // stray line ends between two frames
        continue;
      }
      const found = chunk.indexOf(lf, this.#at);
      const to = found < 0 ? chunk.length : found;
      this.#headerBytes += to - this.#at + (found < 0 ? 0 : 1);
      if (this.#headerBytes > maxHeaderBytes) return `a header block is longer than ${maxHeaderBytes} bytes`;
      this.#line += chunk.toString('latin1', this.#at, to);
      this.#at = Math.min(to + 1, chunk.length);
      if (found < 0) return undefined;
      const line = this.#line.endsWith('\r') ? this.#line.slice(0, -1) : this.#line;
      this.#line = '';
      if (line !== '') this.#lines.push(line);
      else {
        const header = parseHeader(this.#lines);
        if (typeof header === 'string') return header;
        this.#length = header.length;
        this.#lines = [];
        this.#headerBytes = 0;
        return undefined;
      }
    }
    return undefined;
  }

  /** The body, once it is complete. */
  #take(): string | Damage | undefined {
    const missing = this.#length - this.#body.size;
    const here = this.#chunk.length - this.#at;
    if (here < missing) {
      this.#body.add(this.#at === 0 ? this.#chunk : this.#chunk.subarray(this.#at));
      this.#at = this.#chunk.length;
      return undefined;
    }
    const from = this.#at;
    this.#at += missing;
    this.#length = -1;
    let bytes = this.#chunk;
    let text: string;
    if (this.#body.size === 0) text = bytes.toString('utf8', from, this.#at);
    else {
      bytes = this.#body.take(bytes.subarray(from, this.#at));
      text = bytes.toString('utf8');
    }
    if (text.indexOf('\ufffd') < 0) return text;
    return isUtf8(bytes === this.#chunk ? bytes.subarray(from, this.#at) : bytes) ? text : invalidUtf8;
  }

  #cut(): Damage | undefined {
    const open = this.#length >= 0 || this.#headerBytes > 0;
    this.#broken = true;
    return open ? { kind: 'cut', message: 'the input ended in the middle of a message' } : undefined;
  }

  #giveUp(message: string): Damage {
    this.#broken = true;
    this.#body.drop();
    this.#unread = [];
    return { kind: 'header', message };
  }
}

/**
 * A header block: name, colon, value; one a line; names in any case.
 *
 * @param lines the block's lines without their line ends and without the blank one
 * @returns either one length, or one sentence that says why the stream cannot be trusted any more
 */
function parseHeader(lines: readonly string[]): { length: number } | string {
  let length: number | undefined;
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon < 1) return `a header line has no name and value: ${quoted(line)}`;
    const name = line.slice(0, colon).trim().toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (name === 'content-length') {
      if (!/^\d{1,15}$/.test(value)) return `Content-Length is no number of bytes: ${quoted(value)}`;
      if (length !== undefined && length !== Number(value))
        return 'two Content-Length headers contradict each other';
      length = Number(value);
    }
    if (name === 'content-type') {
      const charset = /charset\s*=\s*"?([^";\s]+)/i.exec(value)?.[1];
      if (charset !== undefined && !/^utf-?8$/i.test(charset))
        return `charset ${quoted(charset)} is not utf-8`;
    }
  }
  return length === undefined ? 'a header block has no Content-Length' : { length };
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}
