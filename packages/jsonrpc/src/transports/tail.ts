/**
 * The end of a long text.
 *
 * Promise: at most twice the wanted length is kept, and adding is linear in what is added.
 */
export class Tail {
  readonly #limit: number;
  #text = '';

  /** @param limit UTF-16 units kept */
  constructor(limit: number) {
    this.#limit = limit;
  }

  add(text: string): void {
    this.#text += text;
    if (this.#text.length > 2 * this.#limit) this.#text = this.text;
  }

  get text(): string {
    return this.#limit > 0 ? this.#text.slice(-this.#limit) : '';
  }

  /** The last line that is not blank. */
  get lastLine(): string {
    return this.text.trimEnd().split('\n').at(-1)?.trim() ?? '';
  }
}
