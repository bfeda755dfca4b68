/**
 * Keeps the beginning and the end of a stream.
 *
 * Promise: memory stays within the limit whatever is written; what was left out is stated in the text itself;
 * no character is cut in half.
 */
export interface Output {
  readonly text: string;
  readonly bytes: number;
  readonly truncated: boolean;
  /** Some bytes were no UTF-8 and stand as U+FFFD. */
  readonly notUtf8: boolean;
}

export class HeadAndTail {
  readonly #headLimit: number;
  readonly #tailLimit: number;
  #head = Buffer.alloc(0);
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #total = 0;

  /** @param limit most bytes that are kept; half of them for the beginning */
  constructor(limit: number) {
    this.#headLimit = Math.ceil(limit / 2);
    this.#tailLimit = limit - this.#headLimit;
  }

  add(piece: Buffer): void {
    this.#total += piece.length;
    const room = this.#headLimit - this.#head.length;
    if (room > 0) this.#head = Buffer.concat([this.#head, piece.subarray(0, room)]);
    const rest = piece.subarray(Math.min(Math.max(room, 0), piece.length));
    if (rest.length === 0) return;
    this.#tail.push(Buffer.from(rest.subarray(-this.#tailLimit)));
    this.#tailBytes += Math.min(rest.length, this.#tailLimit);
    let first = this.#tail[0];
    while (first !== undefined && this.#tailBytes - first.length >= this.#tailLimit) {
      this.#tail.shift();
      this.#tailBytes -= first.length;
      first = this.#tail[0];
    }
  }

  end(): Output {
    const tail = Buffer.concat(this.#tail).subarray(-this.#tailLimit);
    const truncated = this.#total > this.#head.length + tail.length;
    if (!truncated) return this.#output([Buffer.concat([this.#head, tail])], '');
    const head = withoutCutEnd(this.#head);
    const rest = withoutCutStart(tail);
    const left = this.#total - head.length - rest.length;
    return this.#output([head, rest], `\n[… ${left} bytes left out …]\n`);
  }

  #output(parts: readonly Buffer[], gap: string): Output {
    const texts = parts.map((part) => part.toString('utf8'));
    const notUtf8 = parts.some((part, i) => !Buffer.from(texts[i] ?? '', 'utf8').equals(part));
    return { text: texts.join(gap), bytes: this.#total, truncated: gap !== '', notUtf8 };
  }
}

function withoutCutEnd(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) break;
    if (byte < 0xc0) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return needed > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}

function withoutCutStart(bytes: Buffer): Buffer {
  let start = 0;
  while (start < Math.min(3, bytes.length) && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
  return bytes.subarray(start);
}
