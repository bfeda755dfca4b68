/** What goes into the gate and what comes out: plain data, the same for live and recorded answers. */
import type { ErrorRecord } from '@chassis/errors';
import type { StepStatus } from '@chassis/journal';
import type { Json, ModelRequest, Usage } from '@chassis/types';

interface Asked {
  /** Path of the agent that asks, `main` for the session's own. */
  readonly agent: string;
  readonly turn: number;
  /** The step this one runs inside of. */
  readonly parent: number | null;
  /** Steps that led to this one; without them the gate takes what the same agent saw last. */
  readonly causes?: readonly number[];
}

export interface ModelAsk extends Asked {
  readonly kind: 'model';
  /** First choice; a reference such as `deepseek` or `deepseek/deepseek-chat`. */
  readonly name: string;
  readonly fallbacks: readonly string[];
  readonly request: ModelRequest;
}

export interface ToolAsk extends Asked {
  readonly kind: 'tool';
  readonly name: string;
  /** The arguments; a string when the model's argument text is no JSON object. */
  readonly input: Json;
  readonly call_id?: string;
}

export interface StateAsk extends Asked {
  readonly kind: 'state';
  readonly name: string;
  readonly input: Json;
}

export type Ask = ModelAsk | ToolAsk | StateAsk;

/** How a step ended. A failed step is an outcome, not an exception. */
export interface Outcome {
  readonly step: number;
  readonly status: StepStatus;
  readonly output?: Json;
  readonly error?: ErrorRecord;
  readonly usage?: Usage | null;
}

/** What identifies an ask beside its place: the part of it that is compared and digested. */
export function inputOf(ask: Ask): Json {
  return ask.kind === 'model' ? (ask.request as unknown as Json) : ask.input;
}
