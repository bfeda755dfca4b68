import { isExactNumber } from '@chassis/journal';
import { describe, expect, it } from 'vitest';
import { editOf } from './edits.ts';

describe('editOf', () => {
  it('takes a pointer and any JSON value, which may hold more equals signs', () => {
    expect(editOf('/output/rows/3/amount=1249.9', 2)).toEqual({
      step: 2,
      path: '/output/rows/3/amount',
      value: 1249.9,
    });
    expect(editOf('/output="a=b"', 2)).toEqual({ step: 2, path: '/output', value: 'a=b' });
    expect(editOf('/output/~1x={"y":[null]}', 1)).toEqual({
      step: 1,
      path: '/output/~1x',
      value: { y: [null] },
    });
  });

  it('keeps a number that a double cannot hold', () => {
    expect(isExactNumber(editOf('/output/id=9007199254740993', 1).value)).toBe(true);
  });

  it.each([
    ['/output/x', 'write PATH=JSON'],
    ['output/x=1', 'is no JSON Pointer'],
    ['/output/x=abc', 'a text needs quotes: "abc"'],
    ['/output/x={"a":}', 'column 16'],
    ['/output/x=', 'is no JSON'],
  ])('refuses %s', (text, why) => {
    expect(() => editOf(text, 1)).toThrow(why);
  });
});
