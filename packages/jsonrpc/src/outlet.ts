/**
 * The ways out: of the connection, of the answers to a batch, and of the answer to one exchange.
 */
import type { Destination } from './context.ts';
import type { RpcError } from './errors.ts';
import { isTooLong } from './json.ts';
import { arrayText, type RequestId } from './message.ts';
import type { Transport } from './transport.ts';

type Frame = 'call' | 'notification' | 'response';

interface Waiter {
  resolve(): void;
  reject(error: RpcError): void;
}

/** A promise whose rejection is no fault of a program that does not look at it: nobody has to wait for a notification. */
export function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

const accepted = Promise.resolve();
const remembered = 16;

/**
 * The way out of a connection: one place that knows whether the other side reads.
 *
 * Promise: writers that wait are released in order when the other side reads again, and rejected when the
 * connection is over. A short memory of what was sent explains errors that come back without an id.
 */
export class Outlet implements Destination {
  /** The other side does not read. */
  congested = false;
  readonly #transport: Transport;
  #waiters: Waiter[] = [];
  /** Why nothing leaves any more. */
  over: RpcError | undefined;
  readonly #kinds: Frame[] = new Array(remembered).fill('call');
  readonly #methods: string[] = new Array(remembered).fill('');
  readonly #ids: (RequestId | undefined)[] = new Array(remembered).fill(undefined);
  #sent = 0;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  send(text: string, alone: boolean): void {
    if (!this.over && !this.#transport.send(text, alone)) this.congested = true;
  }

  deliver(text: string, alone: boolean): void {
    this.send(text, alone);
  }

  skip(): void {}

  fits(text: string, limit: number): boolean {
    return !isTooLong(text, limit);
  }

  /** Resolves when the other side reads. */
  drained(): Promise<void> {
    if (this.over) return quiet(Promise.reject(this.over));
    if (!this.congested) return accepted;
    return quiet(new Promise((resolve, reject) => this.#waiters.push({ resolve, reject })));
  }

  release(): void {
    this.congested = false;
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) waiter.resolve();
  }

  close(error: RpcError): void {
    this.over ??= error;
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) waiter.reject(error);
  }

  remember(kind: Frame, method: string, id: RequestId | undefined): void {
    const at = this.#sent++ % remembered;
    this.#kinds[at] = kind;
    this.#methods[at] = method;
    this.#ids[at] = id;
  }

  /** The last frames sent, oldest first: kinds, methods and ids, no contents. */
  recent(): string[] {
    const count = Math.min(this.#sent, remembered);
    return Array.from({ length: count }, (_, i) => {
      const at = (this.#sent - count + i) % remembered;
      const id = this.#ids[at];
      return `${this.#kinds[at]} ${this.#methods[at]}${id === undefined ? '' : ` ${JSON.stringify(id)}`}`;
    });
  }
}

/**
 * The answers to one incoming batch.
 *
 * Promise: they leave together as one array, in the order in which they became ready; no answers, no array.
 */
export class BatchReply implements Destination {
  readonly #to: Destination;
  readonly #texts: string[] = [];
  charged = false;
  #chars = 0;
  /** Bytes of the first texts, as far as somebody had to know. */
  #counted = 0;
  #bytes = 0;
  /** Answers still to come, and one more until the whole batch has been read. */
  #missing = 1;

  constructor(to: Destination) {
    this.#to = to;
  }

  /** Bytes are counted only when the characters alone do not tell: counting makes each text be put together by itself. */
  fits(text: string, limit: number): boolean {
    const separators = this.#texts.length + '[]'.length;
    if ((this.#chars + text.length) * 3 + separators <= limit) return true;
    for (; this.#counted < this.#texts.length; this.#counted++)
      this.#bytes += Buffer.byteLength(this.#texts[this.#counted] ?? '');
    return !isTooLong(text, limit - this.#bytes - separators);
  }

  expect(): void {
    this.#missing++;
  }

  deliver(text: string, alone: boolean): void {
    this.#texts.push(text);
    this.#chars += text.length;
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
    if (this.#texts.length === 0) this.#to.skip();
    else this.#to.deliver(arrayText(this.#texts), alone);
  }
}

/** One message in, at most one text out: for transports where an answer belongs to its request (HTTP). */
export class Exchange implements Destination {
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

  fits(text: string, limit: number): boolean {
    return !isTooLong(text, limit);
  }

  skip(): void {
    this.#settle(undefined);
  }
}
