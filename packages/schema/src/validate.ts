/**
 * JSON Schema checks with issues that a person, or a model, can act on.
 *
 * Promise: a compiled check is pure; it never changes the value, fetches nothing, and reports every problem
 * at once. Numbers carried as `JSON.rawJSON` count as the numbers they spell.
 */
import { createRequire } from 'node:module';
import { ChassisError } from '@chassis/errors';
import type { Ajv, ErrorObject, Options } from 'ajv';
import { explain } from './explain.ts';
import { type Issue, invalid } from './issue.ts';
import { plain } from './plain.ts';

export type Check = (value: unknown) => readonly Issue[];

/** A schema document: an object, or `true`/`false`. */
export type SchemaDocument = boolean | { readonly [key: string]: unknown };

const OPTIONS: Options = {
  allErrors: true,
  verbose: true,
  strict: false,
  logger: false,
  addUsedSchema: false,
  validateSchema: false,
  multipleOfPrecision: 9,
};

type Dialect = keyof typeof compilers;

const shared = new Map<string, Ajv>();

/** Whoever compiles no schema does not load the compiler. */
const require = createRequire(import.meta.url);
const compilers = {
  '2020-12': () => require('ajv/dist/2020.js') as { readonly default: new (options: Options) => Ajv },
  '2019-09': () => require('ajv/dist/2019.js') as { readonly default: new (options: Options) => Ajv },
  'draft-07': () => require('ajv') as { readonly default: new (options: Options) => Ajv },
};

function compiler(dialect: Dialect, unicode: boolean, more: Options = {}): Ajv {
  const ajv = new (compilers[dialect]().default)({ ...OPTIONS, unicodeRegExp: unicode, ...more });
  (require('ajv-formats') as (ajv: Ajv) => void)(ajv);
  return ajv;
}

/** A compiler whose code can be written down, for who packs packages. */
export function standaloneCompiler(): Ajv {
  return compiler('2020-12', true, { code: { source: true, esm: true } });
}

function sharedCompiler(dialect: Dialect, unicode: boolean): Ajv {
  const key = `${dialect} ${unicode}`;
  let ajv = shared.get(key);
  if (ajv === undefined) {
    ajv = compiler(dialect, unicode);
    shared.set(key, ajv);
  }
  return ajv;
}

function dialectOf(schema: SchemaDocument): Dialect {
  const uri = typeof schema === 'object' ? schema.$schema : undefined;
  if (uri === undefined) return '2020-12';
  const text = typeof uri === 'string' ? uri.replace(/#$/, '') : '';
  if (text.endsWith('/draft/2020-12/schema')) return '2020-12';
  if (text.endsWith('/draft/2019-09/schema')) return '2019-09';
  if (/\/draft-0[67]\/schema$/.test(text)) return 'draft-07';
  throw invalid([
    {
      path: '/$schema',
      message: `unknown JSON Schema dialect "${text}"`,
      expected: 'https://json-schema.org/draft/2020-12/schema',
    },
  ]);
}

/**
 * Problems of a schema itself: wrong types, unknown dialect, references that lead nowhere.
 * Unknown keywords and formats are no problem; they are annotations.
 */
export function checkSchema(schema: SchemaDocument): readonly Issue[] {
  try {
    compileSchema(schema);
    return [];
  } catch (error) {
    if (error instanceof ChassisError) {
      const issues = (error.data as { issues?: readonly Issue[] } | undefined)?.issues;
      if (issues !== undefined) return issues;
    }
    throw error;
  }
}

/** Compiled checks by schema object: the same schema is checked by the registry and used by the gate. */
const compiled = new WeakMap<object, Check>();

/**
 * Compiles a JSON Schema (2020-12 unless its `$schema` says 2019-09, draft-07 or draft-06). The schema must not be changed
 * afterwards: the same object gives the same check.
 *
 * @param options `trusted`: the schema is known to be valid, and is not checked itself
 * @throws InvalidParams with the issues of the schema, `path` pointing into the schema
 */
export function compileSchema(schema: SchemaDocument, options: { readonly trusted?: boolean } = {}): Check {
  const known = typeof schema === 'object' ? compiled.get(schema) : undefined;
  if (known !== undefined) return known;
  const check = checkOf(compile(schema, options.trusted ?? false));
  if (typeof schema === 'object') compiled.set(schema, check);
  return check;
}

/** A schema that has been compiled: says whether a value fits, and leaves what does not in `errors`. */
export interface Validator {
  (value: unknown): boolean;
  errors?: readonly ErrorObject[] | null;
}

export function checkOf(validate: Validator): Check {
  return (value) => {
    const flat = plain(value);
    return validate(flat) ? [] : explain(validate.errors ?? [], flat);
  };
}

function compile(schema: SchemaDocument, trusted: boolean): Validator {
  const dialect = dialectOf(schema);
  const meta = sharedCompiler(dialect, true);
  if (!trusted && meta.validateSchema(schema as never) !== true) {
    throw invalid(explain(meta.errors ?? [], schema), 'schema');
  }
  try {
    return build(schema, dialect, true);
  } catch (error) {
    // `/[\w-.]/` is a common pattern that only the older regular expression syntax takes.
    if (error instanceof SyntaxError) {
      try {
        return build(schema, dialect, false);
      } catch (second) {
        throw broken(second);
      }
    }
    throw broken(error);
  }
}

function build(schema: SchemaDocument, dialect: Dialect, unicode: boolean): Validator {
  // A compiler keeps what has an `$id`; two plugins may use the same one, so such schemas get their own.
  const own = JSON.stringify(schema).includes('"$id"');
  const ajv = own ? compiler(dialect, unicode) : sharedCompiler(dialect, unicode);
  try {
    return ajv.compile(schema as never) as Validator;
  } finally {
    if (!own && typeof schema === 'object') ajv.removeSchema(schema as never);
  }
}

function broken(error: unknown): ChassisError {
  const message = (error as Error).message;
  const reference = (error as { missingRef?: string }).missingRef;
  return invalid([
    {
      path: '',
      message:
        reference === undefined
          ? `the schema cannot be used: ${message}`
          : `the schema refers to "${reference}", which it does not contain; references are never fetched`,
    },
  ]);
}
