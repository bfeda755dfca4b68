import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shellWord } from './shell.ts';
import { visible } from './text.ts';

describe('shellWord', () => {
  it('leaves plain words alone and quotes the others', () => {
    expect(shellWord('k3f:4')).toBe('k3f:4');
    expect(shellWord('/output/rows/1/amount')).toBe('/output/rows/1/amount');
    expect(shellWord('a b')).toBe("'a b'");
    expect(shellWord("'; rm -rf ~; '")).toBe(`''\\''; rm -rf ~; '\\'''`);
  });

  it('is one word to a shell, whatever it holds', () => {
    const texts = fc.sample(fc.string({ unit: 'grapheme-ascii', minLength: 1 }), { numRuns: 60, seed: 7 });
    const script = texts.map((text) => `printf '%s\\0' ${shellWord(text)}`).join('\n');
    expect(execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1)).toEqual(
      texts.map(visible),
    );
  });
});
