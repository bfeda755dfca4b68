/** The part of a configuration that a session carries in its header, because a re-execution needs it. */
import type { JsonObject } from '@chassis/types';
import type { ApprovalMode } from '../gate/approval.ts';
import type { Limits } from '../gate/limits.ts';
import type { RetryPolicy } from '../gate/retry.ts';

export interface SessionSettings {
  readonly agent: { readonly system?: string; readonly settings: JsonObject };
  readonly limits: Limits;
  readonly retry: RetryPolicy;
  readonly approval: { readonly [tool: string]: ApprovalMode };
  /** Tools offered to the agent; all without it. */
  readonly tools: {
    readonly allow?: readonly string[];
    readonly deny?: readonly string[];
    /** Tokens that the list of tools may take in a request. */
    readonly budget_tokens?: number;
  };
  /** Deadline of a model call, milliseconds. */
  readonly model_timeout_ms: number;
  /** What a fork added to the clock that its agent and tools ask the harness for, milliseconds. */
  readonly clock_offset_ms?: number;
  /** Absolute path of the script that was given for this session, instead of the project's own. */
  readonly script?: string;
}

/** What may differ from one process to the next without changing what a re-execution shows. */
export type LiveSettings = Pick<SessionSettings, 'limits' | 'retry' | 'approval' | 'model_timeout_ms'>;

/** Which of the tools a session offers. */
export function isOffered(name: string, { allow, deny }: SessionSettings['tools']): boolean {
  return (allow === undefined || allow.includes(name)) && !(deny ?? []).includes(name);
}
