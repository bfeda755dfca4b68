/**
 * A tool whose schemas stand beside its code: the handler's types come from them, and so does what a model is told.
 *
 * Promise: the handler never sees input that breaks the schema, and nobody sees output that does. Schemas may be JSON
 * Schema, written in place, or of any library with the Standard Schema interface.
 */
import { ChassisError } from '@chassis/errors';
import type { JsonObject } from '@chassis/types';
import type { FromSchema } from './from-schema.ts';
import type { InvokeContext } from './plugin.ts';
import {
  isStandardSchema,
  type StandardInput,
  type StandardIssue,
  type StandardOutput,
  type StandardSchema,
} from './standard-schema.ts';

type Schema = StandardSchema | { readonly type: unknown } | { readonly anyOf: unknown };

/** What callers may give, and what the handler gets. They differ where a schema fills in defaults or converts. */
type Given<S> = S extends StandardSchema ? StandardInput<S> : FromSchema<S>;
type Taken<S> = S extends StandardSchema ? StandardOutput<S> : FromSchema<S>;

/** What a tool says about itself to the harness, as JSON Schema 2020-12. */
export interface ToolShape {
  readonly input?: JsonObject;
  readonly output?: JsonObject;
}

export interface DefinedTool<I, O> {
  (input: I, ctx: InvokeContext): Promise<O>;
  readonly shape: ToolShape;
}

/**
 * Defines a tool. Its name and what it may do stand in `plugin.yaml`; `input` and `output` may be left out there.
 *
 * @param tool `input`: schema of the arguments, an object; `output`: schema of the result; `run`: the handler
 * @throws InvalidParams when the input is no object schema
 * @example defineTool({ input: z.object({ text: z.string() }), run: ({ text }) => text.length })
 */
export function defineTool<
  const I extends Schema,
  const O extends Schema = { readonly type: unknown },
>(tool: {
  readonly input: I;
  readonly output?: O;
  run(input: Taken<I>, ctx: InvokeContext): Given<O> | Promise<Given<O>>;
}): DefinedTool<Given<I>, Taken<O>> {
  const shape: ToolShape = {
    ...shapeOf('input', tool.input),
    ...(tool.output === undefined ? {} : shapeOf('output', tool.output)),
  };
  if (shape.input !== undefined && shape.input.type !== 'object')
    throw new ChassisError(
      'InvalidParams',
      'the input of a tool is named arguments: its schema must be of type object',
    );
  const handler = async (input: unknown, ctx: InvokeContext): Promise<unknown> => {
    const taken = await checked('InvalidParams', 'the arguments', tool.input, input);
    const output = await tool.run(taken as Taken<I>, ctx);
    return tool.output === undefined ? output : checked('InvalidOutput', 'the result', tool.output, output);
  };
  return Object.assign(handler, { shape }) as DefinedTool<Given<I>, Taken<O>>;
}

/** The shape that a handler brings along, if `defineTool` made it. */
export function shapeIn(handler: unknown): ToolShape | undefined {
  const { shape } = handler as { shape?: unknown };
  return typeof shape === 'object' && shape !== null ? (shape as ToolShape) : undefined;
}

/**
 * A library that gives no JSON Schema is no mistake: the manifest has it then. An output that JSON Schema cannot describe is
 * checked by the library alone; of an input a model must be told.
 */
function shapeOf(side: 'input' | 'output', schema: Schema): ToolShape {
  if (!isStandardSchema(schema)) return { [side]: schema };
  const converter = schema['~standard'].jsonSchema;
  if (converter === undefined) return {};
  try {
    const { $schema: _, ...json } = converter[side]({ target: 'draft-2020-12' });
    return { [side]: json };
  } catch (cause) {
    if (side === 'output') return {};
    throw new ChassisError(
      'InvalidParams',
      `the input schema cannot be written as JSON Schema, which a model needs: ${(cause as Error).message}`,
      { cause },
    );
  }
}

/** JSON Schema is checked by the harness, on the way in and on the way out. */
async function checked(
  code: 'InvalidParams' | 'InvalidOutput',
  what: string,
  schema: Schema,
  value: unknown,
): Promise<unknown> {
  if (!isStandardSchema(schema)) return value;
  const result = await schema['~standard'].validate(value);
  if (result.issues === undefined) return result.value;
  const issues = result.issues.map((issue) => ({ path: pointer(issue), message: issue.message }));
  const [first] = issues;
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
  throw new ChassisError(code, `${what} at ${first?.path || 'the top'}: ${first?.message}${more}`, {
    data: { issues },
  });
}

function pointer({ path = [] }: StandardIssue): string {
  return path
    .map((part) => (typeof part === 'object' ? part.key : part))
    .map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('');
}
