import fc from 'fast-check';
import { expect, test } from 'vitest';
import { smallestFailing } from './smallest-failing.ts';

test('finds exactly those that are needed for the check to fail, however many there are', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 40 }),
      fc.array(fc.nat(), { minLength: 1, maxLength: 4 }),
      async (count, picks) => {
        const all = Array.from({ length: count }, (_, i) => i);
        const culprits = [...new Set(picks.map((pick) => pick % count))].toSorted((a, b) => a - b);
        const found = await smallestFailing(all, async (set) => culprits.every((one) => set.includes(one)));
        expect([...found].toSorted((a, b) => a - b)).toEqual(culprits);
      },
    ),
  );
});

test('asks about twelve times for one of a thousand', async () => {
  let asked = 0;
  const all = Array.from({ length: 1000 }, (_, i) => i);
  const found = await smallestFailing(all, async (set) => {
    asked++;
    return set.includes(617);
  });
  expect(found).toEqual([617]);
  expect(asked).toBeLessThan(25);
});
