/**
 * Puts streamed pieces of tool calls together.
 *
 * Promise: a call is told from its neighbours by everything a provider may give (id, index, order), because
 * some give no index, some give every call the same one, and most give the id on the first piece only. The
 * text of the arguments is kept as it came, whatever it is.
 */
import type { ModelChunk, ToolCall } from '@chassis/types';
import { isObjectText } from './request.ts';

interface Building {
  /** Order of appearance: what our own chunks are numbered by. */
  readonly ordinal: number;
  readonly index: number | undefined;
  id: string;
  name: string;
  arguments: string;
}

export class ToolCallAssembly {
  readonly #calls: Building[] = [];

  /** Takes an element of `delta.tool_calls`, whatever it is; answers what it added. */
  add(piece: unknown): NonNullable<ModelChunk['tool_call']> | undefined {
    if (typeof piece !== 'object' || piece === null) return undefined;
    const { index, id, function: fn } = piece as { index?: unknown; id?: unknown; function?: unknown };
    const { name, arguments: args } = (typeof fn === 'object' && fn !== null ? fn : {}) as {
      name?: unknown;
      arguments?: unknown;
    };
    const given = {
      index: typeof index === 'number' ? index : undefined,
      id: typeof id === 'string' ? id : '',
      name: typeof name === 'string' ? name : '',
      text: textOf(args),
    };
    const known = this.#find(given);
    const call = known ?? this.#begin(given.index);
    const named = call.name;
    if (call.id === '') call.id = given.id;
    // Some repeat the name on every piece; a name in pieces ends before the arguments begin.
    if (call.name === '' || (given.name !== call.name && call.arguments === '')) call.name += given.name;
    call.arguments += given.text;
    const added = {
      ...(given.id !== '' && (known === undefined || known.id === given.id) ? { id: given.id } : {}),
      ...(call.name === named ? {} : { name: call.name.slice(named.length) }),
      ...(given.text === '' ? {} : { arguments: given.text }),
    };
    return Object.keys(added).length === 0 ? undefined : { index: call.ordinal, ...added };
  }

  #find(given: { index: number | undefined; id: string; name: string; text: string }): Building | undefined {
    const newest = this.#calls.findLast((call) => given.index === undefined || call.index === given.index);
    // What has neither id nor name cannot begin a call, whatever index it carries.
    if (newest === undefined) return given.id === '' && given.name === '' ? this.#calls.at(-1) : undefined;
    if (given.id !== '') {
      const same = this.#calls.findLast(
        (call) => call.id === given.id && (given.index === undefined || call.index === given.index),
      );
      if (same !== undefined) return same;
      return newest.id === '' && !isObjectText(newest.arguments) ? newest : undefined;
    }
    // Without any id, a whole call after a whole call is another one.
    const another = given.name !== '' && given.text !== '' && isObjectText(newest.arguments);
    return another ? undefined : newest;
  }

  #begin(index: number | undefined): Building {
    const call = { ordinal: this.#calls.length, index, id: '', name: '', arguments: '' };
    this.#calls.push(call);
    return call;
  }

  /**
   * The calls so far, in order of appearance. A call without id gets one from `fresh`, and a repeated id becomes
   * a distinct one, because results are matched by id.
   */
  calls(fresh: (ordinal: number) => string): ToolCall[] {
    const taken = new Set<string>();
    return this.#calls
      .filter((call) => call.name !== '' || call.arguments !== '')
      .map((call) => {
        const base = call.id === '' ? fresh(call.ordinal) : call.id;
        let id = base;
        for (let n = 2; taken.has(id); n++) id = `${base}_${n}`;
        taken.add(id);
        return { id, name: call.name, arguments: call.arguments };
      });
  }
}

/** Some send the arguments as an object instead of as text. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : '';
}
