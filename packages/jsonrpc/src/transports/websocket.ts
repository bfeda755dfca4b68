/**
 * WebSocket: one JSON text a message, over any object that looks like a WebSocket.
 *
 * Promise: what is sent before the socket is open leaves when it opens; writers wait while the socket has more
 * than it can send. Binary messages are read as UTF-8. A socket that cannot be paused, as the global `WebSocket` cannot,
 * is closed when more waits to be read than the longest message may have.
 */
import type { CloseReason, Sink, Transport } from '../transport.ts';
import { HeldTexts } from './held-texts.ts';

/** What the global `WebSocket` and the `ws` package have in common. */
export interface WebSocketLike {
  readonly readyState: number;
  readonly bufferedAmount?: number;
  binaryType?: string;
  send(data: string): void;
  close(code?: number, reason?: string): void;
  // biome-ignore lint/suspicious/noExplicitAny: every implementation has event types of its own
  addEventListener(type: 'open' | 'message' | 'close' | 'error', listener: (event: any) => void): void;
  /** The `ws` package can stop reading. */
  pause?(): void;
  resume?(): void;
}

const [connecting, open] = [0, 1];
/** The closing code of those who take no more: RFC 6455 leaves 4000 to 4999 to applications. */
const tooMuch = 4013;
const congestion = 1 << 20;
const pollMs = 10;
/** How long opening may take for those who close, and the closing handshake. */
const goodbyeMs = 1000;

class WebSocketTransport implements Transport {
  readonly #socket: WebSocketLike;
  readonly #texts = new HeldTexts();
  readonly #gone: Promise<void>;
  readonly #ready = Promise.withResolvers<void>();
  #unsent: string[] = [];
  #unsentChars = 0;
  #sink: Sink | undefined;
  #poll: NodeJS.Timeout | undefined;
  #failure: string | undefined;
  #over: CloseReason | undefined;
  #wasOpen = false;

  constructor(socket: WebSocketLike) {
    this.#socket = socket;
    this.#wasOpen = socket.readyState === open;
    socket.binaryType = 'arraybuffer';
    socket.addEventListener('open', () => this.#opened());
    socket.addEventListener('message', (event: { data: unknown }) => this.#received(event.data));
    socket.addEventListener('error', (event: { message?: string; error?: { message?: string } }) => {
      // The global WebSocket tells nobody why.
      const unsaid = this.#wasOpen ? 'the connection broke' : 'it could not be opened';
      this.#failure ??= event.message || event.error?.message || unsaid;
    });
    this.#gone = new Promise((resolve) => {
      socket.addEventListener('close', (event: { code?: number; reason?: string }) => {
        this.#closed(event);
        resolve();
      });
    });
  }

  start(sink: Sink, maxMessageBytes: number): void {
    this.#sink = sink;
    this.#texts.start(sink, maxMessageBytes);
    if (!this.#over) return;
    this.#texts.flush();
    sink.closed(this.#over);
  }

  send(text: string): boolean {
    if (this.#socket.readyState === connecting) {
      this.#unsent.push(text);
      this.#unsentChars += text.length;
    } else if (this.#socket.readyState === open) this.#socket.send(text);
    if (this.#underWay < congestion) return true;
    this.#poll ??= setInterval(() => this.#look(), pollMs);
    return false;
  }

  resume(): void {
    this.#texts.resume();
    if (this.#texts.empty) this.#socket.resume?.();
  }

  async close(): Promise<void> {
    if (this.#unsent.length > 0) await this.#patiently(this.#ready.promise);
    if (this.#socket.readyState <= open) this.#socket.close(1000, 'closed');
    await this.#patiently(this.#gone);
    this.#finish({ kind: 'closed', message: 'this side closed the connection' });
  }

  async #patiently(event: Promise<void>): Promise<void> {
    let patience: NodeJS.Timeout | undefined;
    const late = new Promise((resolve) => (patience = setTimeout(resolve, goodbyeMs)));
    await Promise.race([event, this.#gone, late]);
    clearTimeout(patience);
  }

  get #underWay(): number {
    return this.#unsentChars + (this.#socket.bufferedAmount ?? 0);
  }

  #opened(): void {
    this.#wasOpen = true;
    const unsent = this.#unsent;
    this.#unsent = [];
    this.#unsentChars = 0;
    for (const text of unsent) this.#socket.send(text);
    this.#ready.resolve();
  }

  #received(data: unknown): void {
    const more = this.#texts.add(typeof data === 'string' ? data : new Uint8Array(data as ArrayBuffer));
    if (more) return;
    if (this.#socket.pause) this.#socket.pause();
    else if (this.#texts.overfull) {
      this.#failure ??= 'more arrived than is read, and this socket cannot be paused';
      this.#socket.close(tooMuch, 'more was sent than is read');
    }
  }

  /** There is no event that tells when the socket has caught up. */
  #look(): void {
    if (this.#underWay >= congestion / 2) return;
    clearInterval(this.#poll);
    this.#poll = undefined;
    this.#sink?.drained();
  }

  #closed({ code, reason }: { code?: number; reason?: string }): void {
    this.#texts.flush();
    if (this.#failure) this.#finish({ kind: 'error', message: `the WebSocket failed: ${this.#failure}` });
    const why = reason ? `${code}: ${reason}` : `${code ?? 'none'}`;
    this.#finish({ kind: 'ended', message: `the other side closed the WebSocket (${why})` });
  }

  #finish(reason: CloseReason): void {
    if (this.#over) return;
    this.#over = reason;
    clearInterval(this.#poll);
    this.#sink?.closed(reason);
  }
}

/** A transport over a WebSocket, connecting or open. */
export function webSocketTransport(socket: WebSocketLike): Transport {
  return new WebSocketTransport(socket);
}
