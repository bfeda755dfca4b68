import fc from 'fast-check';
import { expect, test } from 'vitest';
import { modelSafeName } from './names.ts';

const plugin = fc.stringMatching(/^[a-z0-9]{1,20}(-[a-z0-9]{1,20}){0,2}$/);
const tool = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/);

test('a full name spelled for models is short, safe, and leads back to one tool only', () => {
  fc.assert(
    fc.property(plugin, tool, plugin, tool, (p1, t1, p2, t2) => {
      const one = modelSafeName(p1, t1);
      expect(one).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      expect(one === modelSafeName(p2, t2)).toBe(p1 === p2 && t1 === t2);
    }),
  );
});

test('a name that is too long keeps its difference', () => {
  const long = 'x'.repeat(63);
  expect(modelSafeName('orders', `${long}a`)).not.toBe(modelSafeName('orders', `${long}b`));
});
