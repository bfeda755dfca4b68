/**
 * Requests and notifications from the other side.
 *
 * Promise: every request gets exactly one answer, whatever its handler does; a bounded number runs at once;
 * nothing a handler throws unforeseen leaves this process. A handler that returns a value costs no promise.
 */
import { Answers } from './answers.ts';
import { type Destination, type Remote, Request, type RequestHost } from './context.ts';
import { mayUse } from './contract.ts';
import type { Dialect } from './dialect.ts';
import { ErrorCode, RpcError, shown, type WireError } from './errors.ts';
import type { Log } from './log.ts';
import { errorText, exactId, exactMessage, notificationText, type RequestId } from './message.ts';
import type { Entry } from './methods.ts';
import { OpenRequests, WaitingRoom } from './open-requests.ts';
import type { Outlet } from './outlet.ts';
import { promiseOf } from './thenable.ts';
import type { Turn } from './turn.ts';

export interface IncomingOptions {
  readonly remote: Remote;
  readonly outlet: Outlet;
  readonly turn: Turn;
  readonly dialect: Dialect;
  readonly log: Log;
  readonly maxInFlight: number;
  readonly maxMessageBytes: number;
  readonly maxDepth: number;
  /** The entry of a method, registered or served dynamically. */
  readonly find: (method: string, kind: Entry['kind']) => Entry | undefined;
  /** Runs an entry, with interceptors around it. */
  readonly invoke: (entry: Entry, request: Request) => unknown;
  /** Whether a request may be refused for want of room, because waiting for room could be a deadlock. */
  readonly mayRefuse: () => boolean;
  /** Something was answered: there may be room again. */
  readonly settled: () => void;
}

export class Incoming implements RequestHost {
  readonly remote: Remote;
  readonly #o: IncomingOptions;
  readonly #open = new OpenRequests();
  readonly #waiting: WaitingRoom<Entry>;
  readonly #answers: Answers;
  #running = 0;
  /** Characters of refusals that were sent although the other side does not read. */
  #unread = 0;
  #over = false;

  constructor(options: IncomingOptions) {
    this.remote = options.remote;
    this.#o = options;
    this.#waiting = new WaitingRoom(options.maxInFlight, options.maxMessageBytes);
    const answer = (request: Request, text: string | undefined): void => this.#answer(request, text);
    this.#answers = new Answers({ ...options, answer });
  }

  /** Requests that wait or run. */
  get size(): number {
    return this.#open.size;
  }

  /** Requests whose answers somebody may still wait for: those that were not cancelled. */
  get awaited(): number {
    let count = 0;
    for (const request of this.#open) if (!request.stopped) count++;
    return count;
  }

  /**
   * Whether reading on would only make more requests wait.
   *
   * @param needsAnswers own calls are open: what is not read may be what the running handlers wait for. Then only
   *   memory is a reason to stop
   */
  full(needsAnswers: boolean): boolean {
    const { congested } = this.#o.outlet;
    if (needsAnswers) return congested && (this.#waiting.overfull || this.#unread >= this.#o.maxMessageBytes);
    return this.#waiting.crowded || (congested && (!this.#waiting.empty || this.#unread > 0));
  }

  /** What to refuse a message with whose sender cannot be made to wait, if no more fits in. */
  get noRoom(): WireError | undefined {
    return this.#waiting.overfull ? tooManyWaiting(this.#o.maxInFlight) : undefined;
  }

  request(method: string, params: unknown, id: RequestId, to: Destination, text: string, at: number): void {
    if (this.#over) {
      to.skip();
      return;
    }
    const entry = this.#o.find(method, 'method');
    const { dialect } = this.#o;
    if (!entry && method !== dialect.cancel && method !== dialect.progress) {
      this.refuse(to, id, { code: ErrorCode.MethodNotFound, message: `Method not found: ${shown(method)}` });
      return;
    }
    if (entry?.kind !== 'method') {
      const message = `"${method}" is a notification; send it without an id`;
      this.refuse(to, id, { code: ErrorCode.InvalidRequest, message });
      return;
    }
    if (this.#open.size > 0 && this.#open.get(id)) {
      const message = 'a request with this id is still open';
      this.refuse(to, id, { code: ErrorCode.InvalidRequest, message });
      return;
    }
    const request = new Request(this, id, method, entry.exact ? exactParams(params, text, at) : params, to);
    if (dialect.tokenInParams) request.token = tokenOf(dialect, id, params, text, at);
    if (this.#mustWait()) this.#wait(entry, request, text.length);
    else this.#run(entry, request);
  }

  notification(method: string, params: unknown, text: string, at: number): void {
    if (this.#over) return;
    const entry = this.#o.find(method, 'notification');
    if (!entry) {
      const message = `nobody listens for "${shown(method)}"`;
      this.#o.log({ level: 'debug', event: 'unknown-notification', message, method });
      return;
    }
    if (entry.kind === 'method') {
      const message = `"${method}" is a method, but came without an id`;
      this.#o.log({ level: 'warn', event: 'wrong-kind', message, method });
      return;
    }
    const exact = entry.exact ? exactParams(params, text, at) : params;
    const request = new Request(this, undefined, method, exact, this.#o.outlet);
    const failed = (error: unknown): void => {
      const message = `the handler of notification "${method}" failed`;
      this.#o.log({ level: 'error', event: 'notification-failed', message, method, error });
    };
    try {
      this.#check(entry);
      promiseOf(this.#o.invoke(entry, request))?.catch(failed);
    } catch (error) {
      failed(error);
    }
  }

  /** Answers a request that is not run. */
  refuse(to: Destination, id: RequestId, error: WireError): void {
    const text = errorText(id, error);
    if (this.#o.outlet.congested) this.#unread += text.length;
    to.deliver(text, this.#running === 0);
  }

  /** False if no open request has that id. */
  cancel(id: RequestId, reason: string): boolean {
    const request = this.#open.get(id);
    if (!request) return false;
    const error = new RpcError(this.#o.dialect.cancelledCode, shown(reason));
    request.stop(error);
    // One that waits has no handler that could notice.
    if (request.weight > 0) this.#answers.threw(request, error);
    return true;
  }

  progress(request: Request, data: object): void {
    const { dialect, outlet } = this.#o;
    if (request.id === undefined) return;
    const token = dialect.tokenInParams ? request.token : request.id;
    if (token === undefined) return;
    const json = JSON.stringify(dialect.progressParams(token, data));
    outlet.send(this.#answers.within(notificationText(dialect.progress, json), 'the progress', json), false);
  }

  drained(): Promise<void> {
    return this.#o.outlet.drained();
  }

  /** Starts what may start. */
  pump(): void {
    if (!this.#o.outlet.congested) this.#unread = 0;
    while (!this.#waiting.empty && !this.#blocked()) {
      const next = this.#waiting.leave();
      if (!next) return;
      next.request.weight = 0;
      this.#run(next.entry, next.request);
      this.#o.turn.step();
    }
  }

  /** The connection is over: handlers are told, and so are the callers, as far as something still reaches them. */
  close(error: RpcError): void {
    this.#waiting.clear();
    for (const request of this.#open) {
      const mute = request.stopped && !this.#o.dialect.answersCancelled;
      request.stop(error);
      const known = { code: error.code, message: error.message };
      this.#answer(request, mute ? undefined : errorText(request.id as RequestId, known));
    }
    this.#over = true;
  }

  #blocked(): boolean {
    return this.#running >= this.#o.maxInFlight || this.#o.outlet.congested || this.#o.turn.exhausted;
  }

  #mustWait(): boolean {
    return !this.#waiting.empty || this.#blocked();
  }

  #wait(entry: Entry, request: Request, bytes: number): void {
    if (this.#waiting.overfull && this.#o.mayRefuse()) {
      this.refuse(request.to, request.id ?? null, tooManyWaiting(this.#o.maxInFlight));
      return;
    }
    request.listed = true;
    this.#open.add(request);
    // The elements of a batch keep its text's values alive together: the first that waits is charged with all.
    this.#waiting.enter({ entry, request }, request.to.charged ? 0 : bytes);
    if (request.to.charged === false) request.to.charged = true;
  }

  #check(entry: Entry): void {
    const { access } = entry.contract;
    if (access !== undefined && !mayUse(access, this.remote)) {
      throw new RpcError(ErrorCode.PermissionDenied, `not allowed to use "${entry.name}"`);
    }
  }

  #run(entry: Entry, request: Request): void {
    let result: unknown;
    let later: Promise<unknown> | undefined;
    try {
      if (entry.contract.access !== undefined) this.#check(entry);
      result = this.#o.invoke(entry, request);
      later = promiseOf(result);
    } catch (error) {
      this.#answers.threw(request, error);
      return;
    }
    if (!later) {
      this.#answers.returned(request, result);
      return;
    }
    this.#running++;
    if (!request.listed) {
      request.listed = true;
      this.#open.add(request);
    }
    later.then(
      (value) => {
        this.#running--;
        this.#answers.returned(request, value);
        this.#settled();
      },
      (error: unknown) => {
        this.#running--;
        this.#answers.threw(request, error);
        this.#settled();
      },
    );
  }

  #settled(): void {
    if (this.#over) return;
    this.pump();
    this.#o.settled();
  }

  #answer(request: Request, text: string | undefined): void {
    request.done = true;
    if (request.listed) this.#open.remove(request);
    if (text === undefined || this.#over) request.to.skip();
    else {
      this.#o.outlet.remember('response', request.method, request.id);
      request.to.deliver(text, this.#running === 0);
    }
  }
}

function tooManyWaiting(limit: number): WireError {
  const data = { retry_after_ms: 1000, limit };
  return { code: ErrorCode.RateLimited, message: 'too many requests are waiting', data };
}

/** Where a request's progress goes. A number that a double would change is kept as it was written: it is matched by value. */
function tokenOf(dialect: Dialect, id: RequestId, params: unknown, text: string, at: number): unknown {
  const token = dialect.progressToken(id, params);
  if (typeof token !== 'string' && typeof token !== 'number') return undefined;
  return exactId(token, text, () => dialect.progressToken(id, exactParams(params, text, at)));
}

/** A message's params with exact numbers; `at` is its place in a batch, or −1. Most have no number that needs a second look. */
function exactParams(params: unknown, text: string, at: number): unknown {
  const message = exactMessage(text) as ({ params?: unknown } & { params?: unknown }[]) | undefined;
  if (message === undefined) return params;
  return at < 0 ? message.params : message[at]?.params;
}
