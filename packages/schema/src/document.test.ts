import { describe, expect, test } from 'vitest';
import { issuesOf, parseDocument } from './index.ts';

function problems(text: string): string[] {
  try {
    parseDocument(text, 'a.yaml');
  } catch (error) {
    return issuesOf(error).map((issue) => `${issue.line}:${issue.column} ${issue.message}`);
  }
  return [];
}

describe('a document', () => {
  test('is plain JSON, and knows where everything stands', () => {
    const document = parseDocument(
      'name: orders\ntools:\n  - name: fetch\n    rate: { per_minute: 60 }\n',
      'p.yaml',
    );
    expect(document.value).toEqual({ name: 'orders', tools: [{ name: 'fetch', rate: { per_minute: 60 } }] });
    expect(document.place('/tools/0/rate/per_minute')).toEqual({ line: 4, column: 25 });
    expect(document.place('/tools/0/rate/per_minute', 'key')).toEqual({ line: 4, column: 13 });
    expect(document.place('/tools/1')).toBeUndefined();
  });

  test('may be JSON, indented with tabs, with a byte-order mark', () => {
    expect(parseDocument('\uFEFF{\n\t"a": [1,\n\t2]}', 'a.json').value).toEqual({ a: [1, 2] });
  });

  test('keeps a key named __proto__ as an ordinary key', () => {
    const { value } = parseDocument('__proto__: { polluted: true }', 'a.yaml');
    expect(Object.keys(value as object)).toEqual(['__proto__']);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test('may be empty', () => {
    expect(parseDocument('# nothing\n', 'a.yaml').value).toBeUndefined();
  });

  test('expands honest aliases', () => {
    expect(parseDocument('a: &x { b: 1 }\nc: *x\n', 'a.yaml').value).toEqual({ a: { b: 1 }, c: { b: 1 } });
  });
});

describe('a broken document is refused with the place', () => {
  test.each([
    ['a: 1\na: 2', '2:1 this key is already there; keys must be unique'],
    ['a:\n\tb: 1', '2:1 a tab cannot indent YAML; use spaces'],
    ['a: 1\nb: !!js/function x', '2:4 unknown tag: tag:yaml.org,2002:js/function; tags are not supported'],
    ['a: 1\n---\nb: 2', '2:1 a second document begins here; one file holds one document'],
    ['a: 1\nb: .nan', '2:4 .nan is no JSON number'],
    [
      'a: 12345678901234567890',
      '1:4 12345678901234567890 is too large for an exact number; put it in quotes',
    ],
    ['a: 1\nb: *x', '2:4 alias *x has no anchor before it'],
    ['a: &x\n  b: *x', '2:6 alias *x contains itself'],
    ['a: 1\n? [b]\n: 2', '2:3 a key must be plain text, not a list or an object'],
  ])('%j', (text, expected) => {
    expect(problems(text)).toEqual([expected]);
  });

  test('the same problem at the same place only once', () => {
    expect(problems(`a: ${'{b: '.repeat(200)}`)).toHaveLength(1);
  });

  test('all problems at once', () => {
    expect(problems('a: .inf\nb: .nan').length).toBe(2);
  });

  test('nesting, in brackets, in dashes, by indentation', () => {
    const indented = Array.from({ length: 80 }, (_, i) => `${' '.repeat(i)}k:`).join('\n');
    for (const text of [
      '['.repeat(20_000),
      '- '.repeat(20_000),
      `a: ${'{b: '.repeat(2000)}`,
      `${indented} 1`,
    ]) {
      expect(problems(text)).toEqual([expect.stringMatching(/nested deeper than 64 levels/)]);
    }
  });

  test('an alias bomb', () => {
    const bomb = ['a: &a [x,x,x,x,x,x,x,x,x,x]'];
    for (let i = 1; i < 12; i++) {
      const previous = `*${String.fromCharCode(96 + i)}`;
      bomb.push(
        `${String.fromCharCode(97 + i)}: &${String.fromCharCode(97 + i)} [${Array(10).fill(previous).join(',')}]`,
      );
    }
    expect(problems(bomb.join('\n'))).toEqual([expect.stringMatching(/more than 1000 aliases to follow/)]);
  });

  test('size', () => {
    expect(() => parseDocument('a'.repeat(11), 'a.yaml', { maxLength: 10 })).toThrow(/longer than 10/);
  });
});
