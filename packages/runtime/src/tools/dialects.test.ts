import type { JsonObject, ToolSpec } from '@chassis/types';
import { describe, expect, test } from 'vitest';
import { type Dialect, dialectOf, plainSpec, refusalOf } from './dialects.ts';

const spec = (parameters: JsonObject, name = 'tool'): ToolSpec => ({ name, description: 'x', parameters });
const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  ...more,
});

test.each<[string, Dialect]>([
  ['deepseek', 'deepseek'],
  ['deepseek/deepseek-chat', 'deepseek'],
  ['openai', 'openai'],
  ['openai/gpt-5', 'openai'],
  ['router/anthropic/claude-sonnet', 'anthropic'],
  ['openai/claude-opus', 'anthropic'],
  ['google/gemini-pro', 'gemini'],
  ['ollama/llama3', 'open'],
  ['scripted', 'open'],
])('%s speaks %s', (reference, dialect) => {
  expect(dialectOf(reference)).toBe(dialect);
});

describe('a tool that a provider refuses is known before the request, with place and reason', () => {
  const anyTop: JsonObject = { type: 'object', anyOf: [{ required: ['a'] }, { required: ['b'] }] };
  const deepRef = object({ a: { type: 'array', items: { $ref: 'https://elsewhere.example/s.json' } } });
  test.each<[string, JsonObject, Dialect, string | undefined]>([
    ['anyOf at the top', anyTop, 'openai', 'has anyOf at the top, which openai does not take'],
    ['anyOf at the top', anyTop, 'deepseek', 'has anyOf at the top'],
    ['anyOf at the top', anyTop, 'anthropic', 'has anyOf at the top'],
    ['anyOf at the top', anyTop, 'open', undefined],
    [
      'anyOf further down',
      object({ a: { anyOf: [{ type: 'string' }, { type: 'null' }] } }),
      'openai',
      undefined,
    ],
    ['a top that is no object', { type: 'string' }, 'open', 'of type "string" at the top'],
    [
      'a list of types at the top',
      { type: ['object', 'null'] },
      'open',
      'of type ["object","null"] at the top',
    ],
    [
      'a reference to elsewhere',
      deepRef,
      'open',
      'at /properties/a/items refers to https://elsewhere.example',
    ],
    ['a reference within', object({ a: { $ref: '#/$defs/x' } }, { $defs: { x: {} } }), 'openai', undefined],
    ['a reference within', object({ a: { $ref: '#/$defs/x' } }, { $defs: { x: {} } }), 'gemini', 'has $ref'],
    ['an empty enum', object({ a: { enum: [] } }), 'openai', 'at /properties/a has an empty enum'],
    [
      'numbers in an enum',
      object({ a: { enum: [1, 2] } }),
      'gemini',
      'has an enum with something other than text',
    ],
    ['an odd name of a property', object({ 'a b': {} }), 'anthropic', 'has the property "a b"'],
    ['an odd name of a property', object({ 'a b': {} }), 'openai', undefined],
    ['words of a schema as data', object({ a: { default: { anyOf: [], enum: [] } } }), 'openai', undefined],
    [
      'a property that is called like a keyword',
      object({ not: { type: 'string' }, $ref: {} }),
      'gemini',
      undefined,
    ],
  ])('%s: %j for %s', (_, parameters, dialect, expected) => {
    const said = refusalOf(spec(parameters), dialect);
    if (expected === undefined) expect(said).toBeUndefined();
    else expect(said).toContain(expected);
  });

  test('a name with other signs, or too long', () => {
    expect(refusalOf(spec({ type: 'object' }, 'a.b'), 'open')).toContain('its name "a.b"');
    expect(refusalOf(spec({ type: 'object' }, 'x'.repeat(65)), 'open')).toContain('1 to 64');
  });
});

describe('what can be said in a way that all take is said so', () => {
  test('a schema without a type, a list of anything, the name of the dialect', () => {
    expect(plainSpec(spec({ $schema: 'x', properties: { a: { type: 'array' } } })).parameters).toEqual({
      type: 'object',
      properties: { a: { type: 'array', items: {} } },
    });
    expect(plainSpec(spec({})).parameters).toEqual({ type: 'object' });
  });

  test('and everything else stays the very same', () => {
    const whole = spec(
      object({ list: { type: 'array', items: { type: 'array', items: {} }, default: { type: 'array' } } }),
    );
    expect(plainSpec(whole)).toBe(whole);
  });
});
