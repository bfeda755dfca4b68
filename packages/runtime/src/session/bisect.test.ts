import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bisect } from './bisect.ts';

test('the first change that flips is found, with about as many runs as the number has bits', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 5000 }), fc.nat(), async (count, at) => {
      const first = (at % count) + 1;
      const { first: found, tested } = await bisect(count, async (changes) => changes < first);
      expect(found).toBe(first);
      expect(tested.length).toBeLessThanOrEqual(3 + Math.ceil(Math.log2(count)));
    }),
  );
});

test('nothing is searched for when the ends do not differ', async () => {
  expect(await bisect(9, async () => true)).toMatchObject({ first: null, tested: [{}, {}] });
  expect(await bisect(9, async () => false)).toEqual({ first: 0, tested: [{ changes: 0, good: false }] });
});
