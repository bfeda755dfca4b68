/**
 * JSON Pointers (RFC 6901) into plain values.
 *
 * Promise: reading and setting never change the value given; a path that does not exist is refused with the part
 * that is missing and the members that are there.
 */
import { ChassisError } from '@chassis/errors';
import type { Json } from '@chassis/types';
import { isExactNumber, setMember } from './json.ts';
import { nearest } from './nearest.ts';

/**
 * The pointer's tokens, unescaped.
 * @throws ChassisError InvalidParams when it is neither empty nor starts with `/`, or holds a bad `~` escape
 */
export function parsePointer(pointer: string): string[] {
  if (pointer === '') return [];
  if (!pointer.startsWith('/')) {
    throw new ChassisError('InvalidParams', `${pointer} is no JSON Pointer: it must start with /`, {
      data: { path: pointer },
    });
  }
  const bad = /~(?![01])/.exec(pointer);
  if (bad) {
    throw new ChassisError('InvalidParams', `${pointer} is no JSON Pointer: write ~ as ~0 and / as ~1`, {
      data: { path: pointer },
    });
  }
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Tokens as a pointer. */
export function formatPointer(tokens: readonly (string | number)[]): string {
  return tokens.map((token) => `/${String(token).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/**
 * The value that a pointer names.
 * @throws ChassisError InvalidParams with `data: { path, at, nearest }` when it does not exist
 */
export function getPointer(value: Json, pointer: string): Json {
  let current = value;
  const tokens = parsePointer(pointer);
  for (const [depth, token] of tokens.entries()) {
    const member = memberOf(current, token);
    if (member === undefined) throw missing(pointer, tokens.slice(0, depth), token, current);
    current = member;
  }
  return current;
}

/**
 * A copy with the value at `pointer` set; what is not on the way is shared. The last token may name a new member of an
 * object, or `-` or the length of an array to add an item; everything before it must exist.
 * @throws ChassisError InvalidParams as `getPointer` does
 */
export function setPointer(value: Json, pointer: string, replacement: Json): Json {
  const tokens = parsePointer(pointer);
  const set = (current: Json, depth: number): Json => {
    const token = tokens[depth];
    if (token === undefined) return replacement;
    const last = depth === tokens.length - 1;
    if (Array.isArray(current)) {
      const list = [...(current as readonly Json[])];
      const index = token === '-' ? list.length : indexOf(token);
      if (index === undefined || index > list.length || (index === list.length && !last)) {
        throw missing(pointer, tokens.slice(0, depth), token, current);
      }
      list[index] = index === list.length ? replacement : set(list[index] as Json, depth + 1);
      return list;
    }
    const member = memberOf(current, token);
    if (!isObject(current) || (member === undefined && !last)) {
      throw missing(pointer, tokens.slice(0, depth), token, current);
    }
    const copy: Record<string, Json> = {};
    for (const [key, existing] of Object.entries(current)) setMember(copy, key, existing);
    setMember(copy, token, member === undefined ? replacement : set(member, depth + 1));
    return copy;
  };
  return set(value, 0);
}

function isObject(value: Json): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isExactNumber(value);
}

function indexOf(token: string): number | undefined {
  return /^(0|[1-9]\d*)$/.test(token) ? Number(token) : undefined;
}

function memberOf(value: Json, token: string): Json | undefined {
  if (Array.isArray(value)) {
    const index = indexOf(token);
    return index === undefined ? undefined : (value as readonly Json[])[index];
  }
  return isObject(value) && Object.hasOwn(value, token) ? value[token] : undefined;
}

function missing(pointer: string, parent: readonly string[], token: string, value: Json): ChassisError {
  const at = formatPointer([...parent, token]);
  const where = parent.length === 0 ? 'the root' : formatPointer(parent);
  let hint: string;
  let near: string[] = [];
  if (Array.isArray(value)) {
    hint = `${where} is an array of ${value.length}`;
  } else if (isObject(value)) {
    const names = Object.keys(value);
    near = nearest(token, names);
    if (near.length === 0) near = names.slice(0, 8);
    hint =
      near.length === 0
        ? `${where} is empty`
        : `${where} has ${near.map((name) => JSON.stringify(name)).join(', ')}`;
  } else {
    hint = `${where} is ${value === null ? 'null' : `a ${isExactNumber(value) ? 'number' : typeof value}`}`;
  }
  return new ChassisError('InvalidParams', `there is nothing at ${at}: ${hint}`, {
    data: { path: pointer, at, nearest: near.map((name) => formatPointer([...parent, name])) },
  });
}
