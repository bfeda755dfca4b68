import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isScalar, parseDocument as otherParser, stringify } from 'yaml';
import { issuesOf, parseDocument } from './index.ts';

function problems(text: string): string[] {
  try {
    parseDocument(text, 'a.yaml');
  } catch (error) {
    return issuesOf(error).map((issue) => `${issue.line}:${issue.column} ${issue.message}`);
  }
  return [];
}

function pathsIn(value: unknown, keys: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [keys];
  return [keys, ...Object.entries(value).flatMap(([key, member]) => pathsIn(member, [...keys, key]))];
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

  test('knows where quotes, blocks and left-out values begin', () => {
    const document = parseDocument(
      'a: "x"\nb: # about b | or >\n  |\n  text\nc:\n- # none\n- &n !!str 5\nd:\n',
      'a.yaml',
    );
    expect(document.value).toEqual({ a: 'x', b: 'text\n', c: [null, '5'], d: null });
    const places = ['/a', '/b', '/c/0', '/c/1', '/d'].map((pointer) => document.place(pointer));
    expect(places.map((place) => `${place?.line}:${place?.column}`)).toEqual([
      '1:4',
      '3:3',
      '6:1',
      '7:12',
      '8:1',
    ]);
  });

  test('may have a closing bracket as far left as its key', () => {
    const document = parseDocument('a: &x [\n  1, "2"\n]\nb: *x\nc: !!str 5', 'a.yaml');
    expect(document.value).toEqual({ a: [1, '2'], b: [1, '2'], c: '5' });
    expect(document.place('/a/1')).toEqual({ line: 2, column: 6 });
    expect(document.place('/b/1')).toEqual({ line: 2, column: 6 });
  });

  test('is read as another parser reads it, values and places, whatever its style', () => {
    const word = fc.oneof(
      fc.string({ maxLength: 8 }),
      fc.constantFrom('1', '~', 'null', 'yes', '0x1f', '1e3', ' x', 'a: b', '# c', '- d', 'a\nb\n', '<<'),
    );
    const leaf = fc.oneof(word, fc.integer(), fc.double({ noNaN: true, min: -1e15, max: 1e15 }));
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.constantFrom(null, true, false),
        fc.array(tie('tree'), { maxLength: 4 }),
        fc.dictionary(word, tie('tree'), { maxKeys: 4 }),
      ),
    }));
    const style = fc.record({
      collectionStyle: fc.constantFrom('any' as const, 'block' as const, 'flow' as const),
      indent: fc.constantFrom(2, 4),
      singleQuote: fc.constantFrom(true, false, null),
      lineWidth: fc.constantFrom(0, 20, 80),
    });
    fc.assert(
      fc.property(tree, style, (value, options) => {
        const text = stringify(value, options);
        const document = parseDocument(text, 'a.yaml');
        const other = otherParser(text);
        expect(document.value).toEqual(other.toJS());
        for (const keys of pathsIn(document.value)) {
          const node = other.getIn(keys, true);
          if (isScalar(node) && node.source !== '' && keys.length > 0) {
            const pointer = keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
            const lines = text.slice(0, node.range?.[0]).split('\n');
            const expected = { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
            expect(document.place(pointer)).toEqual(expected);
          }
        }
      }),
    );
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
    ['a: 1e999', '1:4 1e999 is no JSON number'],
    ['a: 1\n!x b: 2', '2:1 unknown tag: !x; tags are not supported'],
    ['a: !!int x', '1:4 "x" is no int'],
    ['a: b: c', '1:4 nested mappings are not allowed in compact mappings'],
    ['a: [\n  {b: !c 1}\n]', '2:10 unknown tag: !c; tags are not supported'],
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
    expect(problems('a: @x\nb: `y').map((problem) => problem.slice(0, 3))).toEqual(['1:4', '2:4']);
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
