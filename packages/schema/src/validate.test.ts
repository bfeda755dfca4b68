import { describe, expect, test } from 'vitest';
import { checkDocument, checkSchema, compileSchema, issueText, parseDocument } from './index.ts';

const schema = {
  type: 'object',
  required: ['name'],
  additionalProperties: false,
  properties: {
    name: { type: 'string', pattern: '^[a-z]+$', description: 'small letters' },
    timeout_ms: { type: 'integer', minimum: 1 },
    kind: { enum: ['tool', 'model'] },
    run: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
  },
};

function lines(text: string): string[] {
  return checkDocument(parseDocument(text, 'plugin.yaml'), compileSchema(schema)).map(issueText);
}

describe('a document checked against a schema', () => {
  test.each([
    ['name: a\ntimeuot_ms: 5', 'plugin.yaml:2:1: unknown key "timeuot_ms"; did you mean "timeout_ms"?'],
    ['name: a\nzzz: 5', 'plugin.yaml:2:1: unknown key "zzz"; expected one of name, timeout_ms, kind, run'],
    ['name: a\ntimeout_ms: fast', 'plugin.yaml:2:13: expected a whole number, found a string ("fast")'],
    ['name: a\ntimeout_ms: 0', 'plugin.yaml:2:13: expected a number >= 1, found a number (0)'],
    [
      'name: a\nkind: tol',
      'plugin.yaml:2:7: expected one of "tool", "model", found a string ("tol"); did you mean "tool"?',
    ],
    ['kind: tool', 'plugin.yaml:1:1: "name" is missing; expected small letters'],
    ['name: ÄÖ', 'plugin.yaml:1:7: expected small letters, found a string ("ÄÖ")'],
    ['name: a\nrun: 5', 'plugin.yaml:2:6: expected a string or a list, found a number (5)'],
    ['name: a\nrun: [x, 5]', 'plugin.yaml:2:10: expected a string, found a number (5)'],
    ['', 'plugin.yaml:1:1: "name" is missing; expected small letters'],
    ['- a', 'plugin.yaml:1:1: expected an object, found a list of 1'],
  ])('%j', (text, expected) => {
    expect(lines(text)).toEqual([expected]);
  });

  test('reports everything at once, in the order of the file', () => {
    expect(lines('kind: x\ntimeout_ms: y\nfoo: 1\nname: B').map((line) => line.split(':')[1])).toEqual([
      '1',
      '2',
      '3',
      '4',
    ]);
  });
});

describe('a compiled schema', () => {
  test('says where, what was expected, and what came', () => {
    const check = compileSchema({
      type: 'object',
      properties: {
        rows: { type: 'array', items: { type: 'object', properties: { amount: { type: 'number' } } } },
      },
    });
    expect(check({ rows: [{ amount: 1 }, { amount: '1.249,90' }] })).toEqual([
      {
        path: '/rows/1/amount',
        message: 'expected a number, found a string ("1.249,90")',
        expected: 'a number',
        received: 'a string ("1.249,90")',
      },
    ]);
  });

  test('takes exact numbers as numbers', () => {
    const raw = (text: string) => (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(text);
    const check = compileSchema({ type: 'object', properties: { id: { type: 'integer' } } });
    const value = { id: raw('9007199254740993') };
    expect(check(value)).toEqual([]);
    expect(JSON.stringify(value)).toBe('{"id":9007199254740993}');
    expect(compileSchema({ type: 'number' })(raw('1e999'))).toEqual([]);
  });

  test('never changes what it checks', () => {
    const value = Object.freeze({ a: '1' });
    compileSchema({ properties: { a: { type: 'number', default: 5 }, b: { default: 1 } } })(value);
    expect(value).toEqual({ a: '1' });
  });

  test('is made twice from one $id without a clash', () => {
    const twice = { $id: 'https://example.org/x', type: 'string' };
    expect(compileSchema(twice)('a')).toEqual([]);
    expect(compileSchema({ ...twice, type: 'number' })(1)).toEqual([]);
  });

  test('takes draft-07 schemas and older regular expressions', () => {
    const old = { $schema: 'http://json-schema.org/draft-07/schema#', type: 'string', pattern: '^[\\w-.]+$' };
    expect(compileSchema(old)('a-b.c')).toEqual([]);
    expect(compileSchema(old)('a b')).toHaveLength(1);
  });

  test('explains the branch that was evidently meant', () => {
    const check = compileSchema({
      oneOf: [
        { type: 'object', properties: { kind: { const: 'a' }, n: { type: 'number' } }, required: ['kind'] },
        { type: 'object', properties: { kind: { const: 'b' }, s: { type: 'string' } }, required: ['kind'] },
      ],
    });
    expect(check({ kind: 'a', n: 'x' }).map((issue) => issue.path)).toEqual(['/n']);
  });
});

describe('a broken schema', () => {
  test.each([
    [{ type: 'objcet' }, '/type', /did you mean "object"/],
    [{ type: 'object', properties: { a: 5 } }, '/properties/a', /expected/],
    [{ $ref: '#/$defs/nowhere' }, '', /does not contain; references are never fetched/],
    [{ $schema: 'https://example.org/own' }, '/$schema', /unknown JSON Schema dialect/],
    [{ type: 'string', pattern: '(' }, '', /./],
  ] as const)('%j', (broken, path, message) => {
    const issues = checkSchema(broken);
    expect(issues.map((issue) => issue.path)).toContain(path);
    expect(issues.map((issue) => issue.message).join()).toMatch(message);
  });
});
