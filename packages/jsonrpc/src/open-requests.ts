/**
 * Requests that wait or run, by id.
 *
 * Promise: ids match by value and JSON type: `1` is not `"1"`. Any number of requests may carry the id null.
 */
import type { Request } from './context.ts';
import type { RequestId } from './message.ts';

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
