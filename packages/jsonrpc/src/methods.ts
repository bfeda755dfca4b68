/**
 * The methods that a peer offers, by name. One registry may serve any number of connections.
 *
 * Promise: looking a name up is one Map access, however many there are; names such as `toString` or
 * `__proto__` are ordinary names; `rpc.*` belongs to the protocol and cannot be taken.
 */
import type { Context } from './context.ts';
import { type Contract, paramsCheck, resultCheck, type SchemaCompiler } from './contract.ts';
import type { InputOf, OutputOf, Schema } from './schema.ts';
import { promiseOf } from './thenable.ts';

/** Runs a method or notification. May return a value or a promise; `undefined` is answered as `null`. */
export type Handler<P = unknown, R = unknown> = (params: P, context: Context) => R;

export interface Entry {
  readonly name: string;
  readonly kind: 'method' | 'notification';
  readonly contract: Contract;
  readonly exact: boolean;
  /** Whether params or result have to be checked. Without, `invoke` is the handler itself. */
  readonly invoke: Handler;
}

const none: Contract = {};

export class Methods {
  readonly #entries = new Map<string, Entry>();
  readonly #compile: SchemaCompiler | undefined;

  /** @param options `jsonSchema` makes contracts in plain JSON Schema validate; without it they only document */
  constructor(options: { readonly jsonSchema?: SchemaCompiler | undefined } = {}) {
    this.#compile = options.jsonSchema;
  }

  /**
   * Offers a method: every request gets exactly one response.
   *
   * @throws TypeError if the name is taken, or begins with `rpc.`
   */
  method<P = unknown>(name: string, handler: Handler<P>): this;
  method<const P extends Schema, const R extends Schema>(
    name: string,
    contract: Contract<P, R>,
    handler: Handler<OutputOf<P>, InputOf<R> | Promise<InputOf<R>>>,
  ): this;
  method(name: string, first: Contract | Handler<never>, second?: Handler<never>): this {
    return this.#add(name, 'method', first, second);
  }

  /**
   * Listens for a notification: nothing is ever answered; what the handler throws goes to the log.
   *
   * @throws TypeError if the name is taken, or begins with `rpc.`
   */
  notification<P = unknown>(name: string, handler: Handler<P>): this;
  notification<const P extends Schema>(
    name: string,
    contract: Contract<P>,
    handler: Handler<OutputOf<P>>,
  ): this;
  notification(name: string, first: Contract | Handler<never>, second?: Handler<never>): this {
    return this.#add(name, 'notification', first, second);
  }

  /** Withdraws a method or notification; running calls finish. False if there was none of that name. */
  remove(name: string): boolean {
    return this.#entries.delete(name);
  }

  get(name: string): Entry | undefined {
    return this.#entries.get(name);
  }

  entries(): Iterable<Entry> {
    return this.#entries.values();
  }

  #add(name: string, kind: Entry['kind'], first: Contract | Handler<never>, second?: Handler<never>): this {
    const contract = typeof first === 'function' ? none : first;
    const handler = (typeof first === 'function' ? first : second) as Handler | undefined;
    if (
      typeof name !== 'string' ||
      typeof handler !== 'function' ||
      typeof contract !== 'object' ||
      !contract
    ) {
      throw new TypeError('a method needs a name, a contract or none, and a handler');
    }
    if (name.startsWith('rpc.')) throw new TypeError(`"${name}": names that begin with rpc. are reserved`);
    if (this.#entries.has(name)) throw new TypeError(`"${name}" is already registered`);
    const exact = contract.exact ?? false;
    this.#entries.set(name, { name, kind, contract, exact, invoke: this.#checked(contract, handler) });
    return this;
  }

  /** The handler between the checks of its contract; synchronous as long as all three are. */
  #checked(contract: Contract, handler: Handler): Handler {
    const before = paramsCheck(contract, this.#compile);
    const after = resultCheck(contract, this.#compile);
    if (!before && !after) return handler;
    const finish = (result: unknown): unknown => {
      if (!after) return result;
      const later = promiseOf(result);
      return later ? later.then(after) : after(result);
    };
    return (params, context) => {
      const checked = before ? before(params) : params;
      return checked instanceof Promise
        ? checked.then((value) => finish(handler(value, context)))
        : finish(handler(checked, context));
    };
  }
}
