import { Duplex, duplexPair, PassThrough, Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { ErrorCode, Peer, streamTransport } from '../index.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('writing', () => {
  test('messages of one turn leave in one write; a call that is alone leaves at once', async () => {
    const writes: string[] = [];
    const writable = new Writable({
      decodeStrings: false,
      write: (text: string, _encoding, done) => {
        writes.push(text);
        done();
      },
    });
    const peer = new Peer(streamTransport(new PassThrough(), writable));
    peer.call('first').catch(() => {});
    expect(writes).toHaveLength(1);
    for (let n = 0; n < 50; n++) void peer.notify('note', { n });
    expect(writes).toHaveLength(1);
    await turn();
    expect(writes).toHaveLength(2);
    expect(writes[1]?.trim().split('\n')).toHaveLength(50);
    await peer.close();
  });

  test('writers wait for a side that does not read, with one listener for all, and are told when it is gone', async () => {
    const stuck = new Duplex({ read() {}, write() {}, highWaterMark: 1000 });
    const peer = new Peer(streamTransport(stuck, stuck));
    await peer.notify('first', { pad: 'x'.repeat(1000) });
    const settled: string[] = [];
    const writers = Array.from({ length: 2000 }, (_, n) =>
      peer.notify('note', { n, pad: 'x'.repeat(1000) }).then(
        () => settled.push('accepted'),
        (error: { code: number }) => settled.push(`${error.code}`),
      ),
    );
    await turn();
    expect(settled.length).toBeLessThan(500);
    expect(stuck.listenerCount('drain')).toBe(1);
    stuck.destroy(new Error('gone'));
    await Promise.all(writers);
    expect(settled.filter((one) => one === `${ErrorCode.Unavailable}`).length).toBeGreaterThan(1500);
    expect(await peer.closed).toMatchObject({ kind: 'error', message: expect.stringContaining('gone') });
  });

  test('a failing write ends the connection once, with the reason', async () => {
    const broken = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done(new Error('EPIPE')) });
    const peer = new Peer(streamTransport(broken, broken));
    const calls = await Promise.allSettled([peer.call('a'), peer.call('b'), peer.notify('c')]);
    expect(calls.slice(0, 2)).toMatchObject([
      { reason: { data: { kind: 'error' } } },
      { reason: { code: ErrorCode.Unavailable } },
    ]);
    expect((await peer.closed).message).toBe('writing failed: EPIPE');
  });
});

describe('reading', () => {
  test('stops while too many requests wait, and goes on when there is room', async () => {
    const [near, far] = duplexPair();
    const release: (() => void)[] = [];
    const peer = new Peer(streamTransport(far, far), { maxInFlight: 2 });
    peer.method('wait', () => new Promise<void>((resolve) => release.push(resolve)));
    let answers = 0;
    near.on('data', (chunk: Buffer) => (answers += chunk.toString().split('\n').length - 1));
    let written = 0;
    const pad = 'x'.repeat(10_000);
    const write = () =>
      near.write(`{"jsonrpc":"2.0","method":"wait","params":{"pad":"${pad}"},"id":${++written}}\n`);
    for (let n = 0; n < 300; n++) write();
    for (let n = 0; n < 20; n++) await turn();
    expect(peer.open.requests).toBeLessThan(20);
    expect(near.writableLength).toBeGreaterThan(2_000_000);
    while (answers < written) {
      for (const done of release.splice(0)) done();
      await turn();
    }
    expect(peer.open.requests).toBe(0);
    near.destroy();
  });

  test('a stream that fails rejects what is pending, with the reason', async () => {
    const input = new PassThrough();
    const peer = new Peer(streamTransport(input, new PassThrough()));
    const calls = Promise.allSettled([peer.call('a'), peer.call('b')]);
    input.destroy(new Error('cable cut'));
    expect(await calls).toMatchObject(Array(2).fill({ reason: { message: 'reading failed: cable cut' } }));
  });

  test('input that ends rejects what is pending at once, and still gets its answers', async () => {
    const [near, far] = duplexPair();
    const peer = new Peer(streamTransport(far, far));
    peer.method('later', async () => {
      await turn();
      return 'answer';
    });
    const pending = peer.call('never answered');
    let out = '';
    near.on('data', (chunk: Buffer) => (out += chunk.toString()));
    near.end('{"jsonrpc":"2.0","method":"later","id":1}');
    await expect(pending).rejects.toMatchObject({ code: ErrorCode.Unavailable, data: { kind: 'ended' } });
    expect(await peer.closed).toMatchObject({ kind: 'ended' });
    expect(out).toContain('"result":"answer"');
  });

  test.each([2 ** 31, Number.POSITIVE_INFINITY])(
    'a deadline of %d ms, longer than any timer, cuts off no last answer',
    async (timeoutMs) => {
      const [near, far] = duplexPair();
      const peer = new Peer(streamTransport(far, far), { timeoutMs });
      peer.method('later', () => new Promise((resolve) => setTimeout(() => resolve('answer'), 50)));
      let out = '';
      near.on('data', (chunk: Buffer) => (out += chunk.toString()));
      near.end('{"jsonrpc":"2.0","method":"later","id":1}');
      expect(await peer.closed).toMatchObject({ kind: 'ended' });
      expect(out).toContain('"result":"answer"');
    },
  );

  test('a header that cannot be trusted is answered, then the connection closes with the reason', async () => {
    const [near, far] = duplexPair();
    const peer = new Peer(streamTransport(far, far, { framing: 'content-length' }), { log: () => {} });
    let out = '';
    near.on('data', (chunk: Buffer) => (out += chunk.toString()));
    near.write('Content-Length: abc\r\n\r\n{}');
    expect(await peer.closed).toMatchObject({ kind: 'error', message: expect.stringContaining('"abc"') });
    await turn();
    expect(out).toContain('"id":null,"error":{"code":-32700');
  });

  test('a message over the limit is answered with the limit, and the connection goes on', async () => {
    const [near, far] = duplexPair();
    const peer = new Peer(streamTransport(far, far), { maxMessageBytes: 100, log: () => {} });
    peer.method('echo', (params) => params);
    const lines: string[] = [];
    near.on('data', (chunk: Buffer) => lines.push(...chunk.toString().trim().split('\n')));
    near.write(`{"jsonrpc":"2.0","method":"echo","id":1,"params":["${'x'.repeat(100_000)}"]}\n`);
    near.write('{"jsonrpc":"2.0","method":"echo","id":2,"params":[1]}\n');
    await expect.poll(() => lines.length).toBe(2);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { id: null, error: { code: ErrorCode.InvalidRequest, data: { limit: 100 } } },
      { id: 2, result: [1] },
    ]);
    near.destroy();
  });
});

test('a transport serves one peer', () => {
  const transport = streamTransport(new PassThrough(), new PassThrough());
  new Peer(transport);
  expect(() => new Peer(transport)).toThrow('one peer');
});
