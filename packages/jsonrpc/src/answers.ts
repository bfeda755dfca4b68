/**
 * What becomes of a handler's outcome: the one answer to its request.
 *
 * Promise: whatever a handler returns or throws, also something that cannot be read or sent, the answer is JSON within the
 * limits and carries the request's id. What was not meant for the other side goes to the log under a reference.
 */
import type { Destination, Request } from './context.ts';
import type { Dialect } from './dialect.ts';
import { asWireError, ErrorCode, isAbort } from './errors.ts';
import { envelopeDepth, isTooDeep, isTooLong, mayBeDeep } from './json.ts';
import type { Log } from './log.ts';
import { errorText, type RequestId, resultText } from './message.ts';

export interface AnswersOptions {
  readonly dialect: Dialect;
  readonly log: Log;
  readonly maxMessageBytes: number;
  readonly maxDepth: number;
  /** Takes the answer to a request; undefined if it is to get none. Called once for each request. */
  readonly answer: (request: Request, text: string | undefined) => void;
}

export class Answers {
  readonly #o: AnswersOptions;
  readonly #maxDepth: number;

  constructor(options: AnswersOptions) {
    this.#o = options;
    this.#maxDepth = options.maxDepth - envelopeDepth;
  }

  /** The handler returned, or its promise resolved. */
  returned(request: Request, value: unknown): void {
    if (request.done) return;
    let text: string;
    try {
      const json = JSON.stringify(value) ?? 'null';
      const whole = resultText(request.id as RequestId, json);
      text = this.within(whole, 'the result', json, request.to);
    } catch (error) {
      this.threw(request, error);
      return;
    }
    this.#answer(request, text);
  }

  /** The handler threw, or its promise rejected. */
  threw(request: Request, thrown: unknown): void {
    if (request.done) return;
    const { dialect, log } = this.#o;
    const id = request.id as RequestId;
    if (request.stopped && (thrown === request.stopped || isAbort(thrown) || isCancelled(thrown, dialect))) {
      this.#answer(request, errorText(id, { code: dialect.cancelledCode, message: request.stopped.message }));
      return;
    }
    const text = this.#meant(request, thrown);
    if (text !== undefined) {
      this.#answer(request, text);
      return;
    }
    const ref = process.getBuiltinModule('node:crypto').randomUUID();
    const { method } = request;
    const message = `the handler of "${method}" failed`;
    log({ level: 'error', event: 'handler-failed', message, method, id, ref, error: thrown });
    this.#answer(
      request,
      errorText(id, { code: ErrorCode.InternalError, message: 'Internal error', data: { ref } }),
    );
  }

  /** An error that was meant for the other side. One that cannot be sent is as unforeseen as any other. */
  #meant(request: Request, thrown: unknown): string | undefined {
    const known = asWireError(thrown);
    if (!known) return undefined;
    try {
      const text = errorText(request.id as RequestId, known);
      return this.within(text, 'the error', text, request.to);
    } catch {
      return undefined;
    }
  }

  /** Whatever became of a cancelled request, some dialects do not want to hear of it. */
  #answer(request: Request, text: string): void {
    const { dialect, answer } = this.#o;
    answer(request, request.stopped && !dialect.answersCancelled ? undefined : text);
  }

  /**
   * The text itself; throws a RangeError if a limit does not allow it.
   *
   * @param json the part of it that may nest
   * @param to where it goes, if it may leave together with others
   */
  within(text: string, what: string, json: string, to?: Destination): string {
    if (mayBeDeep(json, this.#maxDepth) && isTooDeep(json, this.#maxDepth))
      throw new RangeError(`${what} nests deeper than ${this.#maxDepth} levels`);
    const limit = this.#o.maxMessageBytes;
    if (to ? !to.fits(text, limit) : isTooLong(text, limit))
      throw new RangeError(`${what} would be longer than ${limit} bytes`);
    return text;
  }
}

/** Whether a handler passed on that a call of its own was cancelled, as it happens when it hands on its signal. */
function isCancelled(thrown: unknown, dialect: Dialect): boolean {
  const code = asWireError(thrown)?.code;
  return code === ErrorCode.Cancelled || code === dialect.cancelledCode;
}
