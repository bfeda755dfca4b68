/**
 * What every framing's decoder promises, and what they have in common.
 *
 * Promise: incremental (any chopping of the stream gives the same messages), time and memory linear in the
 * message, at most the limit and one chunk held, and back on its feet after damage wherever the framing allows.
 */
import type { Damage } from '../transport.ts';

export interface Decoder {
  /** Takes the next bytes; the decoder may keep the buffer. */
  push(chunk: Buffer): void;
  /** No more bytes will come. */
  end(): void;
  /** The next message, damage, or undefined if more bytes are needed. */
  next(): string | Damage | undefined;
}

/** Asked only about texts that look damaged; importing `node:buffer` would load its `File` and `Blob` at every start. */
export function isUtf8(bytes: Uint8Array): boolean {
  return process.getBuiltinModule('node:buffer').isUtf8(bytes);
}

export const invalidUtf8: Damage = { kind: 'encoding', message: 'the message is not valid UTF-8' };

export function tooLong(limit: number): Damage {
  return { kind: 'size', message: `the message is longer than ${limit} bytes` };
}

const small = 4096;
const scratchSize = 16 * 1024;

/**
 * The beginning of a message whose end has not come yet.
 *
 * Promise: every byte is copied at most twice, and the number of buffers kept is bounded by the bytes kept,
 * also when the stream arrives one byte at a time.
 */
export class HeldBytes {
  #parts: Buffer[] = [];
  #scratch: Buffer | undefined;
  #used = 0;
  #sealed = 0;

  get size(): number {
    return this.#sealed + this.#used;
  }

  add(chunk: Buffer): void {
    if (chunk.length >= small) {
      this.#seal();
      this.#parts.push(chunk);
      this.#sealed += chunk.length;
      return;
    }
    this.#scratch ??= Buffer.allocUnsafeSlow(scratchSize);
    if (this.#used + chunk.length > scratchSize) this.#seal();
    chunk.copy(this.#scratch, this.#used);
    this.#used += chunk.length;
  }

  /** Everything held, then `last`, as one buffer; nothing is held afterwards. */
  take(last: Buffer): Buffer {
    const scratch = this.#scratch?.subarray(0, this.#used) ?? last.subarray(0, 0);
    const whole = Buffer.concat([...this.#parts, scratch, last], this.size + last.length);
    this.drop();
    return whole;
  }

  drop(): void {
    this.#parts = [];
    this.#used = 0;
    this.#sealed = 0;
  }

  #seal(): void {
    if (this.#used === 0 || !this.#scratch) return;
    this.#parts.push(Buffer.from(this.#scratch.subarray(0, this.#used)));
    this.#sealed += this.#used;
    this.#used = 0;
  }
}
