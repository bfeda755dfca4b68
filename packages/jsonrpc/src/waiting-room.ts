/**
 * Requests that wait for their turn, first come, first served.
 *
 * Promise: constant time in and out; it knows when reading on would only make the room fuller, and when it is
 * so full that newcomers must be refused.
 */
import type { Request } from './context.ts';

interface Guest<E> {
  readonly entry: E;
  readonly request: Request;
}

/** What a waiting request costs beside its own text. */
const overhead = 256;
const crowdedBytes = 1 << 20;

export class WaitingRoom<E> {
  readonly #comfortable: number;
  readonly #maxBytes: number;
  #guests: (Guest<E> | undefined)[] = [];
  #head = 0;
  #bytes = 0;

  constructor(comfortable: number, maxBytes: number) {
    this.#comfortable = comfortable;
    this.#maxBytes = maxBytes;
  }

  get empty(): boolean {
    return this.#head === this.#guests.length;
  }

  get crowded(): boolean {
    return this.#guests.length - this.#head >= this.#comfortable || this.#bytes >= crowdedBytes;
  }

  get overfull(): boolean {
    return this.#bytes >= this.#maxBytes;
  }

  enter(guest: Guest<E>, bytes: number): void {
    guest.request.weight = bytes + overhead;
    this.#bytes += guest.request.weight;
    this.#guests.push(guest);
  }

  /** The next one that nobody has cancelled meanwhile. */
  leave(): Guest<E> | undefined {
    while (this.#head < this.#guests.length) {
      const guest = this.#guests[this.#head];
      this.#guests[this.#head++] = undefined;
      if (!guest) continue;
      this.#bytes -= guest.request.weight;
      if (this.#head === this.#guests.length) this.clear();
      else if (this.#head > 1024 && this.#head * 2 > this.#guests.length) {
        this.#guests = this.#guests.slice(this.#head);
        this.#head = 0;
      }
      if (!guest.request.done) return guest;
    }
    return undefined;
  }

  clear(): void {
    this.#guests = [];
    this.#head = 0;
    this.#bytes = 0;
  }
}
