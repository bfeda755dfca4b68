import { expect, test } from 'vitest';
import { ChassisError, ErrorCode, toChassisError } from './index.ts';

test('the record of an error is JSON, whatever its data holds', () => {
  const cycle: Record<string, unknown> = { inside: 1 };
  cycle.self = cycle;
  let deep: unknown = 'bottom';
  for (let i = 0; i < 100; i++) deep = [deep];
  const data = {
    gone: undefined,
    list: [1, undefined, Number.NaN, Number.POSITIVE_INFINITY],
    retry: function retry() {},
    big: 10n,
    cycle,
    twice: [cycle, cycle],
    when: new Date(0),
    cause: Object.assign(new TypeError('no'), { errno: -2 }),
    bytes: new Uint8Array(3),
    get broken(): never {
      throw new Error('not now');
    },
    kept: { a: [null, true, 'x', -1.5] },
  };
  const record = new ChassisError('ModelError', 'bad', { data: { deep } });
  expect(JSON.stringify(record.record())).toContain('[nested too deeply]');
  const { broken: _, ...readable } = Object.getOwnPropertyDescriptors(data);
  const plain = Object.defineProperties({}, readable);
  expect(new ChassisError('ModelError', 'bad', { data: plain }).record().data).toStrictEqual({
    list: [1, null, 'NaN', 'Infinity'],
    retry: '[function retry]',
    big: '10',
    cycle: { inside: 1, self: '[circular]' },
    twice: [
      { inside: 1, self: '[circular]' },
      { inside: 1, self: '[circular]' },
    ],
    when: '1970-01-01T00:00:00.000Z',
    cause: { name: 'TypeError', message: 'no', errno: -2 },
    bytes: '[3 bytes]',
    kept: { a: [null, true, 'x', -1.5] },
  });
  expect(new ChassisError('ModelError', 'bad', { data }).record().data).toBe('[unreadable: not now]');
});

test('data that is JSON comes as it is, and none stays none', () => {
  expect(new ChassisError('ModelError', 'bad').record()).toStrictEqual({
    code: ErrorCode.ModelError,
    name: 'ModelError',
    message: 'bad',
  });
  const data = { a: [1, { b: null }], ['__proto__']: 'a name like any other' };
  expect(JSON.stringify(new ChassisError('ModelError', 'bad', { data }).record().data)).toBe(
    JSON.stringify(data),
  );
});

test('a code that is no whole number is none of ours', () => {
  const thrown = Object.assign(new Error('odd'), { code: Number.NaN });
  expect(toChassisError(thrown).record()).toMatchObject({ code: ErrorCode.InternalError, message: 'odd' });
});
