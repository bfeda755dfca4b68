/** A call that could not be one: no JSON, of a tool that was not offered, with an argument that is none of the tool's, or without one. */
import { ErrorCode } from '@chassis/errors';
import type { SessionView, Step } from '@chassis/journal';
import type { JsonObject } from '@chassis/types';
import { parseDocument } from './json.ts';
import { callOf } from './origins.ts';
import { callsOf, type Place, requestOf } from './place.ts';
import { follow, keysOf, parentOf } from './pointer.ts';
import { issuesOf } from './statuses.ts';

export interface Misfit {
  readonly kind: 'text' | 'tool' | 'unknown' | 'missing';
  /** The name of the tool, or the pointer of the argument. */
  readonly what: string;
  /** The names that there are instead: of the tools offered, or of the arguments. */
  readonly names: readonly string[];
  /** Where the model wrote the call. */
  readonly at: Place;
}

/** What is wrong with a call as a model wrote it, when the call failed for that. */
export function misfitOf(view: SessionView, step: Step): Misfit | undefined {
  const code = step.error?.code;
  if (code !== ErrorCode.MethodNotFound && code !== ErrorCode.InvalidParams) return undefined;
  const written = callOf(view, step);
  const call = written && callsOf(written.model).find(({ pointer }) => pointer === written.pointer);
  if (!written || !call) return undefined;
  const model = written.model.number;
  const at = { step: model, pointer: call.pointer };
  const { tools } = requestOf(view, model);
  const tool = tools.find(({ name }) => name === call.name);
  if (code === ErrorCode.MethodNotFound) {
    if (tool || tools.length === 0) return undefined;
    const place = { step: model, pointer: `${parentOf(call.pointer)}/name` };
    return { kind: 'tool', what: call.name, names: tools.map(({ name }) => name), at: place };
  }
  if (parseDocument(call.arguments) === undefined) return { kind: 'text', what: '', names: [], at };
  for (const { path } of issuesOf(step.error)) {
    if (follow(step.input, path) === undefined) return { kind: 'missing', what: path, names: [], at };
    const names = membersAt(tool?.parameters, parentOf(path));
    const key = keysOf(path).at(-1);
    if (names && key !== undefined && !names.includes(key)) return { kind: 'unknown', what: path, names, at };
  }
  return undefined;
}

/** The members that a schema allows at a place, when it allows no others. */
function membersAt(schema: JsonObject | undefined, path: string): readonly string[] | undefined {
  let at: unknown = schema;
  for (const key of keysOf(path)) at = follow(at, /^\d+$/.test(key) ? '/items' : `/properties/${key}`);
  const { properties, additionalProperties } = (at ?? {}) as JsonObject;
  if (additionalProperties !== false || typeof properties !== 'object' || properties === null)
    return undefined;
  return Object.keys(properties);
}
