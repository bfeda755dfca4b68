/**
 * The requests of the other side that are not answered yet: all of them by id, and the queue of those that wait.
 */
import type { Request } from './context.ts';
import type { RequestId } from './message.ts';

/**
 * Requests that wait or run, by id.
 *
 * Promise: ids match by value and JSON type: `1` is not `"1"`. Any number of requests may carry the id null.
 */
export class OpenRequests {
  readonly #plain = new Map<string | number, Request>();
  /** Ids that only their text tells apart. */
  readonly #exact = new Map<string, Request>();
  readonly #nameless = new Set<Request>();

  get size(): number {
    return this.#plain.size + this.#exact.size + this.#nameless.size;
  }

  get(id: RequestId): Request | undefined {
    if (id === null) return undefined;
    return typeof id === 'object' ? this.#exact.get(id.rawJSON) : this.#plain.get(id);
  }

  add(request: Request): void {
    const { id } = request;
    if (id === null || id === undefined) this.#nameless.add(request);
    else if (typeof id === 'object') this.#exact.set(id.rawJSON, request);
    else this.#plain.set(id, request);
  }

  remove(request: Request): void {
    const { id } = request;
    if (id === null || id === undefined) this.#nameless.delete(request);
    else if (typeof id === 'object') this.#exact.delete(id.rawJSON);
    else this.#plain.delete(id);
  }

  [Symbol.iterator](): Iterator<Request> {
    return [...this.#plain.values(), ...this.#exact.values(), ...this.#nameless].values();
  }
}

interface Guest<E> {
  readonly entry: E;
  readonly request: Request;
}

/** What a waiting request costs beside its own text. */
const overhead = 256;
const crowdedBytes = 1 << 20;

/**
 * Requests that wait for their turn, first come, first served.
 *
 * Promise: constant time in and out; it knows when reading on would only make the room fuller, and when it is
 * so full that newcomers must be refused.
 */
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
