/**
 * The interface that schema libraries agree on (standardschema.dev), as far as tools need it; types only, so that no
 * plugin has to install anything for it. zod, valibot, arktype and others implement it.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    /** Newer libraries also give their schema as JSON Schema. */
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown>;
      readonly output: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown>;
    };
  };
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** What a value may be before the schema has changed anything (defaults are still open). */
export type StandardInput<S extends StandardSchema> = NonNullable<S['~standard']['types']>['input'];
/** What it is afterwards. */
export type StandardOutput<S extends StandardSchema> = NonNullable<S['~standard']['types']>['output'];

export function isStandardSchema(schema: object): schema is StandardSchema {
  return '~standard' in schema;
}
