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
      readonly input: (options: JsonSchemaOptions) => Record<string, unknown>;
      readonly output: (options: JsonSchemaOptions) => Record<string, unknown>;
    };
  };
}

export interface JsonSchemaOptions {
  readonly target: string;
  readonly libraryOptions?: Record<string, unknown> | undefined;
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

/**
 * A schema library's issues in the form that goes over the wire. Never contains the values themselves.
 *
 * @param found what the library gave; whatever is not as the specification has it still means that the value is refused
 */
export function issuesOf(found: unknown, value: unknown): Issue[] {
  return issueList(found).map((issue) => {
    const keys = keysOf(issue);
    const wanted = wantedBy(issue);
    return {
      path: pointer(keys),
      message: messageOf(issue),
      ...(wanted === undefined ? {} : { expected: wanted, received: kindOf(at(value, keys)) }),
    };
  });
}

function issueList(found: unknown): readonly SchemaIssue[] {
  const list: readonly unknown[] = Array.isArray(found) ? found : [found];
  return list.map((issue) =>
    typeof issue === 'object' && issue !== null ? (issue as SchemaIssue) : { message: saidOf(issue) },
  );
}

function saidOf(message: unknown): string {
  return typeof message === 'string' && message !== '' ? message : 'refused by its schema';
}

/** What zod and libraries like it tell beside the standard members. */
interface Telling extends SchemaIssue {
  readonly expected?: unknown;
  readonly format?: unknown;
  readonly values?: unknown;
  /** Of a union: what each alternative has to say. */
  readonly errors?: unknown;
  /** Of a record or set: what is wrong with a key or an element. */
  readonly issues?: unknown;
}

/** Alternatives of a union that are told about; a longer list helps nobody. */
const maxAlternatives = 8;

function alternativesOf({ errors }: Telling): readonly (readonly Telling[])[] {
  if (!Array.isArray(errors)) return [];
  return errors
    .filter((each) => Array.isArray(each))
    .slice(0, maxAlternatives)
    .map(issueList);
}

function wantedBy(issue: Telling): string | undefined {
  const { expected, format, values } = issue;
  if (typeof expected === 'string') return expected;
  if (typeof format === 'string') return format;
  if (Array.isArray(values) && values.length > 0)
    return values
      .map((value) => (typeof value === 'bigint' ? `${value}` : JSON.stringify(value)))
      .join(' | ');
  const wanted = alternativesOf(issue).map(([first]) =>
    first === undefined ? undefined : keysOf(first).length > 0 ? 'object' : wantedBy(first),
  );
  return wanted.length > 0 && wanted.every((each) => each !== undefined)
    ? [...new Set(wanted)].join(' | ')
    : undefined;
}

/** "Invalid input" alone lets nobody correct anything: what is inside is told along. */
function messageOf(issue: Telling): string {
  const { issues } = issue;
  const message = saidOf(issue.message);
  const alternatives = alternativesOf(issue).filter((each) => each.length > 0);
  if (alternatives.length > 0) {
    const each = alternatives.map((inside, at) => `(${at + 1}) ${inside.map(located).join(', ')}`);
    return `${message}; no alternative fits: ${each.join('; ')}`;
  }
  return Array.isArray(issues) && issues.length > 0
    ? `${message}: ${issueList(issues).map(located).join(', ')}`
    : message;
}

function located(issue: Telling): string {
  const path = pointer(keysOf(issue));
  return path === '' ? messageOf(issue) : `${path}: ${messageOf(issue)}`;
}

function keysOf({ path }: SchemaIssue): PropertyKey[] {
  if (!Array.isArray(path)) return [];
  return path.map((part: PropertyKey | { readonly key: PropertyKey } | null) =>
    typeof part === 'object' && part !== null ? part.key : (part as PropertyKey),
  );
}

function pointer(keys: readonly PropertyKey[]): string {
  return keys.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
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
