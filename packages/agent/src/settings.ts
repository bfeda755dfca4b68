/** What a project may set under `agent.settings`; the schema stands in `plugin.yaml` and is checked before a session opens. */
import type { JsonObject } from '@chassis/types';

export interface AgentSettings {
  /** The run fails after this many failed tool calls in a row. */
  readonly max_tool_errors: number;
  /** Tokens that the model takes in one request. */
  readonly context_window: number;
  /** Share of the window at which older messages are summarised, 0 to 1. */
  readonly compact_at: number;
  /** Share of the window that stays as it is when they are. */
  readonly keep: number;
}

const defaults: AgentSettings = { max_tool_errors: 5, context_window: 100_000, compact_at: 0.8, keep: 0.3 };

export function settingsOf(given: JsonObject): AgentSettings {
  return { ...defaults, ...given };
}
