import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type FramingName, framingOf } from './framing.ts';

/** Everything a decoder makes of a stream that arrives in these pieces: texts, or kinds of damage. */
function decode(name: FramingName, pieces: readonly Uint8Array[], limit = 1 << 20): string[] {
  const decoder = framingOf(name).decoder(limit);
  const got: string[] = [];
  const drain = () => {
    for (let next = decoder.next(); next !== undefined; next = decoder.next()) {
      got.push(typeof next === 'string' ? next.replace(/\n$/, '') : `<${next.kind}>`);
    }
  };
  for (const piece of pieces) {
    decoder.push(Buffer.from(piece));
    drain();
  }
  decoder.end();
  drain();
  return got;
}

function chopped(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return at.slice(1).map((to, i) => bytes.subarray(at[i], to));
}

const bytewise = (bytes: Uint8Array) =>
  chopped(
    bytes,
    Array.from(bytes, (_, i) => i),
  );

describe.each(['ndjson', 'content-length'] as const)('%s', (name) => {
  const { frame } = framingOf(name);
  const messages = fc.array(
    fc.jsonValue().map((value) => JSON.stringify(value)),
    { maxLength: 8 },
  );

  test('any chopping of the stream gives the same messages', () => {
    fc.assert(
      fc.property(messages, fc.array(fc.nat(), { maxLength: 20 }), (texts, cuts) => {
        const stream = Buffer.from(texts.map(frame).join(''));
        expect(decode(name, chopped(stream, cuts))).toEqual(texts);
      }),
    );
  });

  test('any chopping of any bytes gives the same messages and the same damage', () => {
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc
        .constantFrom('\n', '\r\n\r\n', 'Content-Length: 5\r\n\r\n', '{"a":1}\n', '   \n', '\ufffd\n')
        .map((s) => Buffer.from(s)),
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 12 }),
        fc.array(fc.nat(), { maxLength: 20 }),
        (parts, cuts) => {
          const stream = Buffer.concat(parts);
          const whole = decode(name, [stream], 30);
          expect(decode(name, chopped(stream, cuts), 30)).toEqual(whole);
          expect(decode(name, bytewise(stream), 30)).toEqual(whole);
        },
      ),
    );
  });

  test('a long message in small pieces arrives whole', () => {
    const text = JSON.stringify('né漢😀'.repeat(40_000));
    const bytes = Buffer.from(frame(text));
    const pieces = Array.from({ length: Math.ceil(bytes.length / 37) }, (_, i) =>
      bytes.subarray(i * 37, i * 37 + 37),
    );
    expect(decode(name, pieces)).toEqual([text]);
  });

  test('a chunk pushed while others wait is read after them', () => {
    const decoder = framingOf(name).decoder(1000);
    for (const text of ['1', '2', '3']) decoder.push(Buffer.from(frame(text)));
    expect(
      [decoder.next(), decoder.next(), decoder.next(), decoder.next()].map(
        (m) => m && JSON.parse(m as string),
      ),
    ).toEqual([1, 2, 3, undefined]);
  });
});

describe('ndjson', () => {
  const lines = (...texts: string[]) => [Buffer.from(texts.join('\n'))];

  test('only byte 0x0A ends a line; blank lines and a missing last newline are fine', () => {
    expect(decode('ndjson', lines('"a\u2028b\u2029c\u0085d"', '', ' \t\r', '1\r', '2'))).toEqual([
      '"a\u2028b\u2029c\u0085d"',
      '1\r',
      '2',
    ]);
  });

  test('a line of other white space is no blank line', () => {
    expect(decode('ndjson', lines('\u00a0', ''))).toEqual(['\u00a0']);
  });

  test('a line over the limit is reported once and skipped, in one chunk or in many', () => {
    const stream = Buffer.from(`1\n"${'x'.repeat(100)}"\n2\n`);
    for (const pieces of [[stream], bytewise(stream)]) {
      expect(decode('ndjson', pieces, 50)).toEqual(['1', '<size>', '2']);
    }
  });

  test('a line of exactly the limit passes', () => {
    const stream = Buffer.from(`"${'x'.repeat(48)}"\n"${'x'.repeat(49)}"\n`);
    for (const pieces of [[stream], bytewise(stream)]) {
      expect(decode('ndjson', pieces, 50)).toEqual([`"${'x'.repeat(48)}"`, '<size>']);
    }
  });

  test('invalid UTF-8 costs its own line only, and a real U+FFFD is a character', () => {
    const bad = Buffer.concat([Buffer.from('1\n"'), Buffer.of(0xff, 0xfe), Buffer.from('"\n"\ufffd"\n2\n')]);
    expect(decode('ndjson', [bad])).toEqual(['1', '<encoding>', '"\ufffd"', '2']);
  });
});

describe('content-length', () => {
  const frame = (text: string) => `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;

  test.each([
    ['LF-only header lines', 'Content-Length: 1\n\n1'],
    [
      'any case, other headers, no space',
      `content-type: a/b; charset="utf-8"\r\nX: y\r\nCONTENT-LENGTH:1\r\n\r\n1`,
    ],
    ['stray line ends between frames', `\r\n${frame('1')}\n\r\n\n`],
    ['the same length twice', 'Content-Length: 1\r\nContent-Length: 1\r\n\r\n1'],
  ])('reads %s', (_what, text) => {
    expect(decode('content-length', bytewise(Buffer.from(`${text}${frame('2')}`)))).toEqual(['1', '2']);
  });

  test.each([
    ['negative', 'Content-Length: -1\r\n\r\n'],
    ['no number', 'Content-Length: abc\r\n\r\n{}'],
    ['fractional', 'Content-Length: 1.5\r\n\r\n'],
    ['contradictory', 'Content-Length: 1\r\nContent-Length: 2\r\n\r\n1'],
    ['over the limit', 'Content-Length: 9999999\r\n\r\n'],
    ['absurd', 'Content-Length: 99999999999999999999\r\n\r\n'],
    ['missing', 'Content-Type: a/b\r\n\r\n'],
    ['in another charset', 'Content-Type: a/b; charset=utf-16\r\nContent-Length: 1\r\n\r\n1'],
    ['not a header at all', '{"jsonrpc":"2.0"}\r\n\r\n'],
    ['endless', 'x'.repeat(10_000)],
  ])('a header that is %s ends the stream', (_what, text) => {
    const stream = Buffer.from(`${frame('1')}${text}${frame('2')}`);
    for (const pieces of [[stream], bytewise(stream)]) {
      expect(decode('content-length', pieces)).toEqual(['1', '<header>']);
    }
  });

  test('length 0 is an empty message', () => {
    expect(decode('content-length', [Buffer.from(`Content-Length: 0\r\n\r\n${frame('1')}`)])).toEqual([
      '',
      '1',
    ]);
    expect(decode('content-length', [Buffer.from('Content-Length: 0\r\n\r\n')])).toEqual(['']);
  });

  test('input that ends inside a message is a cut message', () => {
    expect(decode('content-length', [Buffer.from('Content-Length: 10\r\n\r\n123')])).toEqual(['<cut>']);
    expect(decode('content-length', [Buffer.from('Content-Le')])).toEqual(['<cut>']);
    expect(decode('content-length', [Buffer.from(`${frame('1')}\r\n`)])).toEqual(['1']);
  });
});
