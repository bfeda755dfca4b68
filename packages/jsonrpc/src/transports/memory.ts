/**
 * Two transports in one process, each the other's other side.
 *
 * Promise: messages arrive in order and never inside `send`; a side that does not read makes the other wait.
 */
import type { Sink, Transport } from '../transport.ts';

/** Messages and characters under way before writers have to wait. */
const congestion = 1024;
const congestedChars = 1 << 20;

class MemoryTransport implements Transport {
  other: MemoryTransport | undefined;
  #sink: Sink | undefined;
  #inbox: string[] = [];
  #read = 0;
  #chars = 0;
  #held = false;
  #scheduled = false;
  #crowded = false;
  #ended = false;
  #over = false;
  readonly #deliverSoon = (): void => {
    this.#scheduled = false;
    if (!this.#held) this.#deliver();
  };

  start(sink: Sink): void {
    if (this.#sink) throw new Error('a transport serves one peer');
    this.#sink = sink;
    this.#schedule();
  }

  send(text: string): boolean {
    return this.other?.accept(text) ?? true;
  }

  accept(text: string): boolean {
    if (this.#over) return true;
    this.#inbox.push(text);
    this.#chars += text.length;
    this.#schedule();
    if (this.#inbox.length - this.#read >= congestion || this.#chars >= congestedChars) this.#crowded = true;
    return !this.#crowded;
  }

  resume(): void {
    this.#held = false;
    this.#deliver();
  }

  async close(): Promise<void> {
    this.other?.end();
    this.#finish('closed', 'this side closed the connection');
  }

  end(): void {
    this.#ended = true;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled || !this.#sink) return;
    this.#scheduled = true;
    process.nextTick(this.#deliverSoon);
  }

  #deliver(): void {
    const sink = this.#sink;
    if (!sink || this.#over) return;
    while (this.#read < this.#inbox.length && !this.#held) {
      const text = this.#inbox[this.#read++] ?? '';
      this.#chars -= text.length;
      if (!sink.message(text)) this.#held = true;
    }
    if (this.#read < this.#inbox.length) return;
    this.#inbox = [];
    this.#read = 0;
    if (this.#crowded) {
      this.#crowded = false;
      this.other?.drained();
    }
    if (this.#ended) this.#finish('ended', 'the other side ended the connection');
  }

  drained(): void {
    if (!this.#over) this.#sink?.drained();
  }

  #finish(kind: 'closed' | 'ended', message: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#inbox = [];
    this.#sink?.closed({ kind, message });
  }
}

/** A pair of connected transports in memory. */
export function memoryPair(): [Transport, Transport] {
  const [a, b] = [new MemoryTransport(), new MemoryTransport()];
  a.other = b;
  b.other = a;
  return [a, b];
}
