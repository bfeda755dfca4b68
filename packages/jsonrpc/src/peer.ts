/**
 * A JSON-RPC 2.0 peer: client and server at once on one connection.
 *
 * Promise: whatever comes in is answered as the specification says or reported to the log, never both and never
 * neither. No input ends the connection except a byte stream that has lost its framing. When the connection ends,
 * everything open ends with it, with the reason.
 */
import { type Api, api } from './api.ts';
import { type BatchItem, type CallOptions, wrongItems } from './call.ts';
import type { Remote } from './context.ts';
import {
  type AnyName,
  type Contract,
  type Contracts,
  type NamesOf,
  type ParamsOf,
  type ResultOf,
  wrongKind,
} from './contract.ts';
import { dialectOf } from './dialect.ts';
import type { ServiceInfo } from './discover.ts';
import { endedByPeer, RpcError, unavailable } from './errors.ts';
import { Incoming } from './incoming.ts';
import { chain, type Interceptor, interceptedBatch, invoker, type Traffic } from './intercept.ts';
import { type Entry, type Handler, Methods } from './methods.ts';
import { Outgoing } from './outgoing.ts';
import { Exchange, Outlet, quiet } from './outlet.ts';
import { limitsOf, type PeerOptions, safeLog } from './peer-options.ts';
import { Reader } from './reader.ts';
import type { InputOf, OutputOf, Schema } from './schema.ts';
import { type ProgressStream, streamOf } from './stream.ts';
import type { CloseReason, Damage, Sink, Transport } from './transport.ts';
import { Turn } from './turn.ts';

// biome-ignore lint/suspicious/noExplicitAny: a peer whose other side is not described takes any method
type Untyped = any;

/** A timer for longer would ring at once. */
const longestTimer = 2 ** 31 - 1;
/** How long reading may stop with no request answered before it goes on: what is not read may be their cancellation. */
const stalledMs = 100;

/**
 * @typeParam C the other side's {@link Contracts}: `call`, `notify` and `api` then know its methods
 */
export class Peer<C extends Contracts = Untyped> implements Remote {
  /** The other side's methods as functions: `peer.api.tool.add({ a, b })` calls `tool.add`. */
  readonly api: Api<C> = api((method, params, options) =>
    this.call(method as never, params as never, options),
  ) as Api<C>;
  /** Resolves, never rejects, when the connection is over. */
  readonly closed: Promise<CloseReason>;
  /** What the other side may do; consulted by access rules. */
  readonly scopes: Set<string>;
  readonly identity: unknown;
  readonly methods: Methods;
  /** Called for a notification that nobody registered; without it, it is logged. */
  onUnknownNotification: ((method: string, params: unknown) => unknown) | undefined;
  /** Serves every method that nobody registered; throw `MethodNotFound` for those it does not know. */
  onUnknownMethod: Handler | undefined;

  readonly #transport: Transport;
  readonly #outlet: Outlet;
  readonly #incoming: Incoming;
  readonly #outgoing: Outgoing;
  readonly #reader: Reader;
  readonly #turn: Turn;
  readonly #timeoutMs: number;
  readonly #remote: Contracts | undefined;
  readonly #interceptors: readonly Interceptor[];
  readonly #discover: Entry | undefined;
  #held = false;
  #stalled = false;
  #patience: NodeJS.Timeout | undefined;
  #inputEnded = false;
  #lastWords: NodeJS.Timeout | undefined;
  #closing: CloseReason | undefined;
  #resolveClosed: (reason: CloseReason) => void = () => {};

  /** Starts the transport at once: register methods in the same tick, or pass them as the option `methods`. */
  constructor(transport: Transport, options: PeerOptions = {}) {
    const dialect = dialectOf(options.dialect);
    const log = safeLog(options.log);
    const { timeoutMs = 60_000 } = options;
    const { maxInFlight, ...limits } = limitsOf(options);
    this.#transport = transport;
    this.#timeoutMs = timeoutMs;
    this.#remote = options.remote;
    this.scopes = new Set(options.scopes);
    this.identity = options.identity;
    this.methods = options.methods ?? new Methods({ jsonSchema: options.jsonSchema });
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
    this.#interceptors = options.interceptors ?? [];
    this.#discover = options.discover === false ? undefined : this.#discovery(options.discover);
    this.#turn = new Turn(() => this.#goOn());
    this.#outlet = new Outlet(transport);
    this.#outgoing = new Outgoing({ outlet: this.#outlet, dialect, log, timeoutMs, ...limits });
    this.#incoming = new Incoming({
      remote: this,
      outlet: this.#outlet,
      turn: this.#turn,
      dialect,
      log,
      maxInFlight,
      ...limits,
      find: (method, kind) => this.methods.get(method) ?? this.#unregistered(method, kind),
      invoke: invoker(this.#interceptors),
      mayRefuse: () => this.#outgoing.size > 0 || this.#stalled,
      settled: () => {
        clearTimeout(this.#patience);
        this.#patience = undefined;
        this.#settled();
      },
    });
    this.#reader = new Reader({
      incoming: this.#incoming,
      outgoing: this.#outgoing,
      turn: this.#turn,
      dialect,
      log,
      noise: transport.noise && ((text) => transport.noise?.(text)),
      ...limits,
    });
    transport.start(this.#sink(), limits.maxMessageBytes);
  }

  /** Offers a method; see {@link Methods.method}. */
  method<P = unknown>(name: string, handler: Handler<P>): this;
  method<const P extends Schema, const R extends Schema>(
    name: string,
    contract: Contract<P, R>,
    handler: Handler<OutputOf<P>, InputOf<R> | Promise<InputOf<R>>>,
  ): this;
  method(name: string, first: Contract | Handler<never>, second?: Handler<never>): this {
    this.methods.method(name, first as Contract, second as never);
    return this;
  }

  /** Listens for a notification; see {@link Methods.notification}. */
  notification<P = unknown>(name: string, handler: Handler<P>): this;
  notification<const P extends Schema>(
    name: string,
    contract: Contract<P>,
    handler: Handler<OutputOf<P>>,
  ): this;
  notification(name: string, first: Contract | Handler<never>, second?: Handler<never>): this {
    this.methods.notification(name, first as Contract, second as never);
    return this;
  }

  /**
   * Calls a method of the other side.
   *
   * @param params an object or an array, or nothing
   * @returns its result; rejects with an `RpcError`: the other side's, or ToolTimeout (−32001), Cancelled
   * (−32003), Unavailable (−32004: the connection is over; `data` is the {@link CloseReason} with `cause`), InvalidParams
   * (−32602: params cannot be sent)
   */
  call<M extends NamesOf<C, 'method'>>(
    method: M,
    params: ParamsOf<C[M]>,
    options?: CallOptions,
  ): Promise<ResultOf<C[M]>>;
  call<T = unknown>(method: AnyName<C>, params?: unknown, options?: CallOptions): Promise<T>;
  call(method: string, params?: unknown, options?: CallOptions): Promise<unknown> {
    const wrong = wrongKind(this.#remote, method, 'method');
    if (wrong) return Promise.reject(wrong);
    if (this.#interceptors.length === 0) return this.#call(method, params, options);
    return this.#intercepted({ direction: 'outgoing', kind: 'call', method, params, options });
  }

  /**
   * Sends a notification.
   *
   * @returns resolves when it was accepted and the other side reads; rejects with an `RpcError` when the
   * connection is over or params cannot be sent
   */
  notify<M extends NamesOf<C, 'notification'>>(method: M, params: ParamsOf<C[M]>): Promise<void>;
  notify(method: AnyName<C>, params?: unknown): Promise<void>;
  notify(method: string, params?: unknown): Promise<void> {
    const wrong = wrongKind(this.#remote, method, 'notification');
    if (wrong) return Promise.reject(wrong);
    if (this.#interceptors.length === 0) return this.#outgoing.notify(method, params);
    const sent = this.#intercepted({ direction: 'outgoing', kind: 'notification', method, params });
    return quiet(sent as Promise<void>);
  }

  /**
   * Sends several calls and notifications as one message.
   *
   * @returns one settled result for each call, in the order of the calls; notifications have none. `timeoutMs` and
   * `signal` hold for each call. Rejects if the batch cannot be sent at all, also when one item is of the wrong kind
   */
  batch(items: readonly BatchItem[], options?: CallOptions): Promise<PromiseSettledResult<unknown>[]> {
    const rubbish = wrongItems(items);
    if (rubbish) return Promise.reject(rubbish);
    for (const { method, notify } of this.#remote ? items : []) {
      const wrong = wrongKind(this.#remote, method, notify ? 'notification' : 'method');
      if (wrong) return Promise.reject(wrong);
    }
    const interceptors = this.#interceptors;
    if (interceptors.length === 0) return this.#batch(items, options);
    return interceptedBatch(
      items,
      options,
      async (traffic, last) => chain(interceptors, last)(traffic),
      (arrived) => this.#batch(arrived, options),
      (late) => this.#send(late),
    );
  }

  /**
   * Calls a method and gives its progress as an async iterable; leaving the loop early cancels the call.
   *
   * @example for await (const part of peer.stream('tool.search', { text })) show(part);
   */
  stream<M extends NamesOf<C, 'method'>>(
    method: M,
    params: ParamsOf<C[M]>,
    options?: CallOptions,
  ): ProgressStream<ResultOf<C[M]>>;
  stream<T = unknown>(method: AnyName<C>, params?: unknown, options?: CallOptions): ProgressStream<T>;
  stream(method: string, params?: unknown, options?: CallOptions): ProgressStream<unknown> {
    return streamOf((more) => this.call(method as never, params as never, { ...options, ...more }), options);
  }

  /**
   * Answers one message text outside the transport; undefined if it gets no answer. For request-response hosts.
   *
   * @throws RpcError Unavailable when the connection is over, RateLimited when too much waits: nobody here can be made to wait
   */
  exchange(text: string): Promise<string | undefined> {
    const exchange = new Exchange();
    if (this.#closing) return Promise.reject(unavailable(this.#closing));
    const { noRoom } = this.#incoming;
    if (noRoom) return Promise.reject(new RpcError(noRoom.code, noRoom.message, noRoom.data));
    if (!this.#reader.message(text, exchange)) exchange.skip();
    return exchange.answer;
  }

  /** Calls of ours that wait for an answer, and requests of the other side that wait or run. */
  get open(): { readonly calls: number; readonly requests: number } {
    return { calls: this.#outgoing.size, requests: this.#incoming.size };
  }

  /**
   * Ends the connection: our open calls reject, handlers' signals abort, what was accepted for sending is sent.
   *
   * @param reason one sentence for `closed` and for those who wait
   */
  async close(reason = 'this side closed the connection'): Promise<void> {
    this.#end({ kind: 'closed', message: reason });
    await this.#transport.close();
    await this.closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #sink(): Sink {
    return {
      message: (text) => {
        if (this.#closing) return true;
        this.#reader.message(text, this.#outlet);
        return this.#mayGoOn();
      },
      damaged: (damage) => {
        this.#damaged(damage);
        return this.#mayGoOn();
      },
      drained: () => {
        this.#outlet.release();
        this.#goOn();
      },
      ended: () => this.#ended(),
      closed: (reason) => {
        this.#outlet.close(unavailable(reason)); // nothing reaches the other side any more, not even last answers
        this.#end(reason);
        this.#resolveClosed(
          this.#closing?.kind === 'closed' ? { ...reason, ...this.#closing } : (this.#closing ?? reason),
        );
      },
    };
  }

  /** Whether the transport shall deliver more; if not, it is told later. */
  #mayGoOn(): boolean {
    let full = this.#incoming.full(this.#outgoing.size > 0);
    if (!full) this.#stalled = false;
    else if (this.#stalled) full = this.#incoming.full(true);
    else this.#patience ??= setTimeout(() => this.#readOn(), stalledMs).unref();
    this.#held = this.#turn.exhausted || full;
    return !this.#held;
  }

  /** None of the running requests gets anywhere; now only memory is a reason not to read. */
  #readOn(): void {
    this.#patience = undefined;
    this.#stalled = this.#held;
    this.#goOn();
  }

  #goOn(): void {
    if (this.#closing) return;
    this.#incoming.pump();
    this.#settled();
  }

  #settled(): void {
    if (this.#inputEnded && this.#incoming.awaited === 0) this.#finish();
    else if (this.#held && this.#mayGoOn()) this.#transport.resume();
  }

  #damaged(damage: Damage): void {
    this.#reader.damaged(damage, this.#outlet);
    if (damage.kind !== 'header') return;
    this.#end({ kind: 'error', message: `the byte stream lost its framing: ${damage.message}` });
    void this.#transport.close();
  }

  /** No answers will come any more, but ours may still be wanted. */
  #ended(): void {
    if (this.#closing || this.#inputEnded) return;
    this.#inputEnded = true;
    this.#outgoing.close(unavailable(endedByPeer), false);
    if (this.#incoming.awaited === 0) this.#finish();
    else if (this.#timeoutMs !== 0 && !(this.#timeoutMs > longestTimer))
      this.#lastWords = setTimeout(() => this.#finish(), this.#timeoutMs);
  }

  #finish(): void {
    this.#end(endedByPeer);
    void this.#transport.close();
  }

  #end(reason: CloseReason): void {
    if (this.#closing) return;
    this.#closing = reason;
    clearTimeout(this.#lastWords);
    clearTimeout(this.#patience);
    const error = unavailable(reason);
    this.#outgoing.close(error, reason.kind === 'closed');
    this.#incoming.close(error);
    this.#outlet.close(error);
  }

  #unregistered(method: string, kind: Entry['kind']): Entry | undefined {
    if (method === 'rpc.discover' && kind === 'method') return this.#discover;
    if (method.startsWith('rpc.')) return undefined;
    const hook = kind === 'method' ? this.onUnknownMethod : this.onUnknownNotification;
    if (!hook) return undefined;
    const invoke: Handler =
      kind === 'method' ? (hook as Handler) : (params) => this.onUnknownNotification?.(method, params);
    return { name: method, kind, contract: {}, exact: false, invoke };
  }

  #discovery(info: ServiceInfo = { title: 'JSON-RPC service', version: '0.0.0' }): Entry {
    // Loaded only when somebody asks: most connections never do.
    const invoke = async () => (await import('./discover.ts')).openRpc(this.methods.entries(), this, info);
    return { name: 'rpc.discover', kind: 'method', contract: {}, exact: false, invoke };
  }

  #call(method: string, params: unknown, options: CallOptions | undefined): Promise<unknown> {
    const result = this.#outgoing.call(method, params, options);
    if (this.#held) this.#settled(); // reading may have stopped while no answer was expected
    return result;
  }

  #batch(
    items: readonly BatchItem[],
    options: CallOptions | undefined,
  ): Promise<PromiseSettledResult<unknown>[]> {
    const results = this.#outgoing.batch(items, options);
    if (this.#held) this.#settled();
    return results;
  }

  async #intercepted(traffic: Traffic): Promise<unknown> {
    return chain(this.#interceptors, (last) => this.#send(last))(traffic);
  }

  /** What has come through all interceptors. */
  #send({ kind, method, params, options }: Traffic): Promise<unknown> {
    return kind === 'call' ? this.#call(method, params, options) : this.#outgoing.notify(method, params);
  }
}
