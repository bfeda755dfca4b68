/**
 * What a memory is: two tools with fixed schemas, `NAME_search` and `NAME_put`, whoever keeps what is put there. So an agent
 * reaches every memory in the same way, through the gate, and a replay has its answers.
 */
import type { JsonObject, ToolDefinition } from '@chassis/types';

const text = (description: string, maxLength: number): JsonObject => ({
  type: 'string',
  minLength: 1,
  maxLength,
  description,
});

const entry: JsonObject = {
  type: 'object',
  required: ['key', 'text'],
  properties: {
    key: { type: 'string' },
    text: { type: 'string' },
    tags: { type: 'array', items: { type: 'string' } },
    at: { type: 'string', description: 'when it was put there, ISO 8601' },
    score: { type: 'number', description: 'how well it fits; more is better' },
  },
};

const searchInput: JsonObject = {
  type: 'object',
  properties: {
    query: text('words to look for; entries with more of them come first', 1_000),
    limit: { type: 'integer', minimum: 1, maximum: 50, description: 'most entries to answer; 10' },
  },
  required: ['query'],
  additionalProperties: false,
};

const putInput: JsonObject = {
  type: 'object',
  properties: {
    text: text('what to remember, in words that it will be looked for with', 100_000),
    key: text('a name of its own; an entry of the same key is replaced', 200),
    tags: { type: 'array', maxItems: 20, items: text('a word', 100) },
  },
  required: ['text'],
  additionalProperties: false,
};

export function memoryTools({
  name,
  description,
}: {
  readonly name: string;
  readonly description: string;
}): readonly ToolDefinition[] {
  const what = description === '' ? `the memory "${name}"` : `the memory "${name}" (${description})`;
  return [
    {
      name: `${name}_search`,
      description: `Searches ${what}: what earlier runs have put there. Answers the entries that fit best.`,
      input: searchInput,
      output: {
        type: 'object',
        required: ['entries'],
        properties: { entries: { type: 'array', items: entry } },
      },
      effects: 'read',
      idempotent: true,
      approval: 'auto',
      timeout_ms: 10_000,
    },
    {
      name: `${name}_put`,
      description: `Puts something into ${what}, so that later runs can find it.`,
      input: putInput,
      output: { type: 'object', required: ['key'], properties: { key: { type: 'string' } } },
      effects: 'external',
      idempotent: true,
      approval: 'auto',
      timeout_ms: 10_000,
    },
  ];
}
