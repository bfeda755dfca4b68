/**
 * What a handler gets beside its params.
 */
import type { BatchItem, CallOptions } from './call.ts';
import type { Caller } from './contract.ts';
import type { RpcError } from './errors.ts';
import type { RequestId } from './message.ts';

/** The other side of a connection, as a handler sees it. */
export interface Remote extends Caller {
  /** Calls back; see `Peer.call`. */
  call<T = unknown>(method: string, params?: unknown, options?: CallOptions): Promise<T>;
  /** See `Peer.notify`. */
  notify(method: string, params?: unknown): Promise<void>;
  /** See `Peer.batch`. */
  batch(items: readonly BatchItem[], options?: CallOptions): Promise<PromiseSettledResult<unknown>[]>;
}

export interface Context {
  /** The request's id; undefined for a notification. Unique only among the open requests of this connection. */
  readonly id: RequestId | undefined;
  readonly method: string;
  readonly peer: Remote;
  /** Aborted when the caller cancels or the connection closes; its reason is an `RpcError`. */
  readonly signal: AbortSignal;
  /**
   * Reports progress to the caller, if the caller wants it. Does nothing once the request is cancelled or answered.
   *
   * @throws TypeError or RangeError if the data cannot be JSON within the limits
   */
  progress(data: object): void;
  /** Resolves when the other side reads: at once, unless it has fallen behind. */
  drained(): Promise<void>;
}

/** What a running request needs from its connection. */
export interface RequestHost {
  readonly remote: Remote;
  progress(request: Request, data: object): void;
  drained(): Promise<void>;
}

/** Where the answer to a request goes: the connection, its batch, or one exchange. */
export interface Destination {
  /** Whether a text fits into the message that it would leave in, of at most `limit` bytes. */
  fits(text: string, limit: number): boolean;
  /** Of a batch: whether one of its requests has been charged with its length. */
  charged?: boolean;
  /** @param alone whether nothing else is being worked on, so that there is no point in gathering answers */
  deliver(text: string, alone: boolean): void;
  /** The request will get no answer (cancelled, in a dialect that answers none). */
  skip(): void;
}

/** One request or notification while it is open. The abort controller is made only if somebody looks. */
export class Request implements Context {
  readonly id: RequestId | undefined;
  readonly method: string;
  params: unknown;
  readonly to: Destination;
  /** Answered, or never to be answered. */
  done = false;
  /** Registered as open, because its handler is asynchronous or it has to wait. */
  listed = false;
  /** Bytes it is charged with while it waits its turn. */
  weight = 0;
  /** Where the caller wants progress, in a dialect whose params say so. */
  token: unknown;
  stopped: RpcError | undefined;
  readonly #host: RequestHost;
  #controller: AbortController | undefined;

  constructor(
    host: RequestHost,
    id: RequestId | undefined,
    method: string,
    params: unknown,
    to: Destination,
  ) {
    this.#host = host;
    this.id = id;
    this.method = method;
    this.params = params;
    this.to = to;
  }

  get peer(): Remote {
    return this.#host.remote;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.stopped) this.#controller.abort(this.stopped);
    }
    return this.#controller.signal;
  }

  progress(data: object): void {
    if (!this.done && !this.stopped) this.#host.progress(this, data);
  }

  drained(): Promise<void> {
    return this.#host.drained();
  }

  stop(reason: RpcError): void {
    if (this.stopped) return;
    this.stopped = reason;
    this.#controller?.abort(reason);
  }
}
