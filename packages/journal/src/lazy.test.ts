import { expect, test } from 'vitest';
import { lazyMember, peek } from './lazy.ts';

test('a lazy member is parsed once for those who hold it, and anew for those who only peek', () => {
  const step: { output?: unknown } = {};
  let parsed = 0;
  lazyMember(step, 'output', () => ({ n: ++parsed }));
  expect(peek(step, 'output')).toEqual({ n: 1 });
  expect(peek(step, 'output')).toEqual({ n: 2 });
  const held = step.output;
  expect(held).toEqual({ n: 3 });
  expect(step.output).toBe(held);
});

test('a plain member, and one that is not there, are what they are', () => {
  const list = [1];
  expect(peek({ list }, 'list')).toBe(list);
  expect(peek({ list }, 'other')).toBeUndefined();
});
