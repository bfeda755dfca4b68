import { issuesOf } from '@chassis/schema';
import { describe, expect, test } from 'vitest';
import { parseScript } from './script.ts';

/** The problems of a script, as `line:column message`. */
function problems(text: string): string[] {
  try {
    parseScript(text, 'demo.yaml');
  } catch (error) {
    expect((error as Error).name).toBe('InvalidParams');
    expect((error as Error).message).toContain('demo.yaml:');
    return issuesOf(error).map((issue) => `${issue.line}:${issue.column} ${issue.message}`);
  }
  return [];
}

describe('a broken script', () => {
  test('is told with line, column and what was expected', () => {
    expect(problems('turns: [\n')).toMatchObject([expect.stringMatching(/^2:1 /)]);
    expect(problems('')).toMatchObject([expect.stringMatching(/^1:1 "turns" is missing/)]);
    expect(problems('turns: []')).toMatchObject([expect.stringMatching(/^1:8 /)]);
    expect(problems('turns:\n  - say: hi\n    wen: {}\n')).toMatchObject([
      expect.stringMatching(/^3:5 .*when/),
    ]);
    expect(problems('turns:\n  - say: 5\n')).toMatchObject([expect.stringMatching(/^2:10 .*string/)]);
    expect(problems('turns:\n  - say: x\n    finish: soon\n')).toMatchObject([
      expect.stringMatching(/^3:13 .*stop/),
    ]);
    expect(problems('turns:\n  - say: x\n    when: { result_path: rows }\n')).toMatchObject([
      expect.stringMatching(/^3:26 .*JSON Pointer/),
    ]);
    expect(problems('turns:\n  - say: x\n    when: { equals: 1 }\n')).toMatchObject([
      expect.stringMatching(/^3:11 .*result_path/),
    ]);
  });

  test('all that only a closer look finds is told at once', () => {
    const text = [
      'turns:',
      '  - think: hm',
      '  - say: "{{ results.[ }}"',
      '    when: { matches: "(?=x)" }',
      '  - call:',
      '      - name: f',
      '        arguments: { a: { b: "{{ turn" } }',
    ].join('\n');
    expect(problems(text)).toEqual([
      '2:5 this turn does nothing; expected say, call or error',
      expect.stringMatching(/^4:22 no valid regular expression \(RE2 syntax\): /),
      expect.stringMatching(/^3:10 "results.\[" is no JSONata expression: /),
      '7:30 this {{ has no }}',
    ]);
  });

  test('a good one knows where its turns stand', () => {
    const { turns } = parseScript('turns:\n  - say: a\n\n  - say: b\n', 'demo.yaml');
    expect(turns.map((turn) => turn.at)).toEqual(['demo.yaml:2:5', 'demo.yaml:4:5']);
  });
});
