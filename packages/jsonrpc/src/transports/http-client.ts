/**
 * HTTP on the calling side: every message is a POST, its answer the response.
 *
 * Promise: a request that fails on the way is answered with an error at once, with the HTTP status. With `events`
 * the server can send messages too, over one event stream that is opened again when it breaks.
 */
import { ErrorCode, saidBy } from '../errors.ts';
import { isUtf8, tooLong } from '../framing/decoder.ts';
import type { Sink, Transport } from '../transport.ts';
import { HeldTexts } from './held-texts.ts';

export interface HttpOptions {
  /** Sent with every request, such as `authorization`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Whether the server may send messages of its own; default false: one-way. */
  readonly events?: boolean | undefined;
  /** Instead of the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

/** Names the client's session, chosen by the client; without it a request stands alone. */
export const sessionHeader = 'rpc-session';

/**
 * On an answer: the number of the session's last event before it, which the client takes first. On an answer that comes as an
 * event stream: `id`, because each event's id is that number.
 */
export const lastEventHeader = 'rpc-last-event';

/** How long an answer waits for events that were sent before it; they may be lost with a broken stream. */
const overtakenMs = 1000;
/** Requests under way before writers have to wait. */
const congestion = 64;
/** How long closing waits for what has been sent. */
const lastWordsMs = 1000;
const reconnectMs = [100, 500, 2000, 5000];
/** A stream that lasted so long did work. */
const longEnoughMs = 5000;
/** What a server says that has no event stream. */
const noStream = [404, 405, 501];

class HttpTransport implements Transport {
  readonly #url: string;
  readonly #fetch: typeof fetch;
  readonly #headers: Record<string, string>;
  readonly #events: boolean;
  readonly #texts = new HeldTexts();
  readonly #stop = new AbortController();
  #sink: Sink | undefined;
  #underWay = 0;
  #congested = false;
  #over = false;
  /** Number of the last event that has arrived. */
  #seen = 0;
  /** Requests under way by id, if each stands alone. */
  readonly #requests = new Map<unknown, AbortController>();
  #idle: (() => void) | undefined;
  readonly #overtaking = new Set<() => void>();
  /** Bodies that are not read on, because what they brought has not been taken. */
  #paused: (() => void)[] = [];
  #maxMessageBytes = Number.POSITIVE_INFINITY;

  constructor(url: string, options: HttpOptions) {
    this.#url = url;
    this.#fetch = options.fetch ?? fetch;
    this.#events = options.events ?? false;
    this.#headers = {
      ...options.headers,
      ...(this.#events && { [sessionHeader]: process.getBuiltinModule('node:crypto').randomUUID() }),
    };
  }

  start(sink: Sink, maxMessageBytes: number): void {
    this.#sink = sink;
    this.#maxMessageBytes = maxMessageBytes;
    this.#texts.start(sink, maxMessageBytes);
    if (this.#events) void this.#listen();
  }

  send(text: string): boolean {
    void this.#post(text);
    if (this.#underWay >= congestion) this.#congested = true;
    return !this.#congested;
  }

  resume(): void {
    this.#texts.resume();
    if (this.#texts.empty) this.#goOn();
  }

  async close(): Promise<void> {
    if (this.#over) return;
    this.#over = true;
    this.#arrived(0);
    this.#goOn();
    await this.#lastWords();
    this.#stop.abort();
    if (this.#events) {
      const signal = AbortSignal.timeout(1000);
      await this.#fetch(this.#url, { method: 'DELETE', headers: this.#headers, signal }).catch(() => {});
    }
    this.#sink?.closed({ kind: 'closed', message: 'this side closed the connection' });
  }

  /** What was accepted for sending leaves; a server that does not answer it is not waited for. */
  async #lastWords(): Promise<void> {
    if (this.#underWay === 0) return;
    let patience: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#idle = resolve;
      patience = setTimeout(resolve, lastWordsMs);
    });
    clearTimeout(patience);
  }

  async #post(text: string): Promise<void> {
    this.#underWay++;
    const { signal, settled } = this.#events ? { signal: this.#stop.signal } : this.#abortable(text);
    try {
      const response = await this.#fetch(this.#url, {
        method: 'POST',
        headers: {
          ...this.#headers,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: text,
        signal,
      });
      await this.#answer(response, text);
    } catch (error) {
      await this.#failed(text, `the HTTP request failed: ${messageOf(error)}`);
    }
    settled?.();
    if (--this.#underWay === 0) this.#idle?.();
    if (!this.#congested || this.#underWay >= congestion / 2) return;
    this.#congested = false;
    this.#sink?.drained();
  }

  /**
   * Without a session nothing but the end of a request tells the server that nobody waits for its answer: a notification that
   * names an open request of ours, as cancellation does in every dialect, ends that request.
   */
  #abortable(text: string): { signal: AbortSignal; settled?: () => void } {
    const { signal } = this.#stop;
    const { id, params } = JSON.parse(text) as {
      id?: unknown;
      params?: { id?: unknown; requestId?: unknown };
    };
    if (id === undefined) {
      this.#requests.get(params?.id ?? params?.requestId)?.abort();
      return { signal };
    }
    const abort = new AbortController();
    this.#requests.set(id, abort);
    return { signal: AbortSignal.any([signal, abort.signal]), settled: () => this.#requests.delete(id) };
  }

  async #answer(response: Response, text: string): Promise<void> {
    const type = response.headers.get('content-type') ?? '';
    const lastEvent = response.headers.get(lastEventHeader);
    const status = `HTTP status ${response.status}`;
    if (response.ok && type.startsWith('text/event-stream') && response.body) {
      await this.#read(response.body, async (data, id) => {
        if (lastEvent !== null) await this.#after(Number(id));
        return this.#take(data);
      });
      // To requests that have been answered this is a late answer, and dropped.
      if (!this.#events) await this.#failed(text, `${status} ended without an answer`);
      return;
    }
    const body = await this.#bodyOf(response);
    await this.#after(Number(lastEvent ?? 0));
    const isJson = type.startsWith('application/json');
    if (isJson && body !== '') this.#texts.add(body);
    // A refusal without id, or no JSON-RPC at all: the call would wait for ever.
    if (!response.ok) await this.#failed(text, status, { status: response.status });
    else if (!isJson && body !== '')
      await this.#failed(text, `${status} with ${type || 'an untyped body'} is no answer`);
    else if (body !== '' || !this.#events)
      await this.#failed(text, `${status} without an answer`, undefined, body);
  }

  /** @throws Error if it is longer than a message may be, or not UTF-8 */
  async #bodyOf(response: Response): Promise<string> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of response.body ?? []) {
      size += chunk.length;
      if (size > this.#maxMessageBytes)
        throw new RangeError(`the answer is longer than ${this.#maxMessageBytes} bytes`);
      chunks.push(chunk);
    }
    const body = Buffer.concat(chunks);
    if (!isUtf8(body)) throw new TypeError('the answer is not valid UTF-8');
    return body.toString('utf8');
  }

  async #read(
    events: AsyncIterable<Uint8Array>,
    take: (data: string | undefined, id: string) => Promise<void> | undefined,
  ): Promise<void> {
    const { readEvents } = await import('./event-stream.ts');
    await readEvents(events, this.#maxMessageBytes, take);
  }

  /** Hands on what an event brought; the promise resolves when there is room for more. */
  #take(data: string | undefined): Promise<void> | undefined {
    this.#texts.add(data ?? tooLong(this.#maxMessageBytes));
    if (this.#texts.empty || this.#over) return undefined;
    return new Promise((resolve) => this.#paused.push(resolve));
  }

  #goOn(): void {
    for (const resolve of this.#paused.splice(0)) resolve();
  }

  /** Two streams keep no order between them: what was sent first is waited for. */
  async #after(event: number): Promise<void> {
    if (!this.#events || !(event > this.#seen)) return;
    await new Promise<void>((resolve) => {
      const look = (): void => {
        if (this.#seen < event && !this.#over) return;
        this.#overtaking.delete(look);
        clearTimeout(late);
        resolve();
      };
      const late = setTimeout(() => {
        this.#overtaking.delete(look);
        resolve();
      }, overtakenMs);
      this.#overtaking.add(look);
    });
  }

  #arrived(event: number): void {
    if (event > this.#seen) this.#seen = event;
    for (const look of [...this.#overtaking]) look();
  }

  /** @param said what has been answered: ids in it have their answers */
  async #failed(text: string, message: string, data?: unknown, said = ''): Promise<void> {
    const { answersFor } = await import('./undeliverable.ts');
    if (this.#over) return;
    const error = { code: ErrorCode.Unavailable, message, ...(data === undefined ? {} : { data }) };
    for (const answer of answersFor(text, error, said)) this.#texts.add(answer);
  }

  async #listen(): Promise<void> {
    for (let attempt = 0; !this.#over; attempt++) {
      const [before, began] = [this.#seen, performance.now()];
      const headers = { ...this.#headers, accept: 'text/event-stream', 'last-event-id': `${this.#seen}` };
      try {
        const response = await this.#fetch(this.#url, { headers, signal: this.#stop.signal });
        const type = response.headers.get('content-type') ?? '';
        if (response.ok && response.body && type.startsWith('text/event-stream')) {
          await this.#read(response.body, (data, id) => this.#event(data, Number(id)));
        } else await response.body?.cancel();
        if (noStream.includes(response.status)) return;
      } catch {
        // Broken or refused: calls of ours say so themselves.
      }
      if (this.#seen > before || performance.now() - began > longEnoughMs) attempt = 0;
      const wait = reconnectMs[Math.min(attempt, reconnectMs.length - 1)];
      await new Promise((resolve) => setTimeout(resolve, wait).unref());
    }
  }

  /** After a stream that broke, the server may send again what has arrived. */
  #event(data: string | undefined, number: number): Promise<void> | undefined {
    if (number <= this.#seen && number > 0) return undefined;
    const wait = this.#take(data);
    if (number > 0) this.#arrived(number);
    return wait;
  }
}

/** `fetch` keeps the reason in the cause. */
function messageOf(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  return (cause instanceof Error && cause.message) || saidBy(error);
}

/** A transport to a JSON-RPC server behind an HTTP address. */
export function httpTransport(url: string, options: HttpOptions = {}): Transport {
  return new HttpTransport(url, options);
}
