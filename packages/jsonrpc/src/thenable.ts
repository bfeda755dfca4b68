/**
 * A promise of what other code has not finished yet; undefined if it is a value already.
 *
 * Promise: a thenable of another library may throw, settle twice, or both: what is given back settles once.
 */
export function promiseOf<T>(result: T): Promise<Awaited<T>> | undefined {
  if (typeof result !== 'object' || result === null) return undefined;
  return typeof (result as { then?: unknown }).then === 'function' ? Promise.resolve(result) : undefined;
}
