/**
 * How cancellation and progress are spelt on the wire.
 *
 * Promise: handlers and callers see one `AbortSignal` and one stream of progress, whatever the other side
 * speaks. A dialect is data and pure functions; it keeps nothing.
 */
import { ErrorCode } from './errors.ts';
import type { RequestId } from './message.ts';

export type DialectName = 'chassis' | 'lsp' | 'mcp';

export type Members = { readonly [member: string]: unknown };

export interface Dialect {
  readonly cancel: string;
  readonly progress: string;
  /** The error code of a request that was cancelled. */
  readonly cancelledCode: number;
  /** Whether a cancelled request is still answered. */
  readonly answersCancelled: boolean;
  cancelParams(id: RequestId, reason: string): Members;
  /** The id in a cancellation's params. */
  cancelledId(params: Members): unknown;
  /** Params that ask for progress under a token. */
  askForProgress(params: unknown, token: string): unknown;
  /** Whether the token is the caller's choice, a member of the params. */
  readonly tokenInParams: boolean;
  /** The token under which a request's progress is wanted, or undefined if it is not. */
  progressToken(id: RequestId, params: unknown): unknown;
  /** @throws TypeError for data that the dialect cannot say */
  progressParams(token: unknown, data: object): Members;
  /** Token and data of a progress notification. */
  readProgress(params: Members): { readonly token: unknown; readonly data: unknown };
}

function members(value: unknown): Members | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Members)
    : undefined;
}

/** Where data and token share one object, the data must be one. */
function named(data: object): Members {
  const named = members(data);
  if (named) return named;
  throw new TypeError('progress must be an object');
}

function without(params: Members, name: string): Members {
  const { [name]: _left, ...rest } = params;
  return rest;
}

const chassis: Dialect = {
  cancel: 'tool.cancel',
  progress: 'tool.progress',
  cancelledCode: ErrorCode.Cancelled,
  answersCancelled: true,
  cancelParams: (id) => ({ id }),
  cancelledId: (params) => params.id,
  askForProgress: (params) => params,
  tokenInParams: false,
  progressToken: (id) => id,
  progressParams: (id, data) => ({ ...named(data), id }),
  readProgress: (params) => ({ token: params.id, data: without(params, 'id') }),
};

const lsp: Dialect = {
  cancel: '$/cancelRequest',
  progress: '$/progress',
  cancelledCode: -32800,
  answersCancelled: true,
  cancelParams: (id) => ({ id }),
  cancelledId: (params) => params.id,
  askForProgress: (params, token) => {
    const named = params === undefined ? {} : members(params);
    return named ? { ...named, workDoneToken: token } : params;
  },
  tokenInParams: true,
  progressToken: (_id, params) => members(params)?.workDoneToken ?? members(params)?.partialResultToken,
  progressParams: (token, value) => ({ token, value }),
  readProgress: (params) => ({ token: params.token, data: params.value }),
};

const mcp: Dialect = {
  cancel: 'notifications/cancelled',
  progress: 'notifications/progress',
  cancelledCode: ErrorCode.Cancelled,
  answersCancelled: false,
  cancelParams: (requestId, reason) => ({ requestId, reason }),
  cancelledId: (params) => params.requestId,
  askForProgress: (params, token) => {
    const named = params === undefined ? {} : members(params);
    return named ? { ...named, _meta: { ...members(named._meta), progressToken: token } } : params;
  },
  tokenInParams: true,
  progressToken: (_id, params) => members(members(params)?._meta)?.progressToken,
  progressParams: (progressToken, data) => ({ ...named(data), progressToken }),
  readProgress: (params) => ({ token: params.progressToken, data: without(params, 'progressToken') }),
};

const dialects: Record<DialectName, Dialect> = { chassis, lsp, mcp };

/** @throws TypeError for a name that is none of the three */
export function dialectOf(name: DialectName = 'chassis'): Dialect {
  if (!Object.hasOwn(dialects, name))
    throw new TypeError(`unknown dialect "${name}"; use chassis, lsp or mcp`);
  return dialects[name];
}
