import fc from 'fast-check';
import { expect, test } from 'vitest';
import { plainData, plainLeaves } from './text-data.ts';

test('tables, pairs, logs and markup are read as data', () => {
  expect(plainData('# rows: 2\nid,qty\n"a,b",3\nc,4\n')).toEqual({
    rows: [
      { id: 'a,b', qty: 3 },
      { id: 'c', qty: 4 },
    ],
  });
  expect(plainData('| a | b |\n|---|---|\n| 1 | x |\n| 3 | y |')).toEqual({
    rows: [
      { a: 1, b: 'x' },
      { a: 3, b: 'y' },
    ],
  });
  expect(plainData('service: web\nowner:\n  name: kim\n  token: t-1\n')).toEqual({
    service: 'web',
    owner: { name: 'kim', token: 't-1' },
  });
  expect(plainData('lines:\n  - sku: A\n    qty: 3\n  - sku: B\n    qty: 4\n')).toEqual({
    lines: [
      { sku: 'A', qty: 3 },
      { sku: 'B', qty: 4 },
    ],
  });
  expect(plainData('00:00 level=1.4 ok\n01:00 level=1,5 ok\n')).toEqual({
    lines: [{ level: 1.4 }, { level: '1,5' }],
  });
  expect(plainData('tank 3: 14000 ml, temp 20 C')).toEqual({ tank: '14000 ml', temp: '20 C' });
  expect(plainData('<q pair="EURUSD"><px>77</px><tag>a</tag><tag>b</tag></q>')).toEqual({
    q: { '@pair': 'EURUSD', px: 77, tag: ['a', 'b'] },
  });
});

test('prose and what is broken stay a text', () => {
  expect(plainData('The board met. It agreed, and left: no one stayed.')).toBeUndefined();
  expect(plainData('We met at nine.\nAll agreed to it.\nNote: next week.')).toBeUndefined();
  expect(plainData('<a><b>x</a>')).toBeUndefined();
});

test('every leaf is what stands at its range', () => {
  const word = fc.stringMatching(/^[A-Za-z0-9 .,;:=|<>/"'&*-]{0,12}$/);
  const line = fc.array(word, { maxLength: 5 }).map((words) => words.join(','));
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(line, word, fc.constantFrom('a: 1', '- b: 2', '  c: x', 'id,qty', '<a>1</a>', 'k=v l=2')),
        { maxLength: 8 },
      ),
      (lines) => {
        const text = lines.join('\n');
        for (const { range, text: own } of plainLeaves(text)) expect(text.slice(...range)).toBe(own);
        plainData(text);
      },
    ),
  );
});
