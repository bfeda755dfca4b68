import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatPointer, getPointer, parsePointer, setPointer } from './pointer.ts';

const value = { output: { rows: [{ amount: 1 }, { amount: 2 }], 'a/b~c': true, '': 0 } };

test('a pointer names a value, also one whose name has slashes, tildes or nothing in it', () => {
  expect(getPointer(value, '')).toBe(value);
  expect(getPointer(value, '/output/rows/1/amount')).toBe(2);
  expect(getPointer(value, '/output/a~1b~0c')).toBe(true);
  expect(getPointer(value, '/output/')).toBe(0);
});

test('setting copies what is on the way and shares the rest', () => {
  const changed = setPointer(value, '/output/rows/0/amount', 9) as typeof value;
  expect(changed.output.rows).toEqual([{ amount: 9 }, { amount: 2 }]);
  expect(value.output.rows[0]).toEqual({ amount: 1 });
  expect(changed.output.rows[1]).toBe(value.output.rows[1]);
  expect(setPointer(value, '/output/rows/-', 3)).toHaveProperty('output.rows.2', 3);
  expect(setPointer(value, '/output/new', null)).toHaveProperty('output.new', null);
  expect(setPointer(value, '', 1)).toBe(1);
});

test('a path that does not exist is refused with what is there', () => {
  expect(() => getPointer(value, '/output/row/1')).toThrow(
    'there is nothing at /output/row: /output has "rows"',
  );
  expect(() => getPointer(value, '/output/rows/7')).toThrow('/output/rows is an array of 2');
  expect(() => getPointer(value, '/output/rows/00')).toThrow('array of 2');
  expect(() => getPointer(value, '/output/rows/0/amount/x')).toThrow('is a number');
  expect(() => setPointer(value, '/outptu/x', 1)).toThrow('the root has "output"');
  expect(() => getPointer(value, '/constructor')).toThrow('nothing at /constructor');
  expect(() => getPointer(value, 'output')).toThrow('must start with /');
  expect(() => getPointer(value, '/a~2')).toThrow('write ~ as ~0');
});

test('what was set is what is there, and nothing else changed', () => {
  const key = fc.string({ maxLength: 3 });
  fc.assert(
    fc.property(fc.array(key, { minLength: 1, maxLength: 4 }), fc.jsonValue(), (keys, wanted) => {
      const pointer = formatPointer(keys);
      expect(parsePointer(pointer)).toEqual(keys);
      const nested = keys.reduceRight<unknown>(
        (inner, name) => ({ [name]: inner, other: 1 }),
        'old',
      ) as never;
      const before = JSON.stringify(nested);
      expect(getPointer(setPointer(nested, pointer, wanted as never), pointer)).toEqual(wanted);
      expect(JSON.stringify(nested)).toBe(before);
    }),
  );
});
