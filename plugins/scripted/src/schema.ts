/** The shape of a script, as a closed JSON Schema. What a schema cannot say is checked in `script.ts`. */

const count = { type: 'integer', minimum: 0 };
const text = { type: 'string' };

const when = {
  type: 'object',
  additionalProperties: false,
  properties: {
    contains: { ...text, minLength: 1 },
    matches: { ...text, minLength: 1, description: 'a regular expression (RE2 syntax)' },
    tool: { ...text, minLength: 1 },
    result_path: { ...text, pattern: '^(/.*)?$', description: 'a JSON Pointer such as /rows/0/id' },
    equals: {},
    turn: { type: 'integer', minimum: 1 },
  },
  dependentRequired: { equals: ['result_path'] },
};

const call = {
  type: 'object',
  required: ['name'],
  additionalProperties: false,
  properties: {
    name: { ...text, pattern: '^[A-Za-z0-9_-]{1,64}$', description: 'a tool name' },
    arguments: { type: ['object', 'string'] },
    id: { ...text, minLength: 1 },
  },
};

const turn = {
  type: 'object',
  additionalProperties: false,
  properties: {
    when,
    say: text,
    think: text,
    call: { type: 'array', minItems: 1, items: call },
    repeat: { type: 'boolean' },
    finish: { enum: ['stop', 'tool_calls', 'length', 'content_filter', 'other'] },
    usage: {
      type: 'object',
      required: ['input', 'output'],
      additionalProperties: false,
      properties: {
        input: count,
        cached: count,
        output: count,
        reasoning: count,
        cost_usd: { type: 'number', minimum: 0 },
      },
    },
    delay_ms: { ...count, maximum: 3_600_000 },
    chunk: { type: 'integer', minimum: 1 },
    error: {
      type: 'object',
      required: ['message'],
      additionalProperties: false,
      properties: {
        status: { type: 'integer', minimum: 400, maximum: 599 },
        message: { ...text, minLength: 1 },
        times: { type: 'integer', minimum: 1 },
        retry_after_ms: count,
      },
    },
  },
};

export const SCRIPT_SCHEMA = {
  type: 'object',
  required: ['turns'],
  additionalProperties: false,
  properties: {
    description: text,
    turns: { type: 'array', minItems: 1, items: turn },
  },
};
