import { ChassisError } from '@chassis/errors';
import { expect, test } from 'vitest';
import { failure, success } from './result.ts';

test('a plain value is wrapped, and one that is no JSON becomes a failure', () => {
  expect(success({ a: 1 }, 't')).toEqual({ code: 0, data: { a: 1 }, error: null, trace_id: 't' });
  expect(success(1n, 't')).toMatchObject({ code: -32009, data: null, error: { details: { path: '' } } });
});

test.each([
  [new ChassisError('ModelError', 'busy', { data: { status: 503 } }), -32010, 'busy', { status: 503 }],
  [Object.assign(new Error('own'), { code: 42, data: [1] }), 42, 'own', [1]],
  [new TypeError('oops'), -32603, 'oops', undefined],
  [Object.assign(new Error('no file'), { code: 'ENOENT' }), -32603, 'no file', undefined],
  [Object.assign(new Error('zero'), { code: 0 }), -32603, 'zero', undefined],
  [Object.assign(new Error('half'), { code: 1.5 }), -32603, 'half', undefined],
  ['text', -32603, 'a value that is no Error was thrown: text', undefined],
  [new DOMException('stop', 'AbortError'), -32003, 'cancelled', undefined],
  [new DOMException('late', 'TimeoutError'), -32001, 'late', undefined],
  [new DOMException('taken', 'DataCloneError'), -32603, 'taken', undefined],
  [new ChassisError('RateLimited', 'x', { data: { when: new Date() } }), -32007, 'x', undefined],
])(
  'what is thrown is a failure with its own code, message and details: %s',
  (thrown, code, message, details) => {
    expect(failure(thrown, 't')).toEqual({
      code,
      data: null,
      error: { message, ...(details === undefined ? {} : { details }) },
      trace_id: 't',
    });
  },
);
