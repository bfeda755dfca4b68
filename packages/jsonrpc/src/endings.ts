/**
 * How the end of a connection looks to those who wait.
 */
import { ErrorCode, RpcError } from './errors.ts';
import type { CloseReason } from './transport.ts';

export const endedByPeer: CloseReason = { kind: 'ended', message: 'the other side ended the connection' };

/** What callers get when the connection is over: `data` is the reason, and its sentence as `cause`. */
export function unavailable(reason: CloseReason): RpcError {
  return new RpcError(ErrorCode.Unavailable, reason.message, { cause: reason.message, ...reason });
}
