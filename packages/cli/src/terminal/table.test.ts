import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { table } from './table.ts';
import { cells } from './text.ts';

describe('table', () => {
  it('aligns columns by cells and leaves no trailing spaces', () => {
    const lines = table(
      [{ title: 'id' }, { title: 'steps', align: 'right' }, { title: 'title' }],
      [
        ['潮汐', '12', 'one'],
        ['abc', '3', 'two'],
      ],
    );
    expect(lines).toEqual(['id    steps  title', '潮汐     12  one', 'abc       3  two']);
  });

  it('shrinks what may shrink, then drops what matters least', () => {
    const columns = [{ title: 'id' }, { title: 'title', shrinkTo: 4 }, { title: 'size', drop: 1 }];
    const rows = [['k3f', 'a long title', '12 MB']];
    expect(table(columns, rows, 20)[1]).toBe('k3f  a long …  12 MB');
    expect(table(columns, rows, 12)[1]).toBe('k3f  a long…');
  });

  it('is never wider than the width, whatever stands in it and however narrow it is', () => {
    const cell = fc.string({ unit: 'grapheme', maxLength: 30 });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(cell, cell, cell, cell), { maxLength: 6 }),
        fc.integer({ min: 1, max: 60 }),
        (rows, width) => {
          const columns = [
            { title: 'id' },
            { title: 'title', shrinkTo: 5 },
            { title: 'model', shrinkTo: 3, drop: 1 },
            { title: 'size', align: 'right', drop: 2 },
          ] as const;
          for (const line of table(columns, rows, width)) expect(cells(line)).toBeLessThanOrEqual(width);
        },
      ),
    );
  });
});
