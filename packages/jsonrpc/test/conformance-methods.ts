/** The methods that the conformance cases call. */
import { Methods, RpcError } from '../src/index.ts';

export function conformanceMethods(): Methods {
  const positional = ['minuend', 'subtrahend'];
  return new Methods()
    .method('subtract', { positional }, (params) => {
      const { minuend, subtrahend } = params as { minuend: number; subtrahend: number };
      return minuend - subtrahend;
    })
    .method('sum', (numbers: number[]) => numbers.reduce((sum, n) => sum + n, 0))
    .method('get_data', () => ['hello', 5])
    .notification('update', () => {})
    .notification('notify_hello', () => {})
    .notification('notify_sum', () => {})
    .method('echo', (params) => params)
    .method('length', ({ s }: { s: string }) => s.length)
    .method('slow', async ({ ms, tag }: { ms: number; tag: string }) => {
      await new Promise((resolve) => setTimeout(resolve, ms));
      return tag;
    })
    .method('polluted', () => 'polluted' in {})
    .method('throw_error', () => {
      throw new Error('a secret of the server');
    })
    .method('throw_string', () => {
      throw anything('text');
    })
    .method('throw_undefined', () => {
      throw anything(undefined);
    })
    .method('throw_coded', () => {
      throw new RpcError(4242, 'coded', { why: 'because' });
    })
    .method('return_undefined', () => undefined)
    .method('return_bigint', () => 1n)
    .method('return_cyclic', () => {
      const cyclic: { self?: unknown } = {};
      cyclic.self = cyclic;
      return cyclic;
    });
}

/** Handlers written in JavaScript throw what they like. */
function anything(value: unknown): Error {
  return value as Error;
}
