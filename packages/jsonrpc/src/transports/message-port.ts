/**
 * `MessagePort`, `Worker` and `parentPort`: messages between threads.
 *
 * Promise: all texts of a turn cross in one post; a receiver that falls behind makes the sender wait. A port knows
 * no back-pressure of its own, so the receiver acknowledges what it has read, by the half megabyte.
 */
import type { Sink, Transport } from '../transport.ts';
import { HeldTexts } from './held-texts.ts';

/** What `MessagePort`, `Worker` and `parentPort` have in common. */
export interface PortLike {
  postMessage(value: unknown): void;
  // biome-ignore lint/suspicious/noExplicitAny: each event has an argument of its own
  on(event: string, listener: (value: any) => void): unknown;
  close?(): void;
}

/** Characters under way before writers have to wait, and between two acknowledgements. */
const congestion = 4 << 20;
const acknowledgeEvery = 1 << 19;

class MessagePortTransport implements Transport {
  readonly #port: PortLike;
  readonly #texts = new HeldTexts();
  #sink: Sink | undefined;
  #gathered: string[] = [];
  #scheduled = false;
  #underWay = 0;
  #congested = false;
  #unacknowledged = 0;
  #over = false;
  readonly #flush = (): void => {
    this.#scheduled = false;
    const texts = this.#gathered;
    if (texts.length === 0) return;
    this.#gathered = [];
    this.#port.postMessage(texts);
  };

  constructor(port: PortLike) {
    this.#port = port;
  }

  start(sink: Sink, maxMessageBytes: number): void {
    this.#sink = sink;
    this.#texts.start(sink, maxMessageBytes);
    this.#port.on('message', (value: unknown) => this.#received(value));
    for (const event of ['close', 'exit']) this.#port.on(event, () => this.#finish('ended'));
  }

  send(text: string, alone: boolean): boolean {
    if (this.#over) return true;
    this.#gathered.push(text);
    this.#underWay += text.length;
    if (alone && !this.#scheduled) this.#flush();
    else if (!this.#scheduled) {
      this.#scheduled = true;
      process.nextTick(this.#flush);
    }
    if (this.#underWay >= congestion) this.#congested = true;
    return !this.#congested;
  }

  resume(): void {
    this.#texts.resume();
    this.#acknowledge();
  }

  async close(): Promise<void> {
    if (this.#over) return;
    this.#flush();
    this.#port.postMessage(null);
    this.#finish('closed');
    this.#port.close?.();
  }

  /** Texts, a number of characters that the other side has read, or null for goodbye. Anything else should be a message. */
  #received(value: unknown): void {
    if (value === null) this.#finish('ended');
    else if (isCount(value)) this.#read(value);
    else if (Array.isArray(value) && value.every((text) => typeof text === 'string')) {
      for (const text of value) this.#take(text);
      this.#acknowledge();
    } else this.#take(typeof value === 'string' ? value : textOf(value));
  }

  #take(text: string): void {
    this.#unacknowledged += text.length;
    this.#texts.add(text);
  }

  /** What is held back is not acknowledged: that is what makes the other side wait. */
  #acknowledge(): void {
    if (this.#over || this.#unacknowledged < acknowledgeEvery || !this.#texts.empty) return;
    this.#port.postMessage(this.#unacknowledged);
    this.#unacknowledged = 0;
  }

  #read(chars: number): void {
    this.#underWay = Math.max(0, this.#underWay - chars);
    if (!this.#congested || this.#underWay >= congestion / 2) return;
    this.#congested = false;
    this.#sink?.drained();
  }

  #finish(kind: 'closed' | 'ended'): void {
    if (this.#over) return;
    this.#over = true;
    if (kind === 'ended') this.#texts.flush();
    const message =
      kind === 'closed' ? 'this side closed the connection' : 'the other side ended the connection';
    this.#sink?.closed({ kind, message });
    if (kind === 'ended') this.#port.close?.();
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

/** A port carries what no JSON text can: cycles, big integers, nothing at all. Then the text is none either. */
function textOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return '';
  }
}

/** A transport over a message port; both sides must use it. */
export function messagePortTransport(port: PortLike): Transport {
  return new MessagePortTransport(port);
}
