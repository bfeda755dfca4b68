/**
 * `rpc.discover`: the service describes itself as an OpenRPC document (https://spec.open-rpc.org, 1.3).
 *
 * Promise: the document lists every method that this caller may use and no other; schemas come from the
 * contracts, through the schema library where it can write JSON Schema.
 */
import { type Caller, type Contract, mayUse } from './contract.ts';
import type { Entry } from './methods.ts';
import { isStandardSchema, type Schema } from './schema.ts';

type Json = Record<string, unknown>;

export interface ServiceInfo {
  readonly title: string;
  readonly version: string;
  readonly description?: string;
}

export function openRpc(entries: Iterable<Entry>, who: Caller, info: ServiceInfo): Json {
  const methods = [...entries].filter((entry) => allowed(entry, who)).map(describe);
  return { openrpc: '1.3.2', info, methods: [...methods, self] };
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

function describe({ name, kind, contract }: Entry): Json {
  const { params, paramStructure } = paramsOf(contract);
  return {
    name,
    ...(contract.summary === undefined ? {} : { summary: contract.summary }),
    ...(contract.description === undefined ? {} : { description: contract.description }),
    paramStructure,
    params,
    // OpenRPC: a method without a result is a notification.
    ...(kind === 'notification'
      ? {}
      : { result: { name: 'result', schema: jsonSchemaOf(contract.result, 'output') } }),
  };
}

/** OpenRPC lists params one by one; the schema says which there are and which are required. */
function paramsOf(contract: Contract): { params: Json[]; paramStructure: string } {
  const schema = jsonSchemaOf(contract.params, 'input');
  const properties = (schema.properties ?? {}) as Record<string, unknown>;
  const required = new Set((schema.required ?? []) as string[]);
  const items = (schema.prefixItems ?? []) as unknown[];
  if (items.length > 0) {
    const params = items.map((item, at) => ({ name: `param${at}`, required: true, schema: item }));
    return { params, paramStructure: 'by-position' };
  }
  const names = [...new Set([...(contract.positional ?? []), ...Object.keys(properties)])];
  const params = names.map((name) => ({
    name,
    required: contract.params === undefined || required.has(name),
    schema: properties[name] ?? {},
  }));
  return { params, paramStructure: contract.positional ? 'either' : 'by-name' };
}

function jsonSchemaOf(schema: Schema | undefined, side: 'input' | 'output'): Json {
  if (schema === undefined) return {};
  if (!isStandardSchema(schema)) return schema;
  try {
    return schema['~standard'].jsonSchema?.[side]({ target: 'draft-2020-12' }) ?? {};
  } catch {
    return {}; // the library has no JSON Schema for it: anything, as far as a document can say
  }
}
