/**
 * `rpc.discover`: the service describes itself as an OpenRPC document (https://spec.open-rpc.org, 1.3).
 *
 * Promise: the document lists every method that this caller may use and no other; schemas come from the
 * contracts, through the schema library where it can write JSON Schema. Every reference in it points into it. Params that no
 * list can describe (alternatives, any number of items) stand whole in `x-params-schema`.
 */
import { type Caller, type Contract, mayUse } from './contract.ts';
import type { Entry } from './methods.ts';
import { isStandardSchema, type Schema } from './schema.ts';
import { SharedSchemas } from './shared-schemas.ts';

type Json = Record<string, unknown>;

export interface ServiceInfo {
  readonly title: string;
  readonly version: string;
  readonly description?: string;
}

export function openRpc(entries: Iterable<Entry>, who: Caller, info: ServiceInfo): Json {
  const shared = new SharedSchemas();
  const methods = [...entries].filter((entry) => allowed(entry, who)).map((entry) => describe(entry, shared));
  const { schemas } = shared;
  const components = Object.keys(schemas).length > 0 ? { components: { schemas } } : {};
  return { openrpc: '1.3.2', info, methods: [...methods, self], ...components };
}

const self: Json = {
  name: 'rpc.discover',
  description: 'This document.',
  params: [],
  result: { name: 'document', schema: { type: 'object' } },
};

function allowed(entry: Entry, who: Caller): boolean {
  try {
    return mayUse(entry.contract.access, who);
  } catch {
    return false; // a rule that throws refuses
  }
}

function describe({ name, kind, contract }: Entry, shared: SharedSchemas): Json {
  return {
    name,
    ...(contract.summary === undefined ? {} : { summary: contract.summary }),
    ...(contract.description === undefined ? {} : { description: contract.description }),
    ...paramsOf(contract, shared.add(jsonSchemaOf(contract.params, 'input'), `${name}.params`), shared),
    // OpenRPC: a method without a result is a notification.
    ...(kind === 'notification'
      ? {}
      : {
          result: {
            name: 'result',
            schema: shared.add(jsonSchemaOf(contract.result, 'output'), `${name}.result`),
          },
        }),
  };
}

/** What a list of params cannot say: then the whole schema stands beside it. */
const beyondLists = ['$ref', 'allOf', 'anyOf', 'else', 'if', 'items', 'not', 'oneOf', 'patternProperties'];

/** OpenRPC lists params one by one; the schema says which there are and which are required. */
function paramsOf(contract: Contract, whole: Json, shared: SharedSchemas): Json {
  const schema = shared.resolve(whole);
  const { params, paramStructure } = listOf(contract, schema);
  const { additionalProperties: more } = schema;
  const says =
    beyondLists.some((keyword) => schema[keyword] !== undefined && schema[keyword] !== false) ||
    (typeof more === 'object' && more !== null && Object.keys(more).length > 0);
  return { paramStructure, params, ...(says ? { 'x-params-schema': whole } : {}) };
}

function listOf(contract: Contract, schema: Json): { params: Json[]; paramStructure: string } {
  const properties = (schema.properties ?? {}) as Record<string, unknown>;
  const required = new Set((schema.required ?? []) as string[]);
  if (schema.type === 'array' || Array.isArray(schema.prefixItems)) {
    const items = (schema.prefixItems ?? []) as unknown[];
    const least = typeof schema.minItems === 'number' ? schema.minItems : items.length;
    const params = items.map((item, at) => ({ name: `param${at}`, required: at < least, schema: item }));
    return { params, paramStructure: 'by-position' };
  }
  const names = [...new Set([...(contract.positional ?? []), ...Object.keys(properties)])];
  const params = names.map((name) => ({
    name,
    required: contract.params === undefined || required.has(name),
    schema: Object.hasOwn(properties, name) ? properties[name] : {},
  }));
  const either = contract.positional !== undefined || (names.length === 0 && schema.type !== 'object');
  return { params, paramStructure: either ? 'either' : 'by-name' };
}

/**
 * The newest JSON Schema. What the library cannot say (a date, a transformation) is left open, not the whole; what is no JSON
 * leaves the schema open, not the document unwritten.
 */
function jsonSchemaOf(schema: Schema | undefined, side: 'input' | 'output'): Json {
  if (schema === undefined) return {};
  for (const libraryOptions of [undefined, { unrepresentable: 'any' }]) {
    try {
      const written = isStandardSchema(schema)
        ? schema['~standard'].jsonSchema?.[side]({ target: 'draft-2020-12', libraryOptions })
        : schema;
      return JSON.parse(JSON.stringify(written ?? {})) as Json;
    } catch {
      // tried once more, then the document says: anything
    }
  }
  return {};
}
