/**
 * Messages over a pair of Node streams: pipes, sockets, anything that reads and writes bytes.
 *
 * Promise: one write for all messages of a turn; input is paused while the peer wants no more; a stream that
 * fails or ends says so once, with the reason.
 */
import type { Readable, Writable } from 'node:stream';
import { endedByPeer } from '../errors.ts';
import type { Decoder } from '../framing/decoder.ts';
import { type Framing, type FramingName, framingOf } from '../framing/framing.ts';
import type { CloseReason, Sink, Transport } from '../transport.ts';
import { Gathered } from './gathered.ts';

export interface StreamOptions {
  /** Default `ndjson`. */
  readonly framing?: FramingName | undefined;
}

/** Bytes a writable may hold before its writers have to wait. */
const congestion = 256 * 1024;
/** How long closing waits for the other side to take what was written. */
const lastWritesMs = 1000;
/** How long a closed socket goes on reading, so that what the other side still sends does not reset the connection. */
const lingerMs = 250;

export class StreamTransport implements Transport {
  readonly #readable: Readable;
  readonly #writable: Writable;
  readonly #framing: Framing;
  readonly #gathered: Gathered;
  #decoder: Decoder | undefined;
  #sink: Sink | undefined;
  #congested = false;
  #held = false;
  #inputEnded = false;
  #endReported = false;
  #over = false;
  #closing: Promise<void> | undefined;

  /**
   * @param readable where the other side's messages come from
   * @param writable where ours go; may be the same stream
   */
  constructor(readable: Readable, writable: Writable, options: StreamOptions = {}) {
    this.#readable = readable;
    this.#writable = writable;
    this.#framing = framingOf(options.framing);
    this.#gathered = new Gathered((text) => this.#write(text));
  }

  start(sink: Sink, maxMessageBytes: number): void {
    if (this.#sink) throw new Error('a transport serves one peer');
    this.#sink = sink;
    this.#decoder = this.#framing.decoder(maxMessageBytes);
    const [readable, writable] = [this.#readable, this.#writable];
    writable.on('drain', () => this.#drained());
    writable.on('error', (error) =>
      this.finish({ kind: 'error', message: `writing failed: ${error.message}` }),
    );
    writable.on('close', () => this.finish(endedByPeer));
    readable.on('error', (error) =>
      this.finish({ kind: 'error', message: `reading failed: ${error.message}` }),
    );
    readable.on('end', () => this.#end());
    readable.on('close', () => this.#end());
    // A stream that somebody has told to decode gives strings.
    readable.on('data', (chunk: Buffer | string) =>
      this.#data(typeof chunk === 'string' ? Buffer.from(chunk) : chunk),
    );
  }

  send(text: string, alone: boolean): boolean {
    this.#gathered.add(this.#framing.frame(text), alone);
    return !this.#congested;
  }

  resume(): void {
    this.#held = false;
    this.#deliver();
    if (!this.#held && this.#readable.isPaused()) this.#readable.resume();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Reports the end of the connection, once. */
  protected finish(reason: CloseReason): void {
    if (this.#over) return;
    this.#over = true;
    this.#sink?.closed(reason);
  }

  /** The other side will write no more. Subclasses that know more about the end wait for it. */
  protected inputEnded(sink: Sink): void {
    sink.ended();
  }

  #data(chunk: Buffer): void {
    if (this.#over || this.#closing) return;
    this.#decoder?.push(chunk);
    if (this.#held) this.#readable.pause();
    else this.#deliver();
  }

  /** Hands out what has been decoded, until the peer wants no more. */
  #deliver(): void {
    const [sink, decoder] = [this.#sink, this.#decoder];
    if (!sink || !decoder) return;
    this.#gathered.hold();
    try {
      while (!this.#held && !this.#over) {
        const message = decoder.next();
        if (message === undefined) break;
        const more = typeof message === 'string' ? sink.message(message) : sink.damaged(message);
        if (!more) this.#held = true;
      }
    } finally {
      this.#gathered.release();
    }
    if (this.#inputEnded && !this.#endReported && !this.#held && !this.#over) {
      this.#endReported = true;
      this.inputEnded(sink);
    }
  }

  #end(): void {
    if (this.#over || !this.#decoder || this.#inputEnded) return;
    this.#decoder.end();
    this.#inputEnded = true;
    if (!this.#held) this.#deliver();
  }

  #write(text: string): void {
    if (this.#over || !this.#writable.writable) return;
    if (!this.writeOut(text) && this.#writable.writableLength >= congestion) this.#congested = true;
  }

  /** Hands text to the stream; false if the stream has more than it likes. */
  protected writeOut(text: string): boolean {
    return this.#writable.write(text);
  }

  #drained(): void {
    if (!this.#congested) return;
    this.#congested = false;
    this.#sink?.drained();
  }

  async #close(): Promise<void> {
    const [readable, writable]: [Readable, Writable] = [this.#readable, this.#writable];
    this.#gathered.flush();
    if (writable.writable && !this.#over) await this.endOutput(writable);
    if (Object.is(readable, writable) && !readable.readableEnded && !readable.destroyed) {
      readable.resume();
      await within(lingerMs, (done) => readable.once('end', done).once('close', done));
    }
    if (writable.writableEnded) writable.destroy();
    readable.destroy();
    this.finish({ kind: 'closed', message: 'this side closed the connection' });
  }

  /** Waits until what was written has left, then ends the stream. A reader that has stopped reading is not waited for. */
  protected async endOutput(writable: Writable): Promise<void> {
    await within(lastWritesMs, (done) => writable.once('close', done).once('error', done).end(done));
  }
}

/** Resolves when `begin` calls back, or after a time. */
async function within(ms: number, begin: (done: () => void) => void): Promise<void> {
  let patience: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve) => {
    patience = setTimeout(resolve, ms);
    begin(resolve);
  });
  clearTimeout(patience);
}

/** A transport over Node streams; see {@link StreamTransport}. */
export function streamTransport(readable: Readable, writable: Writable, options?: StreamOptions): Transport {
  return new StreamTransport(readable, writable, options);
}
