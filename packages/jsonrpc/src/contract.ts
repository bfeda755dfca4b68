/**
 * What a method promises: its kind, params, result, and who may use it.
 *
 * Promise: a contract is data. Without schemas nothing is checked and nothing is paid; what can be prepared is
 * prepared when the method is registered, not when it is called.
 */
import { ErrorCode, RpcError } from './errors.ts';
import {
  type Checked,
  type InputOf,
  type Issue,
  isStandardSchema,
  issuesOf,
  type JsonSchema,
  type OutputOf,
  type Schema,
} from './schema.ts';
import { promiseOf } from './thenable.ts';

/** A JSON Schema made into a function that lists what is wrong with a value. */
export type SchemaCompiler = (schema: JsonSchema) => (value: unknown) => readonly Issue[];

export interface Contract<P extends Schema = Schema, R extends Schema = Schema> {
  /** Params as one object (or array, if the schema says so). */
  readonly params?: P;
  /** What the handler returns; a result that breaks it is answered with InvalidOutput (−32009). */
  readonly result?: R;
  /** Names of params in order: then callers may also send them by position. */
  readonly positional?: readonly string[];
  /**
   * Who may call. A string names a scope that `peer.scopes` must contain; a function decides itself, and
   * may throw an `RpcError` to say why not. Refused callers get PermissionDenied (−32005) and do not see the method
   * in `rpc.discover`.
   */
  readonly access?: string | ((who: Caller) => boolean);
  readonly summary?: string;
  readonly description?: string;
  /** Numbers in params that a double would change arrive as `JSON.rawJSON` values. */
  readonly exact?: boolean;
}

/** The peer, as far as an access rule needs to know it. */
export interface Caller {
  readonly scopes: ReadonlySet<string>;
  /** Whatever the application put into the option `identity`. */
  readonly identity: unknown;
}

/** Contracts of a whole service, by method name; the type argument of `Peer` on the calling side. */
export type Contracts = {
  readonly [method: string]: Contract & { readonly kind?: 'method' | 'notification' };
};

export type ParamsOf<C> = C extends { readonly params: infer S extends Schema } ? InputOf<S> : unknown;
export type ResultOf<C> = C extends { readonly result: infer S extends Schema } ? OutputOf<S> : unknown;

type KindOf<C> = C extends { readonly kind: 'notification' } ? 'notification' : 'method';
/** Names of one kind; none if nothing is described. */
export type NamesOf<C, Kind> = string extends keyof C
  ? never
  : { [M in keyof C & string]: KindOf<C[M]> extends Kind ? M : never }[keyof C & string];
/** Any name, as long as nothing is described. */
export type AnyName<C> = string extends keyof C ? string : never;
/** The error of calling a notification or notifying a method; undefined if the contracts do not say so. */
export function wrongKind(
  remote: Contracts | undefined,
  method: string,
  kind: 'method' | 'notification',
): RpcError | undefined {
  if (!remote || !Object.hasOwn(remote, method)) return undefined;
  const declared = remote[method]?.kind ?? 'method';
  if (declared === kind) return undefined;
  const use = declared === 'method' ? 'a method: use call' : 'a notification: use notify';
  return new RpcError(ErrorCode.InvalidRequest, `"${method}" is ${use}`);
}

/** Whether the caller may use a method; see {@link Contract.access}. Only `true` lets in: a promise is no permission. */
export function mayUse(access: Contract['access'], who: Caller): boolean {
  if (access === undefined) return true;
  return typeof access === 'string' ? who.scopes.has(access) : access(who) === true;
}

/** Checks a value: the value as the schema read it, or throws what `refuse` makes of the issues. */
type Check = (value: unknown) => unknown;

function checkOf(
  schema: Schema | undefined,
  compile: SchemaCompiler | undefined,
  refuse: (issues: readonly Issue[]) => RpcError,
): Check | undefined {
  if (schema === undefined) return undefined;
  if (!isStandardSchema(schema)) {
    const find = compile?.(schema);
    return find
      ? (value) => {
          const issues = find(value);
          if (issues.length > 0) throw refuse(issues);
          return value;
        }
      : undefined;
  }
  const standard = schema['~standard'];
  const read = (checked: Checked<unknown>, value: unknown): unknown => {
    if (checked.issues) throw refuse(issuesOf(checked.issues, value));
    return checked.value;
  };
  return (value) => {
    const checked = standard.validate(value);
    const later = promiseOf(checked);
    return later ? later.then((late) => read(late, value)) : read(checked as Checked<unknown>, value);
  };
}

/** The check of a method's params, by position or by name; undefined if there is nothing to check. */
export function paramsCheck(contract: Contract, compile: SchemaCompiler | undefined): Check | undefined {
  const check = checkOf(contract.params, compile, invalidParams);
  const names = contract.positional;
  if (names === undefined) return check;
  return (params) => {
    const named = Array.isArray(params) ? byName(params, names, check === undefined) : params;
    return check ? check(named) : named;
  };
}

/** The check of a method's result; undefined if there is nothing to check. */
export function resultCheck(contract: Contract, compile: SchemaCompiler | undefined): Check | undefined {
  return checkOf(
    contract.result,
    compile,
    (issues) => new RpcError(ErrorCode.InvalidOutput, 'The result breaks its own schema', { issues }),
  );
}

function byName(params: readonly unknown[], names: readonly string[], all: boolean): Record<string, unknown> {
  if (params.length > names.length || (all && params.length < names.length)) {
    const wanted = `${names.length} params by position: ${names.join(', ')}`;
    throw invalidParams([
      { path: '', message: `wrong number of params`, expected: wanted, received: `${params.length}` },
    ]);
  }
  return Object.fromEntries(params.map((value, at) => [names[at], value]));
}

function invalidParams(issues: readonly Issue[]): RpcError {
  const [first] = issues;
  const where = first?.path ? ` at ${first.path}` : '';
  return new RpcError(ErrorCode.InvalidParams, `Invalid params${where}: ${first?.message ?? 'refused'}`, {
    issues,
  });
}
