/**
 * What becomes of a handler's outcome: the one answer to its request.
 *
 * Promise: whatever a handler returns or throws, also something that cannot be read or sent, the answer is JSON within the
 * limits and carries the request's id. What was not meant for the other side goes to the log under a reference.
 */
import type { Request } from './context.ts';
import type { Dialect } from './dialect.ts';
import { asWireError, ErrorCode, isAbort, type RpcError, type WireError } from './errors.ts';
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
      text = this.#within(request, resultText(request.id as RequestId, json), 'the result', json);
    } catch (error) {
      this.threw(request, error);
      return;
    }
    this.#o.answer(request, text);
  }

  /** The handler threw, or its promise rejected. */
  threw(request: Request, thrown: unknown): void {
    if (request.done) return;
    const { dialect, answer, log } = this.#o;
    const id = request.id as RequestId;
    if (request.stopped && (thrown === request.stopped || isAbort(thrown))) {
      answer(request, dialect.answersCancelled ? errorText(id, asError(request.stopped)) : undefined);
      return;
    }
    const text = this.#meant(request, thrown);
    if (text !== undefined) {
      answer(request, text);
      return;
    }
    const ref = process.getBuiltinModule('node:crypto').randomUUID();
    const { method } = request;
    const message = `the handler of "${method}" failed`;
    log({ level: 'error', event: 'handler-failed', message, method, id, ref, error: thrown });
    answer(
      request,
      errorText(id, { code: ErrorCode.InternalError, message: 'Internal error', data: { ref } }),
    );
  }

  /** An error that was meant for the other side. One that cannot be sent is as unforeseen as any other. */
  #meant(request: Request, thrown: unknown): string | undefined {
    const known = asWireError(thrown);
    if (!known) return undefined;
    try {
      return this.#within(request, errorText(request.id as RequestId, known), 'the error');
    } catch {
      return undefined;
    }
  }

  /** The text itself; throws if a limit does not allow it. `json`: the part of it that may nest. */
  #within(request: Request, text: string, what: string, json = text): string {
    if (mayBeDeep(json, this.#maxDepth) && isTooDeep(json, this.#maxDepth))
      throw new RangeError(`${what} nests deeper than ${this.#maxDepth} levels`);
    if (isTooLong(text, this.#o.maxMessageBytes - request.to.gathered))
      throw new RangeError(`${what} would be longer than ${this.#o.maxMessageBytes} bytes`);
    return text;
  }
}

function asError(error: RpcError): WireError {
  return { code: error.code, message: error.message };
}
