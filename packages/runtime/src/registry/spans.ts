/**
 * What a hook is doing: spans that were begun and not ended. When a hook does not finish, the deepest of them is to blame.
 *
 * Promise: a span belongs to the one that it was begun in, however many run at once.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

interface Span {
  readonly name: string;
  readonly depth: number;
  readonly parent: Span | undefined;
}

export class Spans {
  readonly #open = new Set<Span>();
  readonly #current = new AsyncLocalStorage<Span>();
  #said: string | undefined;

  /** Does the work within a span of that name. */
  async run<T>(name: string, work: () => T | Promise<T>): Promise<T> {
    const parent = this.#current.getStore();
    const span = { name, parent, depth: (parent?.depth ?? 0) + 1 };
    this.#open.add(span);
    try {
      return await this.#current.run(span, work);
    } finally {
      this.#open.delete(span);
    }
  }

  /** The last word of the plugin itself. */
  say(message: string): void {
    this.#said = message;
  }

  /** The deepest unfinished span with those around it: `on_load > secret TOKEN`. */
  unfinished(): string | undefined {
    let deepest: Span | undefined;
    for (const span of this.#open) if (span.depth >= (deepest?.depth ?? 0)) deepest = span;
    const path: string[] = [];
    for (let span = deepest; span !== undefined; span = span.parent) path.unshift(span.name);
    return path.length === 0 ? undefined : path.join(' > ');
  }

  get said(): string | undefined {
    return this.#said;
  }

  /** Forgets what came before: it is started anew. */
  clear(): void {
    this.#open.clear();
    this.#said = undefined;
  }
}
