import { expect, test } from 'vitest';
import { didYouMean, nearest } from './index.ts';

test('the nearest name is found across typing slips, case and separators', () => {
  const names = ['timeout_ms', 'description', 'approval'];
  expect(nearest('timeuot_ms', names)).toBe('timeout_ms');
  expect(nearest('timeoutMs', names)).toBe('timeout_ms');
  expect(nearest('clac', ['calc'])).toBe('calc');
  expect(nearest('Aproval', names)).toBe('approval');
});

test('a name that is near to nothing gets no suggestion', () => {
  expect(nearest('zebra', ['timeout_ms', 'approval'])).toBeUndefined();
  expect(nearest('x', ['y'])).toBeUndefined();
  expect(didYouMean('zebra', ['approval'])).toBe('');
});
