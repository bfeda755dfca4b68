import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type NodeRef, Rows } from './rows.ts';

test('rows come back as they were put in, through any number of saves and of those that failed', () => {
  const change = fc.record({
    push: fc.integer({ min: 0, max: 400 }),
    row: fc.array(fc.integer({ min: 0, max: 2 ** 40 }), { maxLength: 4 }),
    add: fc.nat(),
    save: fc.boolean(),
    load: fc.boolean(),
    fail: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 25 }), (changes) => {
      const saved: Buffer[] = [];
      const write = (bytes: Buffer): NodeRef => {
        saved.push(bytes);
        return { session: 'any', record: saved.length - 1, from: 1, length: bytes.length };
      };
      const read = ({ record }: NodeRef): Buffer => saved[record] as Buffer;
      const model: number[][] = [];
      let rows = new Rows(read);
      for (const { push, row, add, save, load, fail } of changes) {
        for (let i = 0; i < push; i++) {
          model.push([...row, i]);
          rows.push([...row, i]);
        }
        if (model.length > 0) {
          model[add % model.length]?.push(add);
          rows.add(add % model.length, add);
        }
        if (save || load) {
          const written = saved.length;
          const root = rows.save(write);
          rows.saved(!fail);
          if (fail) saved.fill(Buffer.alloc(0), written);
          else if (load) rows = new Rows(read, JSON.parse(JSON.stringify(root)));
        }
      }
      expect([...rows]).toEqual(model);
    }),
    { numRuns: 60 },
  );
});

test('a save writes only what is new: a hundred thousand rows in a thousand saves stay a few bytes each', () => {
  let bytes = 0;
  let record = 0;
  const rows = new Rows();
  for (let i = 0; i < 100_000; i++) {
    rows.push([i * 3, i * 3 + 1, i * 3 + 2]);
    if (i % 100 > 0) continue;
    rows.save((page) => {
      bytes += page.length;
      return { session: 's', record: record++ * 700, from: 0, length: page.length };
    });
    rows.saved(true);
  }
  // Four bytes a row, and the open page and the nodes above it a thousand times.
  expect(bytes / 100_000).toBeLessThan(12);
});
