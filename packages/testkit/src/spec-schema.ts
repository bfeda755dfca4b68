/** What may stand in a test's file. */
import type { JsonObject } from '@chassis/types';

const names: JsonObject = { type: 'array', items: { type: 'string' } };
const closed = (properties: JsonObject): JsonObject => ({
  type: 'object',
  additionalProperties: false,
  properties,
});

export const SPEC_SCHEMA: JsonObject = {
  ...closed({
    name: { type: 'string', minLength: 1 },
    recording: { type: 'string', minLength: 1 },
    input: names,
    normalise: { type: 'array', items: { enum: ['paths', 'durations', 'ids'] } },
    expect: closed({
      outcome: { enum: ['ok', 'failed', 'cancelled'] },
      tools: closed({
        includes: names,
        forbids: names,
        order: names,
        max_calls: { type: 'integer', minimum: 0 },
      }),
      files: { type: 'object', additionalProperties: { type: ['string', 'null'] } },
      final: closed({ equals: { type: 'string' }, contains: names }),
      cost: closed({
        usd: { type: 'number', minimum: 0 },
        tokens: { type: 'integer', minimum: 0 },
        steps: { type: 'integer', minimum: 0 },
      }),
      never: names,
    }),
  }),
  required: ['name', 'recording', 'expect'],
};
