/**
 * Interceptors: code around every call and notification, in both directions.
 *
 * Promise: the first one in the list is the outermost. One may look, change params, answer by itself, measure,
 * or throw; without any, nothing is paid.
 */

import type { CallOptions } from './call.ts';
import type { Request } from './context.ts';
import type { RequestId } from './message.ts';

/** A call or notification on its way. */
export interface Traffic {
  readonly direction: 'incoming' | 'outgoing';
  readonly kind: 'call' | 'notification';
  readonly method: string;
  readonly params: unknown;
  /** Of an incoming call. */
  readonly id?: RequestId | undefined;
  /** Of an incoming call or notification: aborted when it is cancelled. */
  readonly signal?: AbortSignal | undefined;
  /** Of an outgoing call. */
  readonly options?: CallOptions | undefined;
}

/**
 * @param traffic what is on its way
 * @param next hands on the same or changed traffic, and gives the result or a promise of it
 * @returns the result, or a promise of it
 */
export type Interceptor = (traffic: Traffic, next: (traffic: Traffic) => unknown) => unknown;

/** All interceptors around `last`. */
export function chain(interceptors: readonly Interceptor[], last: (traffic: Traffic) => unknown) {
  return interceptors.reduceRight<(traffic: Traffic) => unknown>(
    (next, interceptor) => (traffic) => interceptor(traffic, next),
    last,
  );
}

export function incomingTraffic(request: Request): Traffic {
  const { id, method, params } = request;
  return {
    direction: 'incoming',
    kind: id === undefined ? 'notification' : 'call',
    method,
    params,
    id,
    get signal() {
      return request.signal;
    },
  };
}
