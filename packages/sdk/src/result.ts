/** Results: what a handler returned or threw, in the one shape that every invocation answers with. */
import { ChassisError, toChassisError } from '@chassis/errors';
import type { Json, Result } from '@chassis/types';
import { jsonValue } from './json-value.ts';

/** Wraps a handler's plain value. A value that is no JSON becomes an InvalidOutput failure. */
export function success(value: unknown, trace_id: string): Result {
  try {
    return { code: 0, data: jsonValue(value), error: null, trace_id };
  } catch (error) {
    return failure(error, trace_id);
  }
}

/** Wraps anything thrown. A `ChassisError`, or any error with a numeric `code`, keeps it; others are InternalError. */
export function failure(thrown: unknown, trace_id: string): Result {
  const { code, message, data } = asChassisError(thrown);
  const details = detailsOf(data);
  return {
    code: code === 0 ? -32603 : code,
    data: null,
    error: { message, ...(details === undefined ? {} : { details }) },
    trace_id,
  };
}

/** DOM exceptions have numeric codes of their own, which are not from our table. */
function asChassisError(thrown: unknown): ChassisError {
  const name = (thrown as { name?: unknown } | null | undefined)?.name;
  if (name === 'AbortError') return new ChassisError('Cancelled', 'cancelled', { cause: thrown });
  if (name === 'TimeoutError') {
    return new ChassisError('ToolTimeout', (thrown as Error).message, { cause: thrown });
  }
  if (typeof DOMException !== 'undefined' && thrown instanceof DOMException) {
    return new ChassisError('InternalError', thrown.message, { cause: thrown });
  }
  const error = toChassisError(thrown);
  if (Number.isSafeInteger(error.code)) return error;
  return new ChassisError('InternalError', error.message, { data: error.data, cause: thrown });
}

function detailsOf(data: unknown): Json | undefined {
  if (data === undefined) return undefined;
  try {
    return jsonValue(data);
  } catch {
    return undefined;
  }
}
