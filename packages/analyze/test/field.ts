/** Short failures as engineers meet them: what was called, and which call was at fault. */
import type { Json } from '@chassis/types';
import { failure } from './build.ts';

/** `result`: what the tool gave is at fault. `call`: what the model asked for. */
export type Fault = 'result' | 'call';

export interface Field {
  readonly name: string;
  readonly task: string;
  /** Tool, arguments and result of each call; the last one fails. */
  readonly calls: readonly (readonly [tool: string, input: Json, output: unknown, fault?: Fault])[];
}

/** A call that failed. */
export function fails(message: string, code = 'ToolError', number = 17): object {
  return { error: failure(code, number, message) };
}
