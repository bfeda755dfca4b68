/**
 * The error that crosses the wire, and the code table this package speaks.
 *
 * Promise: a caller always gets an `RpcError`; a handler may throw any error that has `code`, `message` and
 * `data`, whatever its class. Nothing here reads a stack or sends one.
 */

import type { CloseReason } from './transport.ts';

/** Codes from −32768 to −32600 are JSON-RPC 2.0's own (specification, section 5.1); the others are Chassis'. */
export const ErrorCode = {
  ParseError: -32700,
  InvalidRequest: -32600,
  MethodNotFound: -32601,
  InvalidParams: -32602,
  InternalError: -32603,
  ToolTimeout: -32001,
  ContextTooLong: -32002,
  Cancelled: -32003,
  Unavailable: -32004,
  PermissionDenied: -32005,
  ApprovalDenied: -32006,
  RateLimited: -32007,
  BudgetExceeded: -32008,
  InvalidOutput: -32009,
  ModelError: -32010,
  Diverged: -32011,
  Unauthorized: -32012,
  Conflict: -32013,
  OutcomeUnknown: -32014,
  DamagedRecord: -32015,
} as const;

/** The error member of a response (specification, section 5.1). */
export interface WireError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export class RpcError extends Error {
  readonly code: number;
  /** Details for a program: plain JSON, or undefined. */
  readonly data: unknown;

  /**
   * @param code an integer; see {@link ErrorCode}
   * @param message one sentence for a person
   * @param data details for a program; must be JSON if the error is to cross the wire
   * @param options `cause` stays on this side
   */
  constructor(code: number, message: string, data?: unknown, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'RpcError';
    this.code = code;
    this.data = data;
  }
}

/**
 * What a thrown value says to the other side, or undefined if it was not meant for it. An integer `code` alone
 * is not enough: failed child processes and DOM exceptions carry one too. It must come with `data` or lie in
 * the range that JSON-RPC reserves.
 */
export function asWireError(thrown: unknown): WireError | undefined {
  if (typeof thrown !== 'object' || thrown === null) return undefined;
  try {
    if (thrown instanceof DOMException) return undefined;
    const { code, message } = thrown as { code?: unknown; message?: unknown };
    if (!Number.isSafeInteger(code) || typeof message !== 'string') return undefined;
    const value = code as number;
    if (!('data' in thrown)) {
      return value >= -32768 && value <= -32000 ? { code: value, message } : undefined;
    }
    const { data } = thrown;
    return data === undefined ? { code: value, message } : { code: value, message, data };
  } catch {
    return undefined; // one whose members cannot even be read
  }
}

/** What anything that was thrown, or is the reason of an abort, says for itself; it may be something that cannot even be read. */
export function saidBy(thrown: unknown): string {
  try {
    return thrown instanceof Error ? String(thrown.message) : String(thrown);
  } catch {
    return 'something that cannot be read';
  }
}

/** A name or sentence of the other side, as far as messages repeat it. */
export function shown(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

/** Whether a handler stopped because its signal was aborted. */
export function isAbort(thrown: unknown): boolean {
  try {
    return (thrown as { name?: unknown } | null | undefined)?.name === 'AbortError';
  } catch {
    return false;
  }
}

export const endedByPeer: CloseReason = { kind: 'ended', message: 'the other side ended the connection' };

/** What callers get when the connection is over: `data` is the reason, and its sentence as `cause`. */
export function unavailable(reason: CloseReason): RpcError {
  return new RpcError(ErrorCode.Unavailable, reason.message, { cause: reason.message, ...reason });
}
