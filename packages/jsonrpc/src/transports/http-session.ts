/**
 * One HTTP client as the server sees it: its requests, and the event stream on which it can be called.
 *
 * Promise: what is sent while the stream is away for a moment, or is lost with a stream that broke, arrives when it is
 * back; what cannot arrive at all is answered at once.
 */
import type { ServerResponse } from 'node:http';
import { ErrorCode } from '../errors.ts';
import type { Sink, Transport } from '../transport.ts';
import { eventOf, heartbeat } from './event-stream.ts';
import { answersFor } from './undeliverable.ts';

const maxKept = 1 << 20;

export class HttpSession implements Transport {
  readonly #lasting: boolean;
  readonly #heartbeatMs: number;
  #sink: Sink | undefined;
  #stream: ServerResponse | undefined;
  /** The latest events, those that wait for the stream among them. */
  #kept: string[] = [];
  #keptChars = 0;
  #unwritten = 0;
  #unwrittenChars = 0;
  #heartbeat: NodeJS.Timeout | undefined;
  #over = false;
  /** The number of the last event so far. */
  sent = 0;

  /**
   * @param lasting whether the client may open an event stream
   * @param heartbeatMs proxies close streams on which nothing moves
   */
  constructor(lasting: boolean, heartbeatMs: number) {
    this.#lasting = lasting;
    this.#heartbeatMs = heartbeatMs;
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
    if (this.#over) return true;
    if (!this.#stream && (!this.#lasting || this.#unwrittenChars + text.length > maxKept)) {
      this.#refuse(text);
      return true;
    }
    this.#kept.push(text);
    this.#keptChars += text.length;
    this.sent++;
    this.#unwritten++;
    this.#unwrittenChars += text.length;
    const accepted = this.#write();
    while (this.#keptChars > maxKept && this.#kept.length > this.#unwritten)
      this.#keptChars -= this.#kept.shift()?.length ?? 0;
    return accepted;
  }

  resume(): void {}

  /**
   * The client has opened its event stream; an older one of the same client ends.
   *
   * @param after the last event that the client has seen, if it says so
   */
  attach(stream: ServerResponse, after: number | undefined): void {
    this.#stream?.end();
    this.#stream = stream;
    stream.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    stream.flushHeaders();
    stream.on('drain', () => this.#stream === stream && this.#sink?.drained());
    clearInterval(this.#heartbeat);
    this.#heartbeat = setInterval(() => stream.write(heartbeat), this.#heartbeatMs).unref();
    if (after !== undefined) this.#goBack(after);
    // The stream before may have been full.
    if (this.#write()) this.#sink?.drained();
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

  /** Writes what waits, if there is a stream; false if the stream has more than it can send. */
  #write(): boolean {
    if (!this.#stream || this.#unwritten === 0) return true;
    let accepted = true;
    for (const text of this.#kept.slice(-this.#unwritten))
      accepted = this.#stream.write(eventOf(text, this.sent - --this.#unwritten));
    this.#unwrittenChars = 0;
    return accepted;
  }

  #goBack(after: number): void {
    // A client that has seen more than was ever sent remembers a session from before a restart: its numbers go on.
    if (after > this.sent) this.sent = after + this.#kept.length;
    const missed = this.#kept.slice(Math.max(0, this.#kept.length - (this.sent - after)));
    this.#unwritten = missed.length;
    this.#unwrittenChars = missed.reduce((chars, text) => chars + text.length, 0);
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
