/** A long run with cancellations and a slow reader: nothing grows, nothing is left. A million calls with CHASSIS_FULL=1. */
import { duplexPair } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { Peer, RpcError, streamTransport } from '../src/index.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const total = process.env.CHASSIS_FULL === '1' ? 1_000_000 : 20_000;

/** A small generator of pseudo-random numbers below `n`: the run is the same every time. */
function random(seed: number): (n: number) => number {
  let state = seed;
  return (n) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

async function heap(): Promise<number> {
  for (let turn = 0; turn < 3; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
  }
  return process.memoryUsage().heapUsed;
}

test(`${total} calls with random cancellations and a slow reader`, { timeout: 900_000 }, async () => {
  const below = random(7);
  const [a, b] = duplexPair({ highWaterMark: 4096 });
  const problems: unknown[] = [];
  const log = (entry: { level: string }) => entry.level === 'debug' || problems.push(entry);
  const server = new Peer(streamTransport(b, b), { log, maxInFlight: 32 });
  const client = new Peer(streamTransport(a, a), { log });
  let late = 0;
  server.method('echo', (params) => params);
  server.method('later', async (params) => {
    await new Promise((resolve) => setImmediate(resolve));
    if (++late % 1000 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    return params;
  });
  // Now and then this side stops reading: the other has to wait, and does not fill memory.
  const stall = setInterval(() => {
    a.pause();
    setTimeout(() => a.resume(), 5);
  }, 50);

  let [begun, answered, cancelled] = [0, 0, 0];
  const worker = async (): Promise<void> => {
    while (begun < total) {
      const n = ++begun;
      const abort = below(10) === 0 ? new AbortController() : undefined;
      const call = client.call(
        below(2) ? 'echo' : 'later',
        { n, pad: 'x'.repeat(below(200)) },
        { signal: abort?.signal },
      );
      if (abort && below(2)) queueMicrotask(() => abort.abort());
      else if (abort) setImmediate(() => abort.abort());
      try {
        expect(await call).toMatchObject({ n });
        answered++;
      } catch (error) {
        if (!(error instanceof RpcError) || !abort) throw error;
        cancelled++;
      }
    }
  };
  const share = total / 4;
  const sizes: number[] = [];
  const watch = async (): Promise<void> => {
    for (let mark = share; mark <= total; mark += share) {
      while (begun < mark) await new Promise((resolve) => setTimeout(resolve, 10));
      sizes.push(await heap());
    }
  };
  await Promise.all([watch(), ...Array.from({ length: 64 }, worker)]);
  clearInterval(stall);
  a.resume();
  expect([answered + cancelled, client.open.calls]).toEqual([begun, 0]);
  expect(cancelled).toBeGreaterThan(total / 50);
  await client.call('echo', []);
  await expect.poll(() => server.open.requests).toBe(0);
  expect(problems).toEqual([]);
  const [first = 0, ...later] = sizes;
  expect(Math.max(...later) - first).toBeLessThan(8 << 20);
  await client.close();
});
