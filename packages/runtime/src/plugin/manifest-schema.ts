/**
 * The shape of `plugin.yaml`, as a closed JSON Schema. Data only; rules that a schema cannot say are in
 * `manifest-rules.ts`.
 */

const text = (description: string, maxLength = 2000) => ({
  type: 'string',
  minLength: 1,
  maxLength,
  description,
});
const texts = (description: string) => ({ type: 'array', items: text(description) });
const milliseconds = { type: 'integer', minimum: 1, maximum: 86_400_000 };

/** Lower-case letters, digits and single hyphens: safe as a folder, a key and a part of a method name. */
export const PLUGIN_NAME = '^[a-z0-9]+(?:-[a-z0-9]+)*$';
export const CAPABILITY_NAME = '^[A-Za-z0-9_-]{1,64}$';
/** Names of models may also have dots, as their makers' names do; a slash ends the name in a reference. */
const MODEL_NAME = '^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,63}$';

/** What a plugin may need of whoever offers it. "Any tool" would say nothing. */
const NEEDED_CAPABILITY =
  '^(?:tool|model|agent|memory)\\.[A-Za-z0-9_][A-Za-z0-9_.:-]{0,63}$|^(?:model|agent|memory)$';

const pluginName = {
  type: 'string',
  pattern: PLUGIN_NAME,
  maxLength: 64,
  description: 'a plugin name: a-z, 0-9 and single hyphens',
};

const jsonSchema = { type: 'object', description: 'a JSON Schema' };

const named = (pattern: string, description: string, more: object = {}) => ({
  type: 'array',
  items: {
    anyOf: [
      { type: 'string', pattern, description },
      {
        type: 'object',
        required: ['name'],
        additionalProperties: false,
        properties: {
          name: { type: 'string', pattern, description },
          description: { type: 'string', maxLength: 4000 },
          ...more,
        },
      },
    ],
  },
});

const tool = {
  type: 'object',
  required: ['name', 'description'],
  additionalProperties: false,
  properties: {
    name: {
      type: 'string',
      pattern: CAPABILITY_NAME,
      description: 'a tool name: 1 to 64 letters, digits, _ and -',
    },
    description: text('what the tool does, for the model', 16_000),
    input: jsonSchema,
    output: jsonSchema,
    effects: { enum: ['none', 'read', 'write', 'external'] },
    idempotent: { type: 'boolean' },
    approval: { enum: ['auto', 'ask', 'never'] },
    timeout_ms: milliseconds,
    rate: {
      type: 'object',
      additionalProperties: false,
      properties: {
        per_minute: { type: 'integer', minimum: 1 },
        concurrency: { type: 'integer', minimum: 1 },
      },
    },
    method: text('a method of the JSON-RPC server', 200),
  },
};

/** Texts by header name; values may hold placeholders. */
export const HEADERS = {
  type: 'object',
  additionalProperties: { type: 'string' },
  propertyNames: { pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$", description: 'a name of a header' },
};

export const MANIFEST_SCHEMA = {
  type: 'object',
  required: ['name', 'version', 'description'],
  additionalProperties: false,
  properties: {
    name: pluginName,
    version: text('a semantic version such as 1.2.0', 100),
    description: text('one sentence that says what the plugin does'),
    author: text('a name'),
    license: text('a licence'),
    homepage: text('an address'),
    chassis: text('a range of framework versions such as ">=0.1 <1"', 200),
    kind: { enum: ['tool', 'model', 'memory', 'policy', 'agent'] },
    runtime: { enum: ['inline', 'worker', 'process', 'mcp', 'http'] },
    command: {
      type: 'array',
      minItems: 1,
      items: { type: 'string' },
      description: 'a list: program and arguments',
    },
    module: text('a file in the plugin folder such as ./index.ts'),
    url: { type: 'string', pattern: '^(https?|wss?)://', description: 'an address: http, https, ws or wss' },
    headers: HEADERS,
    protocol: { enum: ['chassis', 'jsonrpc'] },
    depends_on: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        properties: {
          name: pluginName,
          capability: {
            type: 'string',
            pattern: NEEDED_CAPABILITY,
            description:
              'a capability: tool.NAME, model.NAME, agent.NAME or memory.NAME; or model, agent or memory for any',
          },
          version: text('a version range such as ^1.0.0', 200),
          optional: { type: 'boolean' },
        },
      },
    },
    enabled: { type: 'boolean', description: 'false: only where the configuration names the plugin' },
    criticality: { enum: ['optional', 'required', 'guard'] },
    permissions: {
      type: 'object',
      additionalProperties: false,
      properties: {
        fs: {
          type: 'object',
          additionalProperties: false,
          properties: { read: texts('a path'), write: texts('a path') },
        },
        net: texts('a host with an optional port'),
        env: {
          type: 'array',
          items: { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]*$', description: 'a name of a variable' },
        },
        secrets: {
          type: 'array',
          items: { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]*$', description: 'a name of a secret' },
        },
        exec: texts('a program'),
        methods: texts('a method such as tool.fetch, or a pattern that ends in *'),
      },
    },
    config: jsonSchema,
    deadlines: {
      type: 'object',
      additionalProperties: false,
      properties: { on_load_ms: milliseconds, on_ready_ms: milliseconds, on_shutdown_ms: milliseconds },
    },
    tools: { type: 'array', maxItems: 2000, items: tool },
    models: named(MODEL_NAME, 'a model name: letters, digits, _ . : -'),
    models_from_config: text("a key of the plugin's configuration whose keys are model names", 100),
    agents: named(CAPABILITY_NAME, 'an agent name: 1 to 64 letters, digits, _ and -', {
      settings: jsonSchema,
    }),
    memory: named('^[A-Za-z0-9_-]{1,57}$', 'a name of a memory: 1 to 57 letters, digits, _ and -'),
    policies: named(CAPABILITY_NAME, 'a policy name: 1 to 64 letters, digits, _ and -', {
      tools: texts('a tool, or the beginning of names before a *'),
      timeout_ms: milliseconds,
    }),
    skills: texts('a folder with a SKILL.md, or a folder of such folders'),
  },
};
