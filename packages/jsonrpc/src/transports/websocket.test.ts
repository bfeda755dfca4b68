import { expect, test, vi } from 'vitest';
import { ErrorCode, Peer, webSocketTransport } from '../index.ts';

/** A WebSocket by hand. */
class FakeSocket extends EventTarget {
  readyState = 0;
  bufferedAmount = 0;
  binaryType = 'blob';
  sent: string[] = [];
  paused = false;
  send(text: string): void {
    this.sent.push(text);
  }
  close(): void {
    this.readyState = 3;
    this.dispatchEvent(Object.assign(new Event('close'), { code: 1000, reason: '' }));
  }
  open(): void {
    this.readyState = 1;
    this.dispatchEvent(new Event('open'));
  }
  receive(data: unknown): void {
    this.dispatchEvent(Object.assign(new Event('message'), { data }));
  }
}

test('what is sent while connecting leaves when the socket opens, one message each', async () => {
  const socket = new FakeSocket();
  const peer = new Peer(webSocketTransport(socket));
  await peer.notify('a');
  await peer.notify('b');
  expect(socket.sent).toEqual([]);
  socket.open();
  expect(socket.sent.map((text) => JSON.parse(text).method)).toEqual(['a', 'b']);
  await peer.close();
});

test('binary messages are UTF-8; invalid ones and long ones are answered as such', async () => {
  const socket = new FakeSocket();
  const peer = new Peer(webSocketTransport(socket), { maxMessageBytes: 100, log: () => {} });
  peer.method('echo', (params) => params);
  socket.open();
  socket.receive(
    Uint8Array.from(Buffer.from('{"jsonrpc":"2.0","method":"echo","params":["é"],"id":1}')).buffer,
  );
  socket.receive(Uint8Array.of(0xff, 0xfe).buffer);
  socket.receive('x'.repeat(101));
  await expect.poll(() => socket.sent.length).toBe(3);
  expect(socket.sent.map((text) => JSON.parse(text) as unknown)).toMatchObject([
    { id: 1, result: ['é'] },
    { id: null, error: { code: ErrorCode.ParseError } },
    { id: null, error: { code: ErrorCode.InvalidRequest, data: { limit: 100 } } },
  ]);
  await peer.close();
});

test('writers wait while the socket has more than it can send', async () => {
  const socket = new FakeSocket();
  const peer = new Peer(webSocketTransport(socket));
  socket.open();
  socket.bufferedAmount = 2 << 20;
  let accepted = false;
  const notified = peer.notify('a').then(() => (accepted = true));
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(accepted).toBe(false);
  socket.bufferedAmount = 0;
  await notified;
  await peer.close();
});

test('writers wait for a socket that takes long to open', async () => {
  const socket = new FakeSocket();
  const peer = new Peer(webSocketTransport(socket));
  let accepted = false;
  const notified = peer.notify('a', ['x'.repeat(2 << 20)]).then(() => (accepted = true));
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(accepted).toBe(false);
  socket.open();
  await notified;
  expect(socket.sent).toHaveLength(1);
  await peer.close();
});

test('closing before the socket is open sends what was accepted', async () => {
  const socket = new FakeSocket();
  const peer = new Peer(webSocketTransport(socket));
  await peer.notify('a');
  const closed = peer.close();
  socket.open();
  await closed;
  expect(socket.sent).toHaveLength(1);
});

test('what had arrived before the other side closed is taken', async () => {
  const socket = new FakeSocket();
  const peer = new Peer(webSocketTransport(socket));
  let heard = 0;
  peer.notification('note', () => heard++);
  socket.open();
  for (let n = 0; n < 2000; n++) socket.receive('{"jsonrpc":"2.0","method":"note"}');
  socket.close();
  expect(await peer.closed).toMatchObject({ kind: 'ended' });
  expect(heard).toBe(2000);
});

test('a socket that cannot be paused is closed when more waits than is read; what waits is taken', async () => {
  const socket = new FakeSocket();
  const closed = vi.spyOn(socket, 'close');
  const peer = new Peer(webSocketTransport(socket), { maxMessageBytes: 1 << 16, maxInFlight: 1 });
  let ran = 0;
  peer.method('slow', () => {
    ran++;
    return new Promise(() => {});
  });
  socket.open();
  const text = (id: number) =>
    JSON.stringify({ jsonrpc: '2.0', method: 'slow', id, params: ['x'.repeat(20_000)] });
  for (let id = 0; id < 100 && socket.readyState === 1; id++) socket.receive(text(id));
  expect(closed).toHaveBeenCalledExactlyOnceWith(4013, 'more was sent than is read');
  expect(await peer.closed).toMatchObject({
    kind: 'error',
    message: expect.stringContaining('cannot be paused'),
  });
  expect(ran).toBe(1);
});

test('a socket that fails says why', async () => {
  const socket = new FakeSocket();
  const peer = new Peer(webSocketTransport(socket));
  socket.dispatchEvent(Object.assign(new Event('error'), { message: 'connection refused' }));
  socket.close();
  expect(await peer.closed).toEqual({ kind: 'error', message: 'the WebSocket failed: connection refused' });
});

test('nobody listening is told as such, although the global WebSocket gives no reason', async () => {
  const peer = new Peer(webSocketTransport(new WebSocket('ws://127.0.0.1:1')));
  await expect(peer.call('x')).rejects.toMatchObject({
    code: ErrorCode.Unavailable,
    message: 'the WebSocket failed: it could not be opened',
  });
});
