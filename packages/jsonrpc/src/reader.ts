/**
 * The table of answers: what becomes of each text that arrives.
 *
 * Promise: shape is checked first, by hand and without a schema engine. Only a well-shaped message without id
 * is a notification; anything response-shaped is never answered, so two peers cannot bounce errors.
 */
import type { Destination } from './context.ts';
import type { Dialect, Members } from './dialect.ts';
import { ErrorCode, type WireError } from './errors.ts';
import type { Incoming } from './incoming.ts';
import { isTooDeep, mayBeDeep } from './json.ts';
import type { Log } from './log.ts';
import { exactId, exactMessage, isId, type RequestId, readOnce, type Wire } from './message.ts';
import type { Outgoing } from './outgoing.ts';
import { BatchReply } from './outlet.ts';
import type { Damage } from './transport.ts';
import type { Turn } from './turn.ts';

const byteOrderMark = 0xfeff;

export interface ReaderOptions {
  readonly incoming: Incoming;
  readonly outgoing: Outgoing;
  readonly turn: Turn;
  readonly dialect: Dialect;
  readonly log: Log;
  /** Takes texts that are no JSON-RPC at all, instead of answering them. */
  readonly noise: ((text: string) => void) | undefined;
  readonly maxMessageBytes: number;
  readonly maxDepth: number;
  readonly maxBatch: number;
}

export class Reader {
  readonly #o: ReaderOptions;

  constructor(options: ReaderOptions) {
    this.#o = options;
  }

  /**
   * Works on one message text.
   *
   * @param to where answers go
   * @returns whether `to` gets or got an answer, or word that there is none
   */
  message(text: string, to: Destination): boolean {
    const { maxDepth, turn } = this.#o;
    if (mayBeDeep(text, maxDepth) && isTooDeep(text, maxDepth)) {
      const message = `the message nests deeper than ${maxDepth} levels`;
      return this.#invalid(to, null, message, { limit: maxDepth });
    }
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      // Most texts have no byte-order mark: it is looked for when parsing has failed, and taken off once.
      if (text.charCodeAt(0) !== byteOrderMark || text.charCodeAt(1) === byteOrderMark)
        return this.#unparsable(text, to);
      return this.message(text.slice(1), to);
    }
    let answered: boolean;
    if (typeof value !== 'object' || value === null) answered = this.#notAnObject(value, text, to);
    else if (Array.isArray(value)) answered = this.#batch(value, text, to);
    else answered = this.#one(value, text, -1, to);
    turn.step();
    return answered;
  }

  /** Bytes that never became a text. */
  damaged(damage: Damage, to: Destination): void {
    if (this.#o.noise) {
      this.#o.log({ level: 'warn', event: 'noise', message: damage.message });
      this.#o.noise(`(${damage.message})`);
    } else if (damage.kind === 'size')
      this.#invalid(to, null, damage.message, { limit: this.#o.maxMessageBytes });
    else this.#refuse(to, null, { code: ErrorCode.ParseError, message: `Parse error: ${damage.message}` });
  }

  #one(message: Wire, text: string, at: number, to: Destination): boolean {
    const { method, params, id } = message;
    if (method === undefined) return this.#noMethod(message, text, at, to);
    if (
      message.jsonrpc !== '2.0' ||
      typeof method !== 'string' ||
      (params !== undefined && (typeof params !== 'object' || params === null)) ||
      message.result !== undefined ||
      message.error !== undefined ||
      (id !== undefined && !isId(id))
    ) {
      return this.#misshapen(message, text, at, to);
    }
    const { incoming, dialect } = this.#o;
    if (id === undefined) {
      if (method === dialect.cancel && this.#cancel(params, text, at)) return false;
      if (method === dialect.progress && this.#progress(params, text, at)) return false;
      incoming.notification(method, params, text, at);
      return false;
    }
    incoming.request(method, params, this.#exact(id, text, at), to, text, at);
    return true;
  }

  #noMethod(message: Wire, text: string, at: number, to: Destination): boolean {
    const { outgoing } = this.#o;
    if (message.result !== undefined || message.error !== undefined || outgoing.expects(message.id)) {
      outgoing.settle(message, text, at);
      return false;
    }
    return this.#misshapen(message, text, at, to);
  }

  #misshapen(message: Wire, text: string, at: number, to: Destination): boolean {
    if (this.#o.noise && message.jsonrpc === undefined)
      return this.#noise(at < 0 ? text : JSON.stringify(message));
    const id = isId(message.id) ? this.#exact(message.id, text, at) : null;
    return this.#invalid(to, id, whatIsWrong(message));
  }

  #batch(elements: readonly unknown[], text: string, to: Destination): boolean {
    const { maxBatch, turn, noise } = this.#o;
    if (noise && !elements.some((element) => isMessage(element))) return this.#noise(text);
    if (elements.length === 0) return this.#invalid(to, null, 'a batch must not be empty');
    if (elements.length > maxBatch) {
      return this.#invalid(to, null, `a batch holds at most ${maxBatch} messages`, { limit: maxBatch });
    }
    const reply = new BatchReply(to);
    turn.beginBatch();
    readOnce(text, () => {
      for (let at = 0; at < elements.length; at++) {
        reply.expect();
        if (!this.#element(elements[at], text, at, reply)) reply.skip();
        turn.stepInBatch();
      }
    });
    reply.seal();
    return true;
  }

  #element(element: unknown, text: string, at: number, reply: BatchReply): boolean {
    return typeof element === 'object' && element !== null && !Array.isArray(element)
      ? this.#one(element, text, at, reply)
      : this.#invalid(reply, null, 'an element of a batch must be an object');
  }

  #cancel(params: unknown, text: string, at: number): boolean {
    if (typeof params !== 'object' || params === null) return false;
    const { dialect, incoming } = this.#o;
    const read = (message: unknown): unknown => {
      const { params: exact } = (at < 0 ? message : (message as unknown[])[at]) as { params: Members };
      return dialect.cancelledId(exact);
    };
    const id = dialect.cancelledId(params as Members);
    if (!isId(id)) return false;
    const exact = exactId(id, text, read);
    const { reason } = params as { reason?: unknown };
    return incoming.cancel(exact, typeof reason === 'string' ? reason : 'cancelled by the caller');
  }

  #progress(params: unknown, text: string, at: number): boolean {
    if (typeof params !== 'object' || params === null) return false;
    const { dialect, outgoing } = this.#o;
    const { token, data } = dialect.readProgress(params as Members);
    return outgoing.progress(token, data, () => {
      const whole = exactMessage(text);
      if (whole === undefined) return data;
      const { params: exact } = (at < 0 ? whole : (whole as unknown[])[at]) as { params: Members };
      return dialect.readProgress(exact).data;
    });
  }

  #exact(id: string | number | null, text: string, at: number): RequestId {
    return exactId(id, text, (whole) => ((at < 0 ? whole : (whole as unknown[])[at]) as Wire).id);
  }

  #notAnObject(value: unknown, text: string, to: Destination): boolean {
    if (this.#o.noise) return this.#noise(text);
    return this.#invalid(
      to,
      null,
      `a message must be an object or an array, not ${value === null ? 'null' : typeof value}`,
    );
  }

  #unparsable(text: string, to: Destination): boolean {
    if (this.#o.noise) return this.#noise(text);
    return this.#refuse(to, null, {
      code: ErrorCode.ParseError,
      message: 'Parse error: the message is not JSON',
    });
  }

  #noise(text: string): boolean {
    const shown = text.trimEnd();
    this.#o.log({
      level: 'debug',
      event: 'noise',
      message: 'the other side printed something that is no message',
    });
    this.#o.noise?.(shown);
    return false;
  }

  #invalid(to: Destination, id: RequestId, message: string, data?: unknown): boolean {
    const error = { code: ErrorCode.InvalidRequest, message: `Invalid request: ${message}` };
    return this.#refuse(to, id, data === undefined ? error : { ...error, data });
  }

  #refuse(to: Destination, id: RequestId, error: WireError): boolean {
    this.#o.log({ level: 'warn', event: 'invalid-message', message: error.message, id });
    this.#o.incoming.refuse(to, id, error);
    return true;
  }
}

function isMessage(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'jsonrpc' in value;
}

function whatIsWrong({ jsonrpc, method, params, id, result, error }: Wire): string {
  if (jsonrpc !== '2.0') return 'jsonrpc must be exactly "2.0"';
  if (method === undefined) return 'method is missing';
  if (typeof method !== 'string') return 'method must be a string';
  if (result !== undefined || error !== undefined) return 'a message is a request or a response, not both';
  if (params !== undefined && (typeof params !== 'object' || params === null)) {
    return 'params must be an object or an array';
  }
  return isId(id) ? 'unreadable' : 'id must be a string, a finite number or null';
}
