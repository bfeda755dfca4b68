import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PendingTable } from './pending.ts';

test('behaves as a Map, whatever stays open for long', () => {
  const steps = fc.array(fc.record({ settle: fc.boolean(), which: fc.nat() }), {
    maxLength: 600,
    minLength: 300,
  });
  fc.assert(
    fc.property(steps, (all) => {
      const table = new PendingTable<{ ordinal: number }>();
      const model = new Map<number, { ordinal: number }>();
      let ordinal = 0;
      for (const { settle, which } of all) {
        const open = [...model.values()];
        const item = settle ? open[which % open.length] : undefined;
        if (item) {
          table.delete(item);
          model.delete(item.ordinal);
        } else {
          // Leaps make many calls fall on one slot.
          ordinal += which % 3 === 0 ? 64 : 1;
          const added = { ordinal };
          table.add(added);
          model.set(added.ordinal, added);
        }
      }
      expect(table.size).toBe(model.size);
      expect(table.values()).toEqual([...model.values()]);
      const wrong = Array.from({ length: ordinal + 1 }, (_, n) => n).filter(
        (n) => table.get(n) !== model.get(n),
      );
      expect(wrong).toEqual([]);
    }),
    { numRuns: 50 },
  );
});

test('deleting what is not there changes nothing', () => {
  const table = new PendingTable<{ ordinal: number }>();
  table.add({ ordinal: 1 });
  table.delete({ ordinal: 1 });
  table.delete({ ordinal: 65 });
  expect(table.size).toBe(1);
});
