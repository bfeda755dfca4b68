/**
 * What a handler returned, as JSON.
 *
 * Promise: the copy says exactly what the value said, or there is an InvalidOutput error that names the JSON
 * path; nothing is dropped or changed in silence. The copy shares nothing with the plugin.
 */
import { ChassisError } from '@chassis/errors';
import type { Json } from '@chassis/types';

const MAX_DEPTH = 512;
/** UTF-16 units of all strings and keys of one result. */
const MAX_TEXT = 64 * 1024 * 1024;

const { isRawJSON } = JSON as unknown as { isRawJSON(this: void, value: unknown): boolean };

/**
 * A deep copy of a value that is JSON. `undefined` at the top is null: the handler had nothing to say.
 *
 * @throws InvalidOutput with `data.path` (a JSON Pointer) and `data.reason`
 */
export function jsonValue(root: unknown): Json {
  if (root === undefined) return null;
  const open = new Set<object>();
  const path: (string | number)[] = [];
  let text = 0;

  const refuse = (reason: string): ChassisError => {
    const pointer = path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
    const where = pointer === '' ? 'the result' : `the result at ${pointer}`;
    return new ChassisError('InvalidOutput', `${where} ${reason}`, { data: { path: pointer, reason } });
  };
  const count = (length: number): void => {
    text += length;
    if (text > MAX_TEXT) throw refuse(`makes the result longer than ${MAX_TEXT} characters`);
  };

  const copy = (value: unknown): Json => {
    switch (typeof value) {
      case 'string':
        count(value.length);
        return value;
      case 'boolean':
        return value;
      case 'number':
        if (!Number.isFinite(value)) throw refuse(`is ${value}, which JSON cannot hold`);
        return value;
      case 'undefined':
        throw refuse('is undefined, which JSON would drop; leave the member out, or use null');
      case 'bigint':
        throw refuse('is a BigInt, which JSON cannot hold; return it as text');
      case 'function':
      case 'symbol':
        throw refuse(`is a ${typeof value}, which JSON cannot hold`);
      default:
        return value === null || isRawJSON(value) ? (value as Json) : container(value as object);
    }
  };

  const container = (value: object): Json => {
    if (open.has(value)) throw refuse('contains itself');
    if (path.length >= MAX_DEPTH) throw refuse(`is nested deeper than ${MAX_DEPTH} levels`);
    open.add(value);
    let result: Json;
    if (Array.isArray(value)) {
      const list: Json[] = [];
      for (let i = 0; i < value.length; i++) {
        path.push(i);
        list.push(copy(value[i]));
        path.pop();
      }
      result = list;
    } else {
      const kind = Object.prototype.toString.call(value).slice(8, -1);
      if (kind !== 'Object' || typeof (value as { toJSON?: unknown }).toJSON === 'function') {
        const name = (value as { constructor?: { name?: string } }).constructor?.name ?? kind;
        throw refuse(`is a ${name}, which JSON would change; return plain text, numbers, lists and objects`);
      }
      const object: Record<string, Json> = {};
      for (const key of Object.keys(value)) {
        count(key.length);
        path.push(key);
        const member = copy((value as Record<string, unknown>)[key]);
        path.pop();
        if (key === '__proto__') define(object, key, member);
        else object[key] = member;
      }
      result = object;
    }
    open.delete(value);
    return result;
  };

  return copy(root);
}

/** A member whose name means something else to an assignment. */
function define(object: object, key: string, value: Json): void {
  Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
}
