/**
 * One HTTP client as the server sees it: its requests, and the event stream on which it can be called.
 *
 * Promise: what is sent while the stream is away for a moment arrives when it is back; what cannot arrive at all is
 * answered at once.
 */
import type { ServerResponse } from 'node:http';
import { ErrorCode } from '../errors.ts';
import type { Sink, Transport } from '../transport.ts';
import { eventOf } from './event-stream.ts';
import { answersFor } from './undeliverable.ts';

const maxQueuedBytes = 1 << 20;
/** Proxies close streams on which nothing moves. */
const heartbeatMs = 15_000;

export class HttpSession implements Transport {
  readonly #lasting: boolean;
  #sink: Sink | undefined;
  #stream: ServerResponse | undefined;
  #queue: string[] = [];
  #queuedBytes = 0;
  #heartbeat: NodeJS.Timeout | undefined;
  #over = false;
  /** Events sent so far, with those that wait for the stream. */
  sent = 0;

  /** @param lasting whether the client may open an event stream */
  constructor(lasting: boolean) {
    this.#lasting = lasting;
  }

  get attached(): boolean {
    return this.#stream !== undefined;
  }

  /** The session has ended: what its requests have not been answered yet, they never will. */
  get over(): boolean {
    return this.#over;
  }

  start(sink: Sink): void {
    this.#sink = sink;
  }

  send(text: string): boolean {
    if (this.#stream) return this.#stream.write(eventOf(text, ++this.sent));
    if (!this.#lasting || this.#queuedBytes + text.length > maxQueuedBytes) {
      this.#refuse(text);
      return true;
    }
    this.#queue.push(eventOf(text, ++this.sent));
    this.#queuedBytes += text.length;
    return true;
  }

  resume(): void {}

  /** The client has opened its event stream; an older one of the same client ends. */
  attach(stream: ServerResponse): void {
    this.#stream?.end();
    this.#stream = stream;
    stream.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    stream.flushHeaders();
    stream.on('drain', () => this.#sink?.drained());
    clearInterval(this.#heartbeat);
    this.#heartbeat = setInterval(() => stream.write(': \n\n'), heartbeatMs).unref();
    for (const event of this.#queue) stream.write(event);
    this.#queue = [];
    this.#queuedBytes = 0;
  }

  /** @returns whether the stream was the current one */
  detach(stream: ServerResponse): boolean {
    if (this.#stream !== stream) return false;
    this.#stream = undefined;
    clearInterval(this.#heartbeat);
    this.#sink?.drained();
    return true;
  }

  /** The client is gone. */
  end(message: string): void {
    this.#finish('ended', message);
  }

  async close(): Promise<void> {
    this.#finish('closed', 'this side closed the connection');
  }

  #finish(kind: 'ended' | 'closed', message: string): void {
    if (this.#over) return;
    this.#over = true;
    clearInterval(this.#heartbeat);
    this.#stream?.end();
    this.#stream = undefined;
    this.#sink?.closed({ kind, message });
  }

  #refuse(text: string): void {
    const error = { code: ErrorCode.Unavailable, message: 'the client has no event stream to be called on' };
    const answers = answersFor(text, error);
    process.nextTick(() => {
      if (!this.#over) for (const answer of answers) this.#sink?.message(answer);
    });
  }
}
