/**
 * Interceptors: code around every call and notification, in both directions.
 *
 * Promise: the first one in the list is the outermost. One may look, change params, answer by itself, measure,
 * or throw; without any, nothing is paid.
 */

import type { BatchItem, CallOptions } from './call.ts';
import type { Request } from './context.ts';
import type { RequestId } from './message.ts';
import type { Entry } from './methods.ts';
import { quiet } from './outlet.ts';

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

function incomingTraffic(request: Request): Traffic {
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

/** Runs an entry, with interceptors around it if there are any. */
export function invoker(interceptors: readonly Interceptor[]): (entry: Entry, request: Request) => unknown {
  if (interceptors.length === 0) return (entry, request) => entry.invoke(request.params, request);
  return (entry, request) =>
    chain(interceptors, (traffic) => entry.invoke(traffic.params, request))(incomingTraffic(request));
}

/**
 * A batch whose items each pass the interceptors. It is sent when every item has come through, or was answered or
 * refused on the way. What an interceptor hands on after that (it tries again) leaves alone.
 *
 * @param through one item's way: the interceptors around a function that takes what came through
 * @param send sends what came through as one batch
 * @param sendAlone sends what came too late for it
 */
export async function interceptedBatch(
  items: readonly BatchItem[],
  options: CallOptions | undefined,
  through: (traffic: Traffic, last: (traffic: Traffic) => Promise<unknown>) => Promise<unknown>,
  send: (items: readonly BatchItem[]) => Promise<PromiseSettledResult<unknown>[]>,
  sendAlone: (traffic: Traffic) => Promise<unknown>,
): Promise<PromiseSettledResult<unknown>[]> {
  const arrived: { readonly item: BatchItem; readonly settle: (result: unknown) => void }[] = [];
  const outcomes: Promise<PromiseSettledResult<unknown>>[] = [];
  let left = false;
  const ready = items.map((item) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const kind = item.notify ? 'notification' : 'call';
    const { method, params } = item;
    const outcome = through({ direction: 'outgoing', kind, method, params, options }, (traffic) => {
      if (left) return sendAlone(traffic);
      const result = new Promise((settle) => {
        arrived.push({ item: { ...item, method: traffic.method, params: traffic.params }, settle });
      });
      resolve();
      return quiet(result); // an interceptor need not look at what it handed on
    });
    const settled = Promise.allSettled([outcome]).then(([result]) => result);
    void settled.then(() => resolve());
    if (!item.notify) outcomes.push(settled);
    return promise;
  });
  await Promise.all(ready);
  left = true;
  const sent = await Promise.allSettled([send(arrived.map(({ item }) => item))]);
  const results = sent[0].status === 'fulfilled' ? sent[0].value : undefined;
  let next = 0;
  for (const { item, settle } of arrived) {
    const result = results === undefined ? sent[0] : item.notify ? undefined : results[next++];
    settle(result?.status === 'rejected' ? Promise.reject(result.reason as Error) : result?.value);
  }
  if (sent[0].status === 'rejected') throw sent[0].reason;
  return Promise.all(outcomes);
}
