/**
 * Gathers streamed pieces, so that a crash in mid-stream keeps what had arrived without an event per token.
 */
import type { Json, ModelChunk } from '@chassis/types';

interface Gathered {
  text?: string;
  reasoning?: string;
  tool_calls?: Json[];
}

const intervalMs = 200;

export class ChunkBuffer {
  readonly #write: (data: Gathered) => void;
  #gathered: Gathered = {};
  #timer: NodeJS.Timeout | undefined;

  constructor(write: (data: Gathered) => void) {
    this.#write = write;
  }

  add(chunk: ModelChunk): void {
    if (chunk.text !== undefined) this.#gathered.text = (this.#gathered.text ?? '') + chunk.text;
    if (chunk.reasoning !== undefined)
      this.#gathered.reasoning = (this.#gathered.reasoning ?? '') + chunk.reasoning;
    if (chunk.tool_call !== undefined) {
      this.#gathered.tool_calls ??= [];
      this.#gathered.tool_calls.push({ ...chunk.tool_call });
    }
    this.#timer ??= setTimeout(() => this.#flushQuietly(), intervalMs);
  }

  /** A journal that failed says so at the next step; a timer has nobody to tell. */
  #flushQuietly(): void {
    try {
      this.flush();
    } catch {
      this.drop();
    }
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (Object.keys(this.#gathered).length === 0) return;
    const data = this.#gathered;
    this.#gathered = {};
    this.#write(data);
  }

  /** The whole message is about to be logged: what is still gathered needs no event of its own. */
  drop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#gathered = {};
  }
}
