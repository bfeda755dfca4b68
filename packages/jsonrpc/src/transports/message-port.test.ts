import { MessageChannel } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { messagePortTransport, Peer } from '../index.ts';

test('all messages of a turn cross in one post', async () => {
  const { port1, port2 } = new MessageChannel();
  const posts: unknown[] = [];
  port2.on('message', (post) => posts.push(post));
  const peer = new Peer(messagePortTransport(port1));
  for (let n = 0; n < 10; n++) void peer.notify('note', { n });
  await expect.poll(() => posts.length).toBe(1);
  expect(posts[0]).toHaveLength(10);
  await peer.close();
});

test('a receiver that does not read makes the sender wait', async () => {
  const { port1, port2 } = new MessageChannel();
  const sender = new Peer(messagePortTransport(port1));
  const pad = 'x'.repeat(1 << 20);
  let accepted = 0;
  const sent = Array.from({ length: 12 }, () => sender.notify('note', { pad }).then(() => accepted++));
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(accepted).toBeLessThan(12);
  const receiver = new Peer(messagePortTransport(port2));
  let heard = 0;
  receiver.notification('note', () => heard++);
  await Promise.all(sent);
  await expect.poll(() => heard).toBe(12);
  await sender.close();
  expect(await receiver.closed).toMatchObject({ kind: 'ended' });
});

test('what was sent before the other side left is taken, also by a receiver that is busy', async () => {
  const { port1, port2 } = new MessageChannel();
  const receiver = new Peer(messagePortTransport(port2));
  let heard = 0;
  receiver.notification('note', () => heard++);
  const sender = new Peer(messagePortTransport(port1));
  for (let n = 0; n < 2000; n++) void sender.notify('note', {});
  await sender.close();
  expect(await receiver.closed).toMatchObject({ kind: 'ended' });
  expect(heard).toBe(2000);
});

test('a single text or a plain object from another implementation is read as a message', async () => {
  const { port1, port2 } = new MessageChannel();
  const answers: unknown[] = [];
  port2.on('message', (post: string[] | null) =>
    answers.push(...(post ?? []).map((text) => JSON.parse(text) as unknown)),
  );
  const peer = new Peer(messagePortTransport(port1));
  peer.method('echo', (params) => params);
  port2.postMessage({ jsonrpc: '2.0', method: 'echo', params: [1], id: 1 });
  port2.postMessage('{"jsonrpc":"2.0","method":"echo","params":[2],"id":2}');
  await expect
    .poll(() => answers)
    .toEqual([
      { jsonrpc: '2.0', id: 1, result: [1] },
      { jsonrpc: '2.0', id: 2, result: [2] },
    ]);
  await peer.close();
});

test('what a port can carry and JSON cannot is answered, and ends nothing', async () => {
  const { port1, port2 } = new MessageChannel();
  const codes: (number | undefined)[] = [];
  port2.on('message', (post: string[] | null) => {
    for (const text of post ?? []) codes.push((JSON.parse(text) as { error?: { code: number } }).error?.code);
  });
  const peer = new Peer(messagePortTransport(port1), { log: () => {} });
  peer.method('echo', (params) => params);
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  const odd = [undefined, 1n, cycle, Number.NaN, Number.POSITIVE_INFINITY, -1, true, new Map()];
  for (const value of odd) port2.postMessage(value);
  port2.postMessage({ jsonrpc: '2.0', method: 'echo', id: 1 });
  await expect.poll(() => codes.length).toBe(odd.length + 1);
  expect(codes).toEqual([...Array(3).fill(-32700), ...Array(5).fill(-32600), undefined]);
  await peer.close();
});
