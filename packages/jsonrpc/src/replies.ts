/**
 * Answers that are not sent on their own: those of a batch, and those of one exchange.
 */
import type { Destination } from './context.ts';

/**
 * The answers to one incoming batch.
 *
 * Promise: they leave together as one array, in the order in which they became ready; no answers, no array.
 */
export class BatchReply implements Destination {
  readonly #to: Destination;
  #body = '';
  /** Answers still to come, and one more until the whole batch has been read. */
  #missing = 1;

  constructor(to: Destination) {
    this.#to = to;
  }

  get gathered(): number {
    return this.#body.length + '[,]'.length;
  }

  expect(): void {
    this.#missing++;
  }

  deliver(text: string, alone: boolean): void {
    this.#body += this.#body === '' ? text : `,${text}`;
    this.#arrived(alone);
  }

  skip(): void {
    this.#arrived(false);
  }

  /** The whole batch has been read. */
  seal(): void {
    this.#arrived(false);
  }

  #arrived(alone: boolean): void {
    if (--this.#missing > 0) return;
    if (this.#body === '') this.#to.skip();
    else this.#to.deliver(`[${this.#body}]`, alone);
  }
}

/** One message in, at most one text out: for transports where an answer belongs to its request (HTTP). */
export class Exchange implements Destination {
  readonly gathered = 0;
  readonly answer: Promise<string | undefined>;
  #settle: (text: string | undefined) => void = () => {};

  constructor() {
    this.answer = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  deliver(text: string): void {
    this.#settle(text);
  }

  skip(): void {
    this.#settle(undefined);
  }
}
