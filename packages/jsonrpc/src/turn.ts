/**
 * A budget for one turn of the event loop.
 *
 * Promise: a connection that never runs dry still lets timers and other connections in, after 256 messages or
 * about 2 ms of work, whichever comes first; a batch is interrupted only after three times as much. Looking at the
 * clock is rare while messages are cheap.
 */
const messages = 256;
const milliseconds = 2;
const batchMilliseconds = 6;

export class Turn {
  /** Nothing more may be started until `renew` was called. */
  exhausted = false;
  readonly #renewed: () => void;
  #left = messages;
  /** Infinite until the first look at the clock, which begins the turn. */
  #until = Number.POSITIVE_INFINITY;
  #batchUntil = 0;
  #checkIn = 1;
  #checkEvery = 1;

  /** @param renewed called when the event loop has had its turn */
  constructor(renewed: () => void) {
    this.#renewed = renewed;
  }

  /** Counts one message that was worked on. */
  step(): void {
    if (--this.#left <= 0) this.#exhaust();
    else if (--this.#checkIn <= 0) this.#check(this.#until);
  }

  /** A batch is about to be worked on. */
  beginBatch(): void {
    this.#batchUntil = performance.now() + batchMilliseconds;
  }

  /** Counts one element of a batch; to put the rest of a batch aside costs more than to finish a cheap one. */
  stepInBatch(): void {
    this.#left--;
    if (--this.#checkIn <= 0) this.#check(this.#batchUntil);
  }

  #check(until: number): void {
    const now = performance.now();
    if (this.#until === Number.POSITIVE_INFINITY) this.#until = now + milliseconds;
    const late = now >= until;
    // Expensive handlers make the clock worth a look after every one of them.
    this.#checkEvery = late ? 1 : Math.min(16, this.#checkEvery * 2);
    this.#checkIn = this.#checkEvery;
    if (late) this.#exhaust();
  }

  #exhaust(): void {
    if (this.exhausted) return;
    this.exhausted = true;
    setImmediate(() => {
      this.exhausted = false;
      this.#left = messages;
      this.#until = Number.POSITIVE_INFINITY;
      this.#checkIn = 1;
      this.#renewed();
    });
  }
}
