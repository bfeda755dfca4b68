import { expect, test } from 'vitest';
import { checkVersion, upgradeEvent } from './upgrade.ts';

test('an event of today passes as it is', () => {
  const event = { v: 1, session: 's', seq: 0, time: 0, type: 'x-any.thing', data: { extra: true }, hash: '' };
  expect(upgradeEvent(event)).toBe(event);
});

test('a newer format is refused with both versions named', () => {
  expect(() => checkVersion(99, 'session abc')).toThrow(
    'session abc has format version 99; this Chassis reads versions up to 1',
  );
  for (const bad of [undefined, '1', 0, 1.5, null])
    expect(() => checkVersion(bad, 'x')).toThrow('no valid format version');
});
