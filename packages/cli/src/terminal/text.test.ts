import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cells, pad, truncate, visible, visibleLines, wrap } from './text.ts';

const { strings } = JSON.parse(
  readFileSync(new URL('../../test/files/widths.json', import.meta.url), 'utf8'),
) as { strings: [string, number][] };
const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
const letters = (text: string): string[] => [...segmenter.segment(text)].map(({ segment }) => segment);
/** Text as it reaches a terminal: of any script, with emoji, combining marks and halves of pairs. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc
    .array(fc.constantFrom(...strings.map(([text]) => text)), { maxLength: 12 })
    .map((parts) => parts.join('')),
);

describe('cells', () => {
  it.each(strings)('%j takes %i cells', (text, width) => {
    expect(cells(text)).toBe(width);
  });
});

describe('truncate', () => {
  it.each(strings)('%j cut to 3 cells is no wider and ends in whole letters', (text) => {
    const cut = truncate(text, 3);
    expect(cells(cut)).toBeLessThanOrEqual(3);
    const kept = cut.endsWith('…') && cut !== text ? cut.slice(0, -1) : cut;
    expect(letters(text).slice(0, letters(kept).length).join('')).toBe(kept);
  });

  it('is never wider than asked for, whatever the text and the width', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: -1, max: 50 }), (text, width) => {
        expect(cells(truncate(visible(text), width))).toBeLessThanOrEqual(Math.max(0, width));
      }),
    );
  });

  it('leaves a text that fits as it is', () => {
    expect(truncate('潮汐', 4)).toBe('潮汐');
    expect(truncate('潮汐', 3)).toBe('潮…');
    expect(truncate('abc', 0)).toBe('');
    expect(truncate('abc', Number.NaN)).toBe('');
  });
});

describe('pad', () => {
  it('fills to cells, not to characters', () => {
    expect(pad('潮汐', 6)).toBe('潮汐  ');
    expect(pad('7', 3, 'right')).toBe('  7');
    expect(pad('wide', 2)).toBe('wide');
  });
});

describe('visible', () => {
  it('shows what a terminal would obey', () => {
    expect(visible('a\u001b[31mb\u0007\r\n\t\u009bc\u202ed\u2028')).toBe(
      'a\\x1b[31mb\\x07\\r\\n\\t\\x9bc\\u202ed\\u2028',
    );
    expect(visible('half \ud83d pair')).toBe('half \\ud83d pair');
    expect(visible('👨‍👩‍👧 한글 é')).toBe('👨‍👩‍👧 한글 é');
  });

  it('leaves nothing that a terminal would obey, in either form', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(visible(text)).not.toMatch(/[\p{Cc}\p{Bidi_Control}\p{Surrogate}]/u);
        expect(visibleLines(text).replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}\p{Surrogate}]/u);
      }),
    );
  });
});

describe('wrap', () => {
  it('breaks at spaces, and inside a word that is too long', () => {
    expect(wrap('one two three', 8)).toEqual(['one two', 'three']);
    expect(wrap('abcdefgh', 3)).toEqual(['abc', 'def', 'gh']);
    expect(wrap('a\nb', 10)).toEqual(['a', 'b']);
  });

  it('puts a sign in the place of a letter that is wider than the line', () => {
    const note = '\u{1d158}\u{1d165}\u{1d16e}';
    expect(wrap(`a${note}b`, 2).every((line) => cells(line) <= 2)).toBe(true);
    expect(wrap(note, 10)).toEqual([note]);
  });

  it('never makes a line wider than asked for', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 2, max: 30 }), (text, width) => {
        for (const line of wrap(visibleLines(text), width)) expect(cells(line)).toBeLessThanOrEqual(width);
      }),
    );
  });
});
