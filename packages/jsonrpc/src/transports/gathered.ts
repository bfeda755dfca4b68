/**
 * Gathering of messages that are sent in one turn of the event loop.
 *
 * Promise: a message that is alone leaves at once; several leave together, before anything else is read, in the
 * order in which they were sent; what is gathered stays small.
 */
const maxGathered = 64 * 1024;

export class Gathered {
  readonly #write: (text: string) => void;
  #text = '';
  #scheduled = false;
  /** Nothing leaves while a chunk is being worked on: its answers leave together. */
  #holding = false;
  readonly #flush = (): void => {
    this.#scheduled = false;
    this.flush();
  };

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  get size(): number {
    return this.#text.length;
  }

  add(text: string, alone: boolean): void {
    this.#text = this.#text === '' ? text : this.#text + text;
    if (this.#text.length >= maxGathered) this.flush();
    else if (!this.#holding) {
      if (alone && !this.#scheduled) this.flush();
      else if (!this.#scheduled) {
        this.#scheduled = true;
        process.nextTick(this.#flush);
      }
    }
  }

  hold(): void {
    this.#holding = true;
  }

  release(): void {
    this.#holding = false;
    this.flush();
  }

  flush(): void {
    if (this.#text === '') return;
    const text = this.#text;
    this.#text = '';
    this.#write(text);
  }
}
