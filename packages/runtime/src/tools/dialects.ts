/**
 * What providers take as a tool, told before a request is made: one tool that a provider refuses makes the whole request fail.
 *
 * Promise: pure. A tool is changed only where that loses nothing; what cannot be sent is named with the place and the
 * reason, and costs that tool only.
 */
import type { Json, JsonObject, ToolSpec } from '@chassis/types';

/** `open`: nothing is known of the provider, so only what all of them ask for is asked for. */
export type Dialect = 'openai' | 'deepseek' | 'anthropic' | 'gemini' | 'open';

const makers: readonly (readonly [Dialect, RegExp])[] = [
  ['deepseek', /deepseek/i],
  ['anthropic', /claude|anthropic/i],
  ['gemini', /gemini|google/i],
  ['openai', /openai|\bgpt|\bo[134]\b/i],
];

/** By the words of a reference such as `openai/gpt-5`; the model's maker counts more than who serves it. */
export function dialectOf(reference: string): Dialect {
  const model = reference.slice(reference.indexOf('/') + 1);
  for (const text of [model, reference])
    for (const [dialect, pattern] of makers) if (pattern.test(text)) return dialect;
  return 'open';
}

const combinators = ['anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const'];

/** Keywords that no level of a schema may have, and those that the top may not have. */
const refused: Readonly<
  Record<Dialect, { readonly anywhere: readonly string[]; readonly top: readonly string[] }>
> = {
  open: { anywhere: [], top: [] },
  openai: { anywhere: [], top: combinators },
  deepseek: { anywhere: [], top: combinators },
  anthropic: { anywhere: [], top: ['anyOf', 'oneOf', 'allOf'] },
  gemini: {
    anywhere: [
      '$ref',
      'contains',
      'dependentRequired',
      'dependentSchemas',
      'else',
      'if',
      'not',
      'patternProperties',
      'prefixItems',
      'propertyNames',
      'then',
      'unevaluatedProperties',
    ],
    top: combinators,
  },
};

/** @returns why a provider would refuse it, with the JSON Pointer of the place; undefined when it takes it */
export function refusalOf(spec: ToolSpec, dialect: Dialect): string | undefined {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(spec.name))
    return `its name "${spec.name}" is not of 1 to 64 letters, digits, _ and -`;
  const { parameters } = spec;
  if (parameters.type !== 'object')
    return `its input schema is of type ${JSON.stringify(parameters.type) ?? 'nothing'} at the top, and must be of type object`;
  const top = refused[dialect].top.find((keyword) => Object.hasOwn(parameters, keyword));
  if (top !== undefined) return `its input schema has ${top} at the top, which ${dialect} does not take`;
  for (const { path, schema } of subschemas(parameters)) {
    const problem = problemAt(schema, dialect);
    if (problem !== undefined) return `its input schema at ${path || 'the top'} ${problem}`;
  }
  return undefined;
}

function problemAt(schema: JsonObject, dialect: Dialect): string | undefined {
  const keyword = refused[dialect].anywhere.find((one) => Object.hasOwn(schema, one));
  if (keyword !== undefined) return `has ${keyword}, which ${dialect} does not take`;
  if (typeof schema.$ref === 'string' && !schema.$ref.startsWith('#'))
    return `refers to ${schema.$ref}, which no provider can read`;
  if (Array.isArray(schema.enum) && schema.enum.length === 0) return 'has an empty enum';
  if (
    dialect === 'gemini' &&
    Array.isArray(schema.enum) &&
    schema.enum.some((item) => typeof item !== 'string')
  )
    return 'has an enum with something other than text, which gemini does not take';
  if (dialect !== 'anthropic') return undefined;
  const name = Object.keys(object(schema.properties)).find((key) => !/^[A-Za-z0-9_.-]{1,64}$/.test(key));
  return name === undefined ? undefined : `has the property "${name}", a name that anthropic does not take`;
}

/** The spec as every provider takes it: the same meaning, in fewer words. */
export function plainSpec(spec: ToolSpec): ToolSpec {
  const { $schema: _, $id: __, ...rest } = spec.parameters;
  const parameters = plainSchema(
    rest.type === undefined && (rest.properties !== undefined || Object.keys(rest).length === 0)
      ? { type: 'object', ...rest }
      : rest,
  );
  return JSON.stringify(parameters) === JSON.stringify(spec.parameters) ? spec : { ...spec, parameters };
}

/** OpenAI refuses a list that does not say of what; "of anything" says the same. */
function plainSchema(schema: JsonObject): JsonObject {
  const open = schema.type === 'array' && schema.items === undefined && schema.prefixItems === undefined;
  const whole: JsonObject = open ? { ...schema, items: {} } : schema;
  return Object.fromEntries(
    Object.entries(whole).map(([key, value]) => [key, within(key, value, plainSchema)] as const),
  );
}

const inMaps = ['properties', '$defs', 'definitions', 'patternProperties', 'dependentSchemas'];
const inLists = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const alone = ['items', 'additionalProperties', 'not', 'if', 'then', 'else', 'contains', 'propertyNames'];

/** Puts every schema directly below a keyword through a function. Data (`default`, `examples`, `enum`) is left alone. */
function within(key: string, value: Json, change: (schema: JsonObject) => JsonObject): Json {
  const one = (item: Json): Json => (isObject(item) ? change(item) : item);
  if (alone.includes(key)) return one(value);
  if (inLists.includes(key) && Array.isArray(value)) return value.map(one);
  if (inMaps.includes(key) && isObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, one(item)]));
  return value;
}

function* subschemas(
  schema: JsonObject,
  path = '',
): Generator<{ readonly path: string; readonly schema: JsonObject }> {
  yield { path, schema };
  for (const [key, value] of Object.entries(schema)) {
    const below: (readonly [string, Json])[] = [];
    if (alone.includes(key)) below.push(['', value]);
    else if (inLists.includes(key) && Array.isArray(value))
      value.forEach((item, i) => void below.push([`/${i}`, item]));
    else if (inMaps.includes(key))
      for (const [name, item] of Object.entries(object(value)))
        below.push([`/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, item]);
    for (const [at, item] of below) if (isObject(item)) yield* subschemas(item, `${path}/${key}${at}`);
  }
}

function object(value: Json | undefined): JsonObject {
  return value !== undefined && isObject(value) ? value : {};
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
