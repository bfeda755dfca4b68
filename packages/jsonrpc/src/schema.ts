/**
 * The two kinds of schema a contract may use: any Standard Schema (zod, valibot, arktype, …) and plain JSON
 * Schema. The interface is the public specification at https://standardschema.dev, restated so that this
 * package depends on nothing.
 */

/** A schema that validates and, in the newer revision, also describes itself as JSON Schema. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => Checked<Output> | Promise<Checked<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly jsonSchema?: {
      readonly input: (options: { target: string }) => Record<string, unknown>;
      readonly output: (options: { target: string }) => Record<string, unknown>;
    };
  };
}

export type Checked<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A JSON Schema document; it documents, and validates only if the peer was given a compiler for it. */
export type JsonSchema = { readonly [keyword: string]: unknown } & { readonly '~standard'?: undefined };

export type Schema = StandardSchema | JsonSchema;

/** What a caller writes. */
export type InputOf<S> = S extends StandardSchema<infer I, unknown> ? I : unknown;
/** What a handler gets. */
export type OutputOf<S> = S extends StandardSchema<infer _I, infer O> ? O : unknown;

export function isStandardSchema(schema: Schema): schema is StandardSchema {
  return typeof schema['~standard'] === 'object';
}

/** One thing that is wrong with params or a result, exact enough for a model to correct itself. */
export interface Issue {
  /** JSON Pointer (RFC 6901) into the checked value; empty for the value itself. */
  readonly path: string;
  readonly message: string;
  /** What the schema wants and what it got, where the schema library tells. */
  readonly expected?: string;
  readonly received?: string;
}

/** A schema library's issues in the form that goes over the wire. Never contains the values themselves. */
export function issuesOf(found: readonly SchemaIssue[], value: unknown): Issue[] {
  return found.map((issue) => {
    const keys = (issue.path ?? []).map((key) => (typeof key === 'object' ? key.key : key));
    const { expected, format } = issue as { expected?: unknown; format?: unknown };
    const wanted = typeof expected === 'string' ? expected : typeof format === 'string' ? format : undefined;
    return {
      path: keys.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join(''),
      message: issue.message,
      ...(wanted === undefined ? {} : { expected: wanted, received: kindOf(at(value, keys)) }),
    };
  });
}

function at(value: unknown, keys: readonly PropertyKey[]): unknown {
  let here = value;
  for (const key of keys) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, key)) return undefined;
    here = (here as Record<PropertyKey, unknown>)[key];
  }
  return here;
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
