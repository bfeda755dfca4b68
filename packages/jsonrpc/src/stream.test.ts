import { expect, test } from 'vitest';
import { connected } from '../test/support.ts';
import { ErrorCode } from './index.ts';

function counting() {
  const { client, server } = connected();
  const stopped = Promise.withResolvers<void>();
  server.method('count', async ({ to }: { to: number }, context) => {
    context.signal.addEventListener('abort', () => stopped.resolve());
    for (let n = 1; n <= to; n++) {
      context.progress({ n });
      if (n % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    if (to < 0) throw Object.assign(new Error('below zero'), { code: 1, data: null });
    return 'counted';
  });
  return { client, server, stopped: stopped.promise };
}

test('progress comes piece by piece, then the result', async () => {
  const { client } = counting();
  const stream = client.stream('count', { to: 25 });
  const seen: unknown[] = [];
  for await (const { n } of stream as AsyncIterable<{ n: number }>) seen.push(n);
  expect(seen).toEqual(Array.from({ length: 25 }, (_, n) => n + 1));
  expect(await stream.result).toBe('counted');
});

test('leaving the loop cancels the call', async () => {
  const { client, stopped } = counting();
  const stream = client.stream('count', { to: 1e9 });
  for await (const _part of stream) break;
  await stopped;
  await expect(stream.result).rejects.toMatchObject({ code: ErrorCode.Cancelled });
});

test('a failing call fails the loop', async () => {
  const { client } = counting();
  const loop = async () => {
    for await (const _part of client.stream('count', { to: -1 }));
  };
  await expect(loop()).rejects.toMatchObject({ code: 1 });
});

test('a reader that never reads does not fill memory', async () => {
  const { client } = counting();
  const stream = client.stream('count', { to: 1e9 });
  await expect(stream.result).rejects.toMatchObject({ code: ErrorCode.Cancelled, message: /not read/ });
});

test('an iterator left while it waits, or before its first step, cancels at once', async () => {
  const { client, server } = connected();
  server.method('silent', (_params, { signal }) => {
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  });
  const waiting = client.stream('silent');
  const iterator = waiting[Symbol.asyncIterator]();
  const next = iterator.next();
  await iterator.return?.();
  expect(await next).toEqual({ done: true, value: undefined });
  const untouched = client.stream('silent');
  await untouched[Symbol.asyncIterator]().return?.();
  for (const { result } of [waiting, untouched])
    await expect(result).rejects.toMatchObject({ code: ErrorCode.Cancelled });
  expect(client.open.calls).toBe(0);
  await expect.poll(() => server.open.requests).toBe(0);
});

test('two readers share the pieces, and both come to an end', async () => {
  const { client } = counting();
  const stream = client.stream('count', { to: 25 });
  const read = async () => {
    const seen: unknown[] = [];
    for await (const { n } of stream as AsyncIterable<{ n: number }>) seen.push(n);
    return seen;
  };
  const [one, other] = await Promise.all([read(), read()]);
  const all = [...one, ...other].sort((a, b) => Number(a) - Number(b));
  expect(all).toEqual(Array.from({ length: 25 }, (_, n) => n + 1));
});

test('a failing onProgress costs the reader nothing', async () => {
  const { client } = counting();
  const onProgress = () => {
    throw new Error('of the application');
  };
  const seen: unknown[] = [];
  for await (const part of client.stream('count', { to: 3 }, { onProgress })) seen.push(part);
  expect(seen).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
});

test('an outer signal cancels, also one that is none of the platform and one that was aborted before', async () => {
  const { client, stopped } = counting();
  const listeners = new Set<() => void>();
  const signal = {
    aborted: false,
    reason: 'enough',
    addEventListener: (_type: 'abort', listener: () => void) => void listeners.add(listener),
    removeEventListener: (_type: 'abort', listener: () => void) => void listeners.delete(listener),
  };
  const stream = client.stream('count', { to: 1000 }, { signal });
  setImmediate(() => {
    signal.aborted = true;
    for (const listener of [...listeners]) listener();
  });
  await expect(stream.result).rejects.toMatchObject({ code: ErrorCode.Cancelled, message: 'enough' });
  await stopped;
  expect(listeners.size).toBe(0);
  const late = client.stream('count', { to: 1 }, { signal: AbortSignal.abort('before') });
  await expect(late.result).rejects.toMatchObject({ code: ErrorCode.Cancelled, message: 'before' });
});
