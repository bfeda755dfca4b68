/**
 * Our own calls, from the id they get to the moment they settle.
 *
 * Promise: every call settles exactly once: by its answer, its deadline, its signal, or the end of the
 * connection. Ids are unique across processes and restarts, and match by value and type. A late answer is dropped.
 */
import type { Abortable, BatchItem, CallOptions } from './call.ts';
import { Deadlines } from './deadlines.ts';
import type { Dialect } from './dialect.ts';
import { ErrorCode, RpcError, saidBy, shown } from './errors.ts';
import { envelopeDepth, isTooDeep, isTooLong, mayBeDeep } from './json.ts';
import type { Log } from './log.ts';
import { arrayText, exactMessage, notificationText, type Wire } from './message.ts';
import { type Outlet, quiet } from './outlet.ts';
import { PendingBatch, PendingCall, PendingTable } from './pending.ts';

export interface OutgoingOptions {
  readonly outlet: Outlet;
  readonly dialect: Dialect;
  readonly log: Log;
  readonly timeoutMs: number;
  readonly maxMessageBytes: number;
  readonly maxDepth: number;
  readonly maxBatch: number;
}

/** Text around params, prepared once a method; so many and no more are kept. */
const maxPrepared = 1000;

export class Outgoing {
  readonly #o: OutgoingOptions;
  readonly #prefix = uniquePrefix();
  readonly #head = `{"jsonrpc":"2.0","id":"${this.#prefix}`;
  readonly #prepared = new Map<string, string>();
  readonly #pending = new PendingTable<PendingCall>();
  readonly #deadlines = new Deadlines<PendingCall>((call) => this.#expire(call));
  #ordinal = 0;
  #over: RpcError | undefined;

  constructor(options: OutgoingOptions) {
    this.#o = options;
  }

  get size(): number {
    return this.#pending.size;
  }

  call(method: string, params: unknown, options: CallOptions | undefined): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const call = new PendingCall(++this.#ordinal, method, options, resolve, reject);
      const text = this.#write(call, params);
      if (text === undefined || !this.#expect(call, performance.now())) return;
      this.#o.outlet.send(text, this.#pending.size === 1);
    });
  }

  /** Resolves when the other side reads, so that a writer cannot run ahead of it. */
  notify(method: string, params: unknown): Promise<void> {
    const { over } = this.#o.outlet;
    if (over) return quiet(Promise.reject(copyOf(over)));
    let text: string;
    try {
      text = this.#fitting(notificationText(named(method), this.#serialise(params)));
    } catch (error) {
      return quiet(Promise.reject(error as RpcError));
    }
    this.#o.outlet.remember('notification', method, undefined);
    this.#o.outlet.send(text, false);
    return this.#o.outlet.drained();
  }

  /** One settled result for each call among the items, in their order; notifications have none. */
  async batch(
    items: readonly BatchItem[],
    options: CallOptions | undefined,
  ): Promise<PromiseSettledResult<unknown>[]> {
    const { maxBatch, outlet } = this.#o;
    if (items.length > maxBatch) {
      throw new RpcError(ErrorCode.InvalidRequest, `a batch holds at most ${maxBatch} messages`, {
        limit: maxBatch,
      });
    }
    if (outlet.over) throw copyOf(outlet.over);
    const batch = new PendingBatch();
    const calls: PendingCall[] = [];
    const texts: string[] = [];
    for (const { method, params, notify } of items) {
      let text: string | undefined;
      if (notify) {
        text = notificationText(named(method), this.#serialise(params));
        outlet.remember('notification', method, undefined);
      } else {
        const call = new PendingCall(
          ++this.#ordinal,
          method,
          options,
          undefined,
          undefined,
          batch,
          batch.add(),
        );
        text = this.#write(call, params);
        if (text !== undefined) calls.push(call);
      }
      if (text !== undefined) texts.push(text);
    }
    const whole = texts.length > 0 ? this.#fitting(arrayText(texts)) : undefined;
    const now = performance.now();
    const expected = calls.filter((call) => this.#expect(call, now));
    if (whole !== undefined) outlet.send(whole, this.#pending.size === expected.length);
    await (batch.results.length > 0 ? batch.settled() : outlet.drained());
    return batch.results;
  }

  /** Settles the call that a response belongs to, or reports that there is none. `at`: its place in a batch, or −1. */
  settle(response: Wire, text: string, at: number): void {
    const ordinal = this.#ordinalOf(response.id);
    const call = this.#pending.get(ordinal);
    if (!call) {
      this.#unmatched(response, ordinal > 0);
      return;
    }
    const { error, result } = response;
    this.#forget(call);
    if (error !== undefined && error !== null && isErrorObject(error)) {
      call.reject(new RpcError(error.code, error.message, error.data));
    } else if (result === undefined || (error !== undefined && error !== null)) {
      call.reject(
        new RpcError(ErrorCode.InternalError, `"${call.method}" got an answer that is no JSON-RPC response`),
      );
    } else call.resolve(call.options?.exact ? exactResult(result, text, at) : result);
  }

  #unmatched({ id, error }: Wire, late: boolean): void {
    const { log, outlet } = this.#o;
    if (late) {
      log({ level: 'debug', event: 'late-response', message: 'an answer came after its call was over', id });
    } else if (id === null && isErrorObject(error)) {
      const message = `the other side could not read a message: ${shown(error.message)} (${error.code})`;
      log({ level: 'warn', event: 'peer-error', message, id, recent: outlet.recent() });
    } else {
      const message = `a response belongs to no call of ours: id ${shown(JSON.stringify(id) ?? 'missing')}`;
      log({ level: 'warn', event: 'unmatched-response', message, id });
    }
  }

  /** Whether an id is one of ours and its call is open. */
  expects(id: unknown): boolean {
    return this.#pending.get(this.#ordinalOf(id)) !== undefined;
  }

  /**
   * Hands progress to the call it belongs to; what comes after the call is over is dropped, as a late answer is.
   *
   * @param exact gives the same data with exact numbers
   * @returns false if the token is none of ours
   */
  progress(token: unknown, data: unknown, exact: () => unknown): boolean {
    const ordinal = this.#ordinalOf(token);
    if (ordinal === 0) return false;
    const call = this.#pending.get(ordinal);
    if (!call?.options?.onProgress) return true;
    try {
      call.options.onProgress(call.options.exact ? exact() : data);
    } catch (error) {
      const message = `onProgress of "${call.method}" failed`;
      this.#o.log({ level: 'error', event: 'hook-failed', message, method: call.method, error });
    }
    return true;
  }

  /**
   * Rejects all open calls, and all that are made from now on.
   *
   * @param tell whether the other side can still hear that nobody waits for its answers
   */
  close(error: RpcError, tell: boolean): void {
    if (this.#over) return;
    this.#over = error;
    this.#deadlines.close();
    for (const call of this.#pending.values()) {
      this.#forget(call);
      if (tell) this.#tellCancelled(call, error.message);
      call.reject(copyOf(error));
    }
  }

  /** The call's text, or undefined after rejecting it. */
  #write(call: PendingCall, params: unknown): string | undefined {
    const { dialect, outlet } = this.#o;
    const { options } = call;
    if (this.#refused(call)) return undefined;
    const wanted = options?.onProgress
      ? dialect.askForProgress(params, `${this.#prefix}${call.ordinal}`)
      : params;
    try {
      named(call.method);
      const json = this.#serialise(wanted);
      outlet.remember('call', call.method, call.ordinal);
      return this.#fitting(
        json === undefined
          ? `${this.#head}${call.ordinal}","method":${JSON.stringify(call.method)}}`
          : `${this.#head}${call.ordinal}${this.#middle(call.method)}${json}}`,
      );
    } catch (error) {
      call.reject(error as RpcError);
      return undefined;
    }
  }

  #middle(method: string): string {
    let middle = this.#prepared.get(method);
    if (middle === undefined) {
      middle = `","method":${JSON.stringify(method)},"params":`;
      if (this.#prepared.size < maxPrepared) this.#prepared.set(method, middle);
    }
    return middle;
  }

  #serialise(params: unknown): string | undefined {
    if (params === undefined) return undefined;
    let json: string | undefined;
    try {
      json = JSON.stringify(params);
    } catch (cause) {
      throw new RpcError(ErrorCode.InvalidParams, `params cannot be JSON: ${saidBy(cause)}`, undefined, {
        cause,
      });
    }
    const first = json?.charCodeAt(0);
    if (json === undefined || (first !== 123 && first !== 91)) {
      throw new RpcError(ErrorCode.InvalidParams, 'params must be an object or an array');
    }
    const depth = this.#o.maxDepth - envelopeDepth;
    if (mayBeDeep(json, depth) && isTooDeep(json, depth)) {
      throw new RpcError(ErrorCode.InvalidParams, `params nest deeper than ${depth} levels`, {
        limit: depth,
      });
    }
    return json;
  }

  /** The text itself, if the limit allows it. */
  #fitting(text: string): string {
    const limit = this.#o.maxMessageBytes;
    if (!isTooLong(text, limit)) return text;
    throw new RpcError(ErrorCode.InvalidParams, `the message would be longer than ${limit} bytes`, { limit });
  }

  /** False after rejecting the call: its own params may have ended the connection, or aborted it, while they were written. */
  #expect(call: PendingCall, now: number): boolean {
    if (this.#refused(call)) return false;
    const signal = call.options?.signal;
    if (signal) {
      call.onAbort = () => this.#abandon(call, cancelled(signal));
      signal.addEventListener('abort', call.onAbort, { once: true }); // first: what is no signal throws, and nothing is open
    }
    this.#pending.add(call);
    const ms = call.options?.timeoutMs ?? this.#o.timeoutMs;
    if (ms !== 0 && ms !== Number.POSITIVE_INFINITY)
      this.#deadlines.add(call, ms > 1 ? Math.ceil(ms) : 1, now); // a time that is over, or no number, is no licence to wait
    return true;
  }

  /** Rejects a call that has come too late. */
  #refused(call: PendingCall): boolean {
    const signal = call.options?.signal;
    if (this.#over) call.reject(copyOf(this.#over));
    else if (signal?.aborted) call.reject(cancelled(signal));
    else return false;
    return true;
  }

  #forget(call: PendingCall): void {
    this.#pending.delete(call);
    this.#deadlines.remove(call);
    if (call.onAbort) call.options?.signal?.removeEventListener('abort', call.onAbort);
  }

  #expire(call: PendingCall): void {
    const ms = call.options?.timeoutMs ?? this.#o.timeoutMs;
    const message = `"${call.method}" was not answered within ${ms} ms`;
    this.#abandon(call, new RpcError(ErrorCode.ToolTimeout, message, { timeout_ms: ms }));
  }

  /** Rejects a call before its answer and tells the other side. */
  #abandon(call: PendingCall, error: RpcError): void {
    this.#forget(call);
    this.#tellCancelled(call, error.message);
    call.reject(error);
  }

  #tellCancelled(call: PendingCall, reason: string): void {
    const { dialect, outlet } = this.#o;
    const params = dialect.cancelParams(`${this.#prefix}${call.ordinal}`, reason);
    outlet.send(notificationText(dialect.cancel, JSON.stringify(params)), false);
  }

  /** The number of one of our ids; 0 for any other, also for one that is written differently. */
  #ordinalOf(id: unknown): number {
    if (typeof id !== 'string' || !id.startsWith(this.#prefix)) return 0;
    let ordinal = 0;
    for (let at = this.#prefix.length; at < id.length; at++) {
      const digit = id.charCodeAt(at) - 48;
      if (digit < 0 || digit > 9 || (digit === 0 && ordinal === 0)) return 0;
      ordinal = ordinal * 10 + digit;
    }
    return ordinal <= this.#ordinal ? ordinal : 0;
  }
}

/**
 * What makes our ids ours: 72 random bits and a dot. They must never meet again, but are no secret, so they are not worth
 * loading the crypto module for. The engine seeds its generator from the system's entropy in every thread.
 */
function uniquePrefix(): string {
  const part = () =>
    Math.floor(Math.random() * 2 ** 36)
      .toString(36)
      .padStart(7, '0');
  return `${part()}${part()}.`;
}

/** A program without types may pass anything; what is no message must not leave. */
function named(method: string): string {
  if (typeof method === 'string') return method;
  throw new RpcError(ErrorCode.InvalidRequest, `a method is a string, not ${typeof method}`);
}

function isErrorObject(error: unknown): error is { code: number; message: string; data?: unknown } {
  if (typeof error !== 'object' || error === null) return false;
  const { code, message } = error as { code?: unknown; message?: unknown };
  return typeof code === 'number' && typeof message === 'string';
}

function cancelled(signal: Abortable): RpcError {
  const reason: unknown = signal.reason;
  return new RpcError(ErrorCode.Cancelled, saidBy(reason), undefined, { cause: reason });
}

/** A fresh error for each caller: a stack of its own, and nothing shared. */
function copyOf(error: RpcError): RpcError {
  return new RpcError(error.code, error.message, error.data);
}

function exactResult(result: unknown, text: string, at: number): unknown {
  const message = exactMessage(text) as ({ result?: unknown } & { result?: unknown }[]) | undefined;
  if (message === undefined) return result;
  return at < 0 ? message.result : message[at]?.result;
}
