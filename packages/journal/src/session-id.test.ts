import { expect, test } from 'vitest';
import { isSessionId, newSessionId } from './session-id.ts';

test('ids are twelve typeable characters that start with a letter, and do not repeat', () => {
  const ids = new Set(Array.from({ length: 2000 }, newSessionId));
  expect(ids.size).toBe(2000);
  for (const id of ids) expect(id).toMatch(/^[a-z][a-z2-7]{11}$/);
});

test('an id can never lead out of its folder', () => {
  for (const bad of ['', '.', '..', '../x', 'a/b', '.hidden', 'a\\b', 'a b'])
    expect(isSessionId(bad)).toBe(false);
  expect(isSessionId('0198c5d2-7a.b_c')).toBe(true);
});
