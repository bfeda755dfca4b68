import { expect, test } from 'vitest';
import { type Lazy, lazyMember, Made, peek } from './lazy.ts';

test('a lazy member is parsed once for those who hold it, and anew for those who only peek', () => {
  let parsed = 0;
  const output: Lazy = new Made(() => ({ n: ++parsed }));
  const step = Object.defineProperty(
    {} as { output?: unknown },
    'output',
    lazyMember(() => output),
  );
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
