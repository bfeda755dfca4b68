/** Schemas at the gate: what goes into a tool, what comes out of it, and what a model may answer. */
import { ChassisError, type ErrorName } from '@chassis/errors';
import { compileSchema, type Issue } from '@chassis/schema';
import type { Json, JsonObject, ModelResponse, ToolDefinition } from '@chassis/types';
import { contentIn } from './content.ts';

type Check = (value: unknown) => readonly Issue[];

const compiled = new WeakMap<JsonObject, Check>();

/** @throws InvalidParams with `data.issues`, enough for a model to correct itself */
export function checkInput(definition: ToolDefinition, input: Json): void {
  if (typeof input === 'string')
    throw new ChassisError(
      'InvalidParams',
      `the arguments of ${definition.name} are not the text of a JSON object`,
      {
        data: {
          issues: [
            { path: '', message: 'not the text of a JSON object', expected: 'object', received: input },
          ],
        },
      },
    );
  check('InvalidParams', `the arguments of ${definition.name}`, definition.input, input);
}

/** @throws InvalidOutput with `data.issues` and the offending `data.output` */
export function checkOutput(definition: ToolDefinition, output: Json): void {
  if (definition.output === undefined) return;
  const { structured = output } = contentIn(output) ?? {};
  check('InvalidOutput', `the result of ${definition.name}`, definition.output, structured, { output });
}

/** @throws InvalidOutput */
export function checkModelResponse(response: ModelResponse): void {
  check('InvalidOutput', "the model's answer", responseSchema, response, {});
}

function check(code: ErrorName, what: string, schema: JsonObject, value: unknown, data: object = {}): void {
  let validate = compiled.get(schema);
  if (validate === undefined) {
    validate = compileSchema(schema);
    compiled.set(schema, validate);
  }
  const issues = validate(value);
  const first = issues[0];
  if (first === undefined) return;
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
  throw new ChassisError(code, `${what} at ${first.path || 'the top'}: ${first.message}${more}`, {
    data: { issues, ...data },
  });
}

const responseSchema: JsonObject = {
  type: 'object',
  required: ['message', 'finish_reason', 'usage'],
  properties: {
    message: {
      type: 'object',
      required: ['role', 'content'],
      properties: {
        role: { const: 'assistant' },
        content: { type: 'string' },
        reasoning: { type: 'string' },
        tool_calls: {
          type: 'array',
          items: {
            type: 'object',
            required: ['id', 'name', 'arguments'],
            properties: { id: { type: 'string' }, name: { type: 'string' }, arguments: { type: 'string' } },
          },
        },
      },
    },
    finish_reason: { type: 'string' },
    usage: { type: ['object', 'null'] },
  },
};
