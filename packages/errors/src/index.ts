/**
 * The one table of error codes and the one error class of the whole system.
 *
 * Promise: every failure that crosses a boundary (RPC error, plugin result, step, exit text) carries a code
 * from this table, a message for a person, `data` for a program, and `cause` for the chain. A leaf: it imports nothing.
 */

/** Codes −32768…−32600 are JSON-RPC 2.0's own (specification, section 5.1); the others are ours. */
export const ErrorCode = {
  ParseError: -32700,
  InvalidRequest: -32600,
  MethodNotFound: -32601,
  InvalidParams: -32602,
  InternalError: -32603,
  ToolTimeout: -32001,
  ContextTooLong: -32002,
  Cancelled: -32003,
  Unavailable: -32004,
  PermissionDenied: -32005,
  ApprovalDenied: -32006,
  RateLimited: -32007,
  BudgetExceeded: -32008,
  InvalidOutput: -32009,
  ModelError: -32010,
  Diverged: -32011,
  Unauthorized: -32012,
  Conflict: -32013,
  OutcomeUnknown: -32014,
  DamagedRecord: -32015,
} as const;

export type ErrorName = keyof typeof ErrorCode;

const names = new Map<number, ErrorName>(
  Object.entries(ErrorCode).map(([name, code]) => [code, name as ErrorName]),
);

/** The table's name of a code, or `Error <code>` for a code that is not in it (a plugin's own). */
export function errorName(code: number): string {
  return names.get(code) ?? `Error ${code}`;
}

/** An error as it is written to a log, a result or the wire: plain JSON. */
export interface ErrorRecord {
  readonly code: number;
  readonly name: string;
  readonly message: string;
  /** Details for a program; by convention `fix` is one sentence that says what to do. */
  readonly data?: unknown;
}

export class ChassisError extends Error {
  readonly code: number;
  readonly data: unknown;

  /**
   * @param code a name from the table, or a number (a plugin's own code)
   * @param message one sentence for a person: what is wrong, where, and what to do
   * @param options `data` for a program, `cause` for the chain
   */
  constructor(code: ErrorName | number, message: string, options: { data?: unknown; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = typeof code === 'number' ? code : ErrorCode[code];
    this.data = options.data;
    this.name = errorName(this.code);
  }

  /** The error as plain JSON, whatever its `data` holds: a record that cannot be written would hide the failure. */
  record(): ErrorRecord {
    const data = plainJson(this.data);
    return {
      code: this.code,
      name: this.name,
      message: this.message,
      ...(data === undefined ? {} : { data }),
    };
  }

  /** Rebuilds an error from its record. */
  static from(record: Pick<ErrorRecord, 'code' | 'message'> & { readonly data?: unknown }): ChassisError {
    return new ChassisError(record.code, record.message, { data: record.data });
  }
}

/** Deepest nesting of an error's data. */
const MAX_DEPTH = 64;

// Part of the language since 2025; the type library does not have it yet, nor have older browsers.
const { isRawJSON = () => false } = JSON as { isRawJSON?(this: void, value: unknown): boolean };

/**
 * Any value as JSON: members that are undefined are left out, and what JSON has no form for stands there as text that says
 * what it was.
 */
function plainJson(value: unknown, above: readonly object[] = []): unknown {
  switch (typeof value) {
    case 'undefined':
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) ? value : String(value);
    case 'function':
      return `[function ${value.name || 'without a name'}]`;
    case 'bigint':
    case 'symbol':
      return String(value);
    case 'object':
      if (value === null || isRawJSON(value)) return value;
      if (above.includes(value)) return '[circular]';
      if (above.length >= MAX_DEPTH) return '[nested too deeply]';
      try {
        return plainObject(value, [...above, value]);
      } catch (error) {
        return `[unreadable: ${error instanceof Error ? error.message : typeof error}]`;
      }
  }
}

function plainObject(value: object, above: readonly object[]): unknown {
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === 'function') return plainJson(toJSON.call(value), above) ?? null;
  if (Array.isArray(value)) return Array.from(value as unknown[], (item) => plainJson(item, above) ?? null);
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  // What an error says is not among its enumerable members.
  const said = value instanceof Error ? { name: value.name, message: value.message } : {};
  const members = Object.entries({ ...said, ...value }).flatMap(([key, member]: [string, unknown]) => {
    const plain = plainJson(member, above);
    return plain === undefined ? [] : [[key, plain] as const];
  });
  return Object.fromEntries(members);
}

/**
 * Any thrown value as a `ChassisError`. One that already has a numeric `code` and a message keeps them;
 * anything else is an InternalError that keeps the original as `cause`.
 */
export function toChassisError(thrown: unknown): ChassisError {
  if (thrown instanceof ChassisError) return thrown;
  if (thrown instanceof Error) {
    // Before the code: a DOMException has a numeric one of its own.
    if (thrown.name === 'AbortError') return new ChassisError('Cancelled', 'cancelled', { cause: thrown });
    const { code, data } = thrown as { code?: unknown; data?: unknown };
    if (Number.isSafeInteger(code))
      return new ChassisError(code as number, thrown.message, { data, cause: thrown });
    return new ChassisError('InternalError', thrown.message || thrown.name, { cause: thrown });
  }
  return new ChassisError('InternalError', `a value that is no Error was thrown: ${String(thrown)}`, {
    cause: thrown,
  });
}

/** Why a file or folder could not be used, in words, where the system says a code and a path that the reader has been told already. */
export function fileProblem(error: unknown): string {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  switch (code) {
    case 'ENOENT':
      return 'it does not exist';
    case 'EACCES':
    case 'EPERM':
      return 'this user may not read it';
    case 'EISDIR':
      return 'it is a folder';
    case 'ENOTDIR':
      return 'a part of its path is no folder';
    case 'ELOOP':
      return 'its links go round in a circle';
    case 'EMFILE':
    case 'ENFILE':
      return 'too many files are open';
    default:
      return typeof message === 'string' ? message : String(error);
  }
}

/**
 * Whether the same call may be tried again at once: timeouts, rate limits, and those model errors whose
 * HTTP status says so (408, 409, 429, 5xx) or that never got an answer.
 */
export function isRetryable(error: { readonly code: number; readonly data?: unknown }): boolean {
  if (error.code === ErrorCode.ToolTimeout || error.code === ErrorCode.RateLimited) return true;
  if (error.code !== ErrorCode.ModelError) return false;
  const data = error.data as { status?: unknown; retryable?: unknown } | null | undefined;
  if (typeof data?.retryable === 'boolean') return data.retryable;
  const status = data?.status;
  if (typeof status !== 'number') return false;
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

/** Exit codes of the command line; documented in `docs/cli.md`. */
export const ExitCode = { ok: 0, failed: 1, usage: 2, unavailable: 3, denied: 4, interrupted: 130 } as const;

/** Which exit code an error ends the command with. */
export function exitCodeOf(code: number): number {
  switch (code) {
    case ErrorCode.InvalidParams:
    case ErrorCode.InvalidRequest:
    case ErrorCode.MethodNotFound:
    case ErrorCode.ParseError:
    case ErrorCode.Conflict:
      return ExitCode.usage;
    case ErrorCode.Unavailable:
    case ErrorCode.ModelError:
    case ErrorCode.RateLimited:
    case ErrorCode.Unauthorized:
      return ExitCode.unavailable;
    case ErrorCode.PermissionDenied:
    case ErrorCode.ApprovalDenied:
    case ErrorCode.BudgetExceeded:
      return ExitCode.denied;
    case ErrorCode.Cancelled:
      return ExitCode.interrupted;
    default:
      return ExitCode.failed;
  }
}
