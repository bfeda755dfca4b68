import { ChassisError } from '@chassis/errors';
import { describe, expect, it, vi } from 'vitest';
import { report } from './failure.ts';
import type { Output } from './output.ts';

function told(thrown: unknown, debug = false) {
  const notes: string[] = [];
  const records: unknown[] = [];
  const out = {
    note: (text: string) => notes.push(text),
    record: vi.fn((value) => records.push(value)),
  } as unknown as Output;
  return { exit: report(thrown, out, debug), notes, records };
}

describe('how a command ends badly', () => {
  it('is one line with what to do, and a last record', () => {
    const error = new ChassisError('Unavailable', 'no key\u001b[2J', { data: { fix: 'set KEY' } });
    expect(told(error)).toEqual({
      exit: 3,
      notes: ['chassis: no key\\x1b[2J (set KEY)'],
      records: [
        {
          type: 'result',
          ok: false,
          exit: 3,
          error: { code: -32004, name: 'Unavailable', message: 'no key\u001b[2J', data: { fix: 'set KEY' } },
        },
      ],
    });
  });

  it('says why the system refused a file, and where records could go instead', () => {
    const refused = (code: string, path: string) =>
      Object.assign(new Error('raw'), { code, path, syscall: 'mkdir' });
    expect(told(refused('EROFS', '/p/.chassis/sessions/x'))).toMatchObject({
      exit: 2,
      notes: [
        'chassis: /p/.chassis cannot be used: the file system is read-only, EROFS on mkdir /p/.chassis/sessions/x (--store DIR keeps records in another folder)',
      ],
    });
    expect(told(refused('EACCES', '/p/tests')).notes).toEqual([
      'chassis: /p/tests cannot be used: this user may not, EACCES on mkdir /p/tests',
    ]);
  });

  it('spells out every place of a broken file, also of one that a plugin is missing for', () => {
    const message = 'a.yaml:1:1: one\na.yaml:2:1: two';
    const data = { issues: [{}, {}] };
    for (const error of [
      new ChassisError('InvalidParams', message, { data }),
      new ChassisError('Unavailable', message, { data: { cause: { data } } }),
    ])
      expect(told(error).notes).toEqual([`chassis: ${message}`]);
    expect(told(new ChassisError('InternalError', message)).notes).toEqual([
      'chassis: a.yaml:1:1: one\\na.yaml:2:1: two',
    ]);
  });

  it('takes a file that is not there or may not be read for a wrong command line, a fault of ours for a failure', () => {
    expect(told(Object.assign(new Error('ENOENT: x'), { code: 'ENOENT', path: '/x' })).exit).toBe(2);
    expect(told(new TypeError('undefined is no function')).exit).toBe(1);
    expect(told('a thrown string').exit).toBe(1);
  });

  it('shows stacks, with their causes, only for debugging', () => {
    const error = new ChassisError('InternalError', 'outer', { cause: new Error('inner') });
    expect(told(error).notes).toHaveLength(1);
    const [, stack = ''] = told(error, true).notes;
    expect(stack).toMatch(/outer.*\n {4}at .*\ncaused by: Error: inner\n {4}at /s);
  });
});
