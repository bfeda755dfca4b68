/** The shape of `chassis.yaml`, as a closed JSON Schema. Data only. */
import { HEADERS, PLUGIN_NAME } from '../plugin/manifest-schema.ts';

const variable = { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]*$', description: 'a name of a variable' };
const word = { type: 'string', minLength: 1 };
const words = { type: 'array', items: word };
const count = { type: 'integer', minimum: 1 };
const amount = { type: 'number', exclusiveMinimum: 0 };
const criticality = { enum: ['optional', 'required', 'guard'] };

const pluginBlock = {
  type: 'object',
  additionalProperties: false,
  properties: {
    enabled: { type: 'boolean' },
    config: { type: 'object' },
    criticality,
    env: {
      type: 'object',
      additionalProperties: { type: 'string' },
      propertyNames: { pattern: variable.pattern, description: variable.description },
    },
    headers: HEADERS,
    secrets: { type: 'array', items: variable },
  },
};

export const CONFIG_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  properties: {
    agent: {
      type: 'object',
      additionalProperties: false,
      properties: { use: word, system: { type: 'string' }, settings: { type: 'object' } },
    },
    model: {
      type: 'object',
      additionalProperties: false,
      properties: { use: { type: 'array', items: word }, params: { type: 'object' } },
    },
    workspace: word,
    limits: {
      type: 'object',
      additionalProperties: false,
      properties: {
        steps: count,
        tokens: count,
        cost_usd: amount,
        minutes: amount,
        repeats: { ...count, default: 8 },
      },
    },
    retry: {
      type: 'object',
      additionalProperties: false,
      properties: { attempts: count, base_ms: { type: 'integer', minimum: 0 } },
    },
    tools: {
      type: 'object',
      additionalProperties: false,
      properties: {
        allow: words,
        deny: words,
        budget_tokens: { ...count, default: 10_000 },
        approval: { type: 'object', additionalProperties: { enum: ['auto', 'ask', 'never'] } },
      },
    },
    skills: { type: 'object', additionalProperties: false, properties: { paths: words } },
    secrets: {
      type: 'object',
      propertyNames: { pattern: variable.pattern, description: variable.description },
      additionalProperties: {
        type: 'object',
        description: '{ env: VARIABLE } or { file: PATH }',
        minProperties: 1,
        maxProperties: 1,
        additionalProperties: false,
        properties: { env: variable, file: word },
      },
    },
    redact: { type: 'array', items: variable },
    plugins: {
      type: 'object',
      properties: { paths: words, npm: words, watch: { type: 'boolean' } },
      propertyNames: {
        pattern: PLUGIN_NAME,
        description: 'paths, npm, watch, or a plugin name (a-z, 0-9 and single hyphens)',
      },
      additionalProperties: pluginBlock,
    },
    enforcement: {
      type: 'object',
      additionalProperties: false,
      properties: { minimum: { enum: ['declared', 'runtime', 'kernel'] } },
    },
  },
};

/** The first segments of `CHASSIS_*` variables that set configuration; other such variables mean other things. */
export const TOP_KEYS: readonly string[] = Object.keys(CONFIG_SCHEMA.properties);
