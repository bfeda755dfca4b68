/**
 * Texts that have arrived whole, on their way to a sink that may want no more for a while.
 *
 * Promise: in order, one at a time, and none before the sink is there.
 */
import { invalidUtf8, isUtf8, tooLong } from '../framing/decoder.ts';
import { isTooLong } from '../json.ts';
import type { Damage, Sink } from '../transport.ts';

export class HeldTexts {
  #sink: Sink | undefined;
  #limit = Number.POSITIVE_INFINITY;
  #texts: (string | Uint8Array | Damage)[] = [];
  #held = false;
  #busy = false;
  #size = 0;

  start(sink: Sink, maxMessageBytes: number): void {
    if (this.#sink) throw new Error('a transport serves one peer');
    this.#sink = sink;
    this.#limit = maxMessageBytes;
    this.#deliver();
  }

  /** Whether nothing waits to be delivered. */
  get empty(): boolean {
    return this.#texts.length === 0;
  }

  /** Whether more waits than the longest message may be: a sender who cannot be made to wait must stop. */
  get overfull(): boolean {
    return this.#size > this.#limit;
  }

  /** @returns false if the sink wants no more */
  add(text: string | Uint8Array | Damage): boolean {
    this.#texts.push(text);
    this.#size += sizeOf(text);
    this.#deliver();
    return !this.#held;
  }

  resume(): void {
    this.#held = false;
    this.#deliver();
  }

  /** The other side is gone, and what it has said is all here: it is delivered, whether there is room or not. */
  flush(): void {
    this.#deliver(true);
  }

  #deliver(all = false): void {
    const sink = this.#sink;
    if (!sink || this.#busy || (this.#held && !all)) return;
    this.#busy = true;
    let at = 0;
    try {
      while (at < this.#texts.length && (all || !this.#held)) {
        const text = this.#texts[at++] ?? '';
        this.#size -= sizeOf(text);
        if (!this.#hand(text, sink)) this.#held = true;
      }
    } finally {
      this.#texts = at === this.#texts.length ? [] : this.#texts.slice(at);
      this.#busy = false;
    }
  }

  #hand(text: string | Uint8Array | Damage, sink: Sink): boolean {
    if (typeof text === 'object' && 'kind' in text) return sink.damaged(text);
    if (typeof text === 'string' ? isTooLong(text, this.#limit) : text.length > this.#limit) {
      return sink.damaged(tooLong(this.#limit));
    }
    if (typeof text === 'string') return sink.message(text);
    if (!isUtf8(text)) return sink.damaged(invalidUtf8);
    return sink.message(Buffer.from(text.buffer, text.byteOffset, text.length).toString('utf8'));
  }
}

function sizeOf(text: string | Uint8Array | Damage): number {
  return typeof text === 'object' && 'kind' in text ? 0 : text.length;
}
