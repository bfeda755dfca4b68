import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Chain } from './chain.ts';
import { GENESIS, LineEncoder } from './line.ts';

function chained(count: number, from = 0, previous = GENESIS): Buffer[] {
  const encoder = new LineEncoder('s', previous);
  return Array.from({ length: count }, (_, i) => {
    const data = `{"text":"note ${from + i}","author":"me"}`;
    return Buffer.from(encoder.encode(from + i, 1000 + i, 'note.added', undefined, data).subarray(0, -1));
  });
}

const problems = (lines: readonly Buffer[]): (string | undefined)[] => {
  const chain = new Chain();
  return lines.map((line) => chain.check(line).problem?.kind);
};

test('an unharmed log has no problems, and the hash is the one of the specification', async () => {
  const lines = chained(5);
  expect(problems(lines)).toEqual([undefined, undefined, undefined, undefined, undefined]);
  const { createHash } = await import('node:crypto');
  const text = String(lines[0]);
  const body = text.slice(0, text.indexOf(',"hash":'));
  expect(text).toContain(createHash('sha256').update(Buffer.alloc(32)).update(body).digest('hex'));
});

test('a flipped bit is reported at its line, and the lines after it are whole', () => {
  const lines = chained(6);
  const bits = lines[0]?.length ?? 0;
  fc.assert(
    fc.property(fc.nat(4), fc.nat(bits * 8 - 1), (at, bit) => {
      const copy = lines.map((line) => Buffer.from(line));
      const line = copy[at] as Buffer;
      const byte = Math.min(bit >> 3, line.length - 1);
      line[byte] = (line[byte] as number) ^ (1 << (bit & 7));
      const chain = new Chain();
      const checked = copy.map((one) => chain.check(one));
      for (const [i, one] of checked.entries())
        expect([i, one.whole, one.problem === undefined]).toEqual([i, i !== at, i !== at]);
    }),
    { numRuns: 1000 },
  );
});

test('a damaged line right behind another is no more trusted than that one', () => {
  const lines = chained(8);
  fc.assert(
    fc.property(
      fc.nat(4),
      fc.integer({ min: 2, max: 3 }),
      fc.array(fc.nat(), { minLength: 3, maxLength: 3 }),
      (at, count, places) => {
        const copy = lines.map((line) => Buffer.from(line));
        for (let i = 0; i < count; i++) {
          const line = copy[at + i] as Buffer;
          // In the text of the note: number, type and hash of the line stay.
          const byte = line.indexOf('note ', line.indexOf('"data"')) + ((places[i] as number) % 5);
          line[byte] = (line[byte] as number) ^ 1;
        }
        const chain = new Chain();
        const checked = copy.map((line) => chain.check(line));
        for (const [i, one] of checked.entries())
          expect([i, one.whole]).toEqual([i, i < at || i >= at + count]);
      },
    ),
  );
});

test('behind a line of which nothing is left, or behind a hole, the next one is taken', () => {
  const lines = chained(6) as [Buffer, Buffer, Buffer, Buffer, Buffer, Buffer];
  const wiped = lines.map((line, i) => (i === 2 ? Buffer.alloc(line.length) : line));
  expect(problems(wiped)).toEqual([undefined, undefined, 'parse', 'gap', undefined, undefined]);
  const flipped = Buffer.from(String(lines[1]).replace('note 1', 'note 7'));
  expect(problems([lines[0], flipped, lines[4], lines[5]])).toEqual([undefined, 'hash', 'gap', undefined]);
});

test('a missing line, a repeated number and an inserted line are named', () => {
  const lines = chained(6) as [Buffer, Buffer, Buffer, Buffer, Buffer, Buffer];
  expect(problems(lines.toSpliced(2, 1))).toEqual([undefined, undefined, 'gap', undefined, undefined]);
  // Two writers: both wrote an event 3 after event 2.
  const other = new LineEncoder('s', JSON.parse(String(lines[2])).hash);
  const twin = Buffer.from(other.encode(3, 1, 'note.added', undefined, '{}').subarray(0, -1));
  const chain = new Chain();
  const checked = lines.toSpliced(4, 0, twin).map((line) => chain.check(line));
  expect(checked.map(({ problem }) => problem?.kind)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
    'duplicate',
    undefined,
    undefined,
  ]);
  expect(checked.every(({ whole }) => whole)).toBe(true);
  expect(problems([lines[0], lines[1], lines[1], lines[2]])).toEqual([
    undefined,
    undefined,
    'duplicate',
    undefined,
  ]);
  expect(problems([lines[0], Buffer.from('{"hello":1}'), lines[1]])).toEqual([undefined, 'parse', undefined]);
});

test('a block of zero bytes costs the events under it and no other', () => {
  const lines = chained(6) as [Buffer, Buffer, Buffer, Buffer, Buffer, Buffer];
  const zeros = Buffer.concat([Buffer.alloc(300), lines[3].subarray(40)]);
  expect(problems([lines[0], lines[1], zeros, lines[4], lines[5]])).toEqual(
    [undefined, undefined, 'hash', undefined, undefined].map((kind, i) => (i === 2 ? 'parse' : kind)),
  );
});
