/**
 * What every framing's decoder promises.
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

export const invalidUtf8: Damage = { kind: 'encoding', message: 'the message is not valid UTF-8' };

export function tooLong(limit: number): Damage {
  return { kind: 'size', message: `the message is longer than ${limit} bytes` };
}
