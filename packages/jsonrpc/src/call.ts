import { ErrorCode, RpcError } from './errors.ts';

/** What a call uses of an `AbortSignal`. Making one costs as much as a short call; a program may bring something cheaper. */
export interface Abortable {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once: true }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** What a caller may say about one call. */
export interface CallOptions {
  /** Deadline of this call in milliseconds instead of the peer's; 0 for none. */
  readonly timeoutMs?: number | undefined;
  /** Cancels the call: it rejects at once, and the other side is told. */
  readonly signal?: Abortable | undefined;
  /** Called with the data of each progress notification, in order, before the call settles. */
  readonly onProgress?: ((data: unknown) => void) | undefined;
  /** Numbers in the result that a double would change arrive as `JSON.rawJSON` values. */
  readonly exact?: boolean | undefined;
}

/** What is wrong with the items of a batch; a program without types may pass anything. */
export function wrongItems(items: unknown): RpcError | undefined {
  if (!Array.isArray(items)) {
    return new RpcError(ErrorCode.InvalidRequest, 'a batch is an array of calls and notifications');
  }
  const at = items.findIndex((item) => typeof item !== 'object' || item === null);
  if (at < 0) return undefined;
  return new RpcError(ErrorCode.InvalidRequest, `item ${at} of the batch must be an object with a method`);
}

/** One element of a batch. */
export interface BatchItem {
  readonly method: string;
  /** An object or an array. */
  readonly params?: unknown;
  /** A notification: it has no result. */
  readonly notify?: boolean;
}
