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
