/**
 * The other side's methods as nested functions: `api.tool.add(params)` is `call('tool.add', params)`.
 *
 * Promise: a name is made of property reads and nothing else; no name is cached. Only what the language itself asks for by
 * name is no method: `then`, so that a part of the tree can be returned from an async function, and `toJSON`; a part that is
 * printed or serialised calls nobody.
 */
import type { CallOptions } from './call.ts';
import type { Contracts, ParamsOf, ResultOf } from './contract.ts';

type Call<C> = (params?: ParamsOf<C>, options?: CallOptions) => Promise<ResultOf<C>>;

/** A method's contract under its dotted name, as a tree. */
export type Api<C extends Contracts> = string extends keyof C ? Loose : Tree<C, ''>;

interface Loose {
  (params?: unknown, options?: CallOptions): Promise<unknown>;
  readonly [name: string]: Loose;
}

/** The first parts of the names in `C` below `Path`. */
type Part<C, Path extends string> = {
  [M in keyof C & string]: M extends `${Path}${infer Rest}`
    ? Rest extends `${infer Head}.${string}`
      ? Head
      : Rest
    : never;
}[keyof C & string];

type Tree<C extends Contracts, Path extends string> = {
  readonly [P in Part<C, Path>]: (`${Path}${P}` extends keyof C ? Call<C[`${Path}${P}`]> : unknown) &
    ([Part<C, `${Path}${P}.`>] extends [never] ? unknown : Tree<C, `${Path}${P}.`>);
};

type Send = (method: string, params: unknown, options: CallOptions | undefined) => Promise<unknown>;

export function api(send: Send, path = ''): unknown {
  return new Proxy(function name() {}, {
    get: (_target, part) => {
      if (part === Symbol.toPrimitive) return () => `api.${path}`;
      if (typeof part !== 'string' || part === 'then' || part === 'toJSON') return undefined;
      return api(send, path === '' ? part : `${path}.${part}`);
    },
    apply: (_target, _this, [params, options]: [unknown, CallOptions | undefined]) =>
      send(path, params, options),
  });
}
