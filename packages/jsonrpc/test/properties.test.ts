/** What holds for any input. The seed and a small share by default; ten times as much with CHASSIS_FULL=1. */
import { duplexPair } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type FramingName, memoryPair, Peer, RpcError, streamTransport } from '../src/index.ts';
import { conformanceMethods } from './conformance-methods.ts';

const full = process.env.CHASSIS_FULL === '1';
const runs = (few: number) => ({ seed: 20_261_130, numRuns: full ? few * 10 : few });
const framings: FramingName[] = ['ndjson', 'content-length'];

const anyText = fc.string({
  unit: fc.oneof(
    fc.constantFrom('\u2028', '\ud800', '\udc00', '\0', '\n', '"', '\\', 'é', '😀'),
    fc.string({ unit: 'binary', maxLength: 3 }),
  ),
});
const anyJson = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(null, true, false, 0, 1.5e300, -1e-7),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0),
    fc.integer(),
    anyText,
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(
      fc.oneof(anyText, fc.constantFrom('__proto__', 'toString', 'then', 'id', 'method')),
      tie('value'),
      { maxKeys: 5 },
    ),
  ),
})).value;

test('any JSON value survives a round trip over any framing', async () => {
  for (const framing of framings) {
    const [near, far] = duplexPair();
    const server = new Peer(streamTransport(far, far, { framing }));
    server.method('echo', (params) => params);
    const client = new Peer(streamTransport(near, near, { framing }));
    await fc.assert(
      fc.asyncProperty(anyJson, async (value) => {
        const sent = JSON.stringify([value]);
        expect(JSON.stringify(await client.call('echo', [value]))).toBe(sent);
      }),
      runs(300),
    );
    await client.close();
  }
});

test('no bytes crash a peer, hang it, or make it forget how to answer', async () => {
  const fragments = fc
    .constantFrom(
      '{"jsonrpc":"2.0","method":"echo","params":[1],"id":1}',
      '{"jsonrpc":"2.0","id":1,"result":{}}',
      '{"jsonrpc":"2.0","method":"slow","params":{"ms":1,"tag":1},"id":[',
      '[[[[[[',
      'Content-Length: 3\r\n\r\n',
      '\n',
      '\r\n\r\n',
      '\ufeff',
      '"\\ud800"',
    )
    .map((text) => new Uint8Array(Buffer.from(text)));
  const junk = fc.array(fc.oneof(fragments, fc.uint8Array({ maxLength: 30 })), { maxLength: 20 });
  for (const framing of framings) {
    await fc.assert(
      fc.asyncProperty(junk, async (chunks) => {
        const [near, far] = duplexPair();
        const peer = new Peer(streamTransport(far, far, { framing }), {
          methods: conformanceMethods(),
          log: () => {},
        });
        let out = '';
        near.setEncoding('utf8').on('data', (text: string) => (out += text));
        for (const chunk of chunks) near.write(chunk);
        if (framing === 'ndjson') {
          near.write('\n{"jsonrpc":"2.0","method":"get_data","id":"still here"}\n');
          while (!out.includes('still here')) await new Promise((resolve) => setImmediate(resolve));
        }
        near.end();
        await peer.closed;
        expect(peer.open).toEqual({ calls: 0, requests: 0 });
      }),
      runs(150),
    );
  }
});

test('mutated messages get answers of the right form, one line each', async () => {
  const base = '{"jsonrpc":"2.0","method":"echo","params":{"a":[1,"x",null]},"id":"abc"}';
  const mutation = fc.array(
    fc.record({
      at: fc.nat(base.length),
      cut: fc.nat(4),
      put: fc.string({ unit: fc.constantFrom(...'{}[]":,\\0123e-ntxid '.split('')), maxLength: 3 }),
    }),
    { minLength: 1, maxLength: 3 },
  );
  const [near, far] = memoryPair();
  new Peer(far, { methods: conformanceMethods(), log: () => {} });
  const answers: unknown[] = [];
  let arrived = (): void => {};
  near.start(
    {
      message: (text) => {
        answers.push(JSON.parse(text));
        arrived();
        return true;
      },
      damaged: () => true,
      drained: () => {},
      ended: () => {},
      closed: () => {},
    },
    1 << 20,
  );
  await fc.assert(
    fc.asyncProperty(mutation, async (changes) => {
      let text = base;
      for (const { at, cut, put } of changes) text = text.slice(0, at) + put + text.slice(at + cut);
      answers.length = 0;
      near.send(text, true);
      near.send('{"jsonrpc":"2.0","method":"get_data","id":"end"}', true);
      const ended = () => answers.some((answer) => (answer as { id?: unknown }).id === 'end');
      while (!ended()) await new Promise<void>((resolve) => (arrived = resolve));
      expect(answers.length).toBeLessThanOrEqual(2);
      for (const answer of answers.flat() as Record<string, unknown>[]) {
        expect(Object.keys(answer).sort()).toEqual(
          ['id', 'jsonrpc', 'result' in answer ? 'result' : 'error'].sort(),
        );
      }
    }),
    runs(2000),
  );
});

test('every call settles once and with its own answer, under any delays, cancellations, batches and closings', async () => {
  const step = fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        kind: fc.constant('call' as const),
        ms: fc.nat(5),
        abortAt: fc.option(fc.nat(5)),
        timeoutMs: fc.option(fc.integer({ min: 1, max: 6 })),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('batch' as const),
        ms: fc.nat(5),
        size: fc.integer({ min: 1, max: 8 }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(3) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('close' as const), near: fc.boolean() }) },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 40 }),
      fc.integer({ min: 1, max: 4 }),
      async (steps, maxInFlight) => {
        const [a, b] = duplexPair();
        const log = () => {};
        const client = new Peer(streamTransport(a, a), { log });
        const server = new Peer(streamTransport(b, b), { log, maxInFlight });
        server.method('later', async ({ ms, tag }: { ms: number; tag: number }) => {
          if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
          return tag;
        });
        let tag = 0;
        const outcomes: Promise<void>[] = [];
        const check = (expected: number, result: PromiseSettledResult<unknown>): void => {
          if (result.status === 'fulfilled') expect(result.value).toBe(expected);
          else expect(result.reason).toBeInstanceOf(RpcError);
        };
        for (const s of steps) {
          if (s.kind === 'wait') await new Promise((resolve) => setTimeout(resolve, s.ms));
          else if (s.kind === 'close') void (s.near ? client : server).close();
          else if (s.kind === 'batch') {
            const first = tag + 1;
            tag += s.size;
            const items = Array.from({ length: s.size }, (_, n) => ({
              method: 'later',
              params: { ms: s.ms, tag: first + n },
            }));
            outcomes.push(
              client.batch(items).then(
                (results) => {
                  for (const [n, result] of results.entries()) check(first + n, result);
                },
                (error: unknown) => expect(error).toBeInstanceOf(RpcError),
              ),
            );
          } else {
            const own = ++tag;
            const signal = s.abortAt === null ? undefined : AbortSignal.timeout(s.abortAt);
            const call = client.call(
              'later',
              { ms: s.ms, tag: own },
              { signal, timeoutMs: s.timeoutMs ?? undefined },
            );
            outcomes.push(Promise.allSettled([call]).then(([result]) => check(own, result)));
          }
        }
        await Promise.all(outcomes);
        expect(client.open.calls).toBe(0);
        await Promise.all([client.close(), server.close()]);
        expect(server.open.requests).toBe(0);
      },
    ),
    runs(60),
  );
});
