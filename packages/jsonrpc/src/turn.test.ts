import { expect, test } from 'vitest';
import { connected } from '../test/support.ts';

test('timers fire while two peers keep each other busy in memory', async () => {
  const { client, server } = connected();
  server.method('echo', (params) => params);
  let stop = false;
  let rounds = 0;
  const busy = Array.from({ length: 64 }, async () => {
    while (!stop) {
      await client.call('echo', { rounds });
      rounds++;
    }
  });
  let ticks = 0;
  await new Promise<void>((resolve) => {
    const tick = setInterval(() => {
      if (++ticks < 5) return;
      clearInterval(tick);
      resolve();
    }, 1);
  });
  stop = true;
  await Promise.all(busy);
  expect(rounds).toBeGreaterThan(64);
});

test('a batch of expensive requests lets timers in between', async () => {
  const { client, server } = connected();
  const order: string[] = [];
  server.method('work', () => {
    const until = performance.now() + 3;
    while (performance.now() < until);
    order.push('work');
  });
  setTimeout(() => order.push('timer'), 1);
  await client.batch(Array.from({ length: 20 }, () => ({ method: 'work' })));
  expect(order.indexOf('timer')).toBeGreaterThan(-1);
  expect(order.indexOf('timer')).toBeLessThan(15);
});
