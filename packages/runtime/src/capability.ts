/**
 * The seam between the gate and the plugins: a capability is resolved, never looked up.
 *
 * Promise: `resolve…` answers a live binding or one `Unavailable` record that says which plugin, which phase,
 * the root cause and what to do; the gate never learns how a plugin is hosted.
 */
import type { ErrorRecord } from '@chassis/errors';
import type { Abortable } from '@chassis/jsonrpc';
import type { FileChange, InvokePayload, WireContext } from '@chassis/sdk';
import type { Effect, Json, JsonObject, PluginRef, Result, ToolDefinition } from '@chassis/types';

/** What a running invocation may ask of the harness; served by the gate, recorded there. */
export interface HostCalls {
  progress(data: JsonObject): void;
  log(level: string, message: string, data?: Json): void;
  secret(name: string): Promise<string>;
  call(method: string, params: JsonObject): Promise<Json>;
  /** Facts of the session that an agent needs: `{ history, tools, … }`. */
  context(): Promise<Json>;
  value(name: 'now' | 'random' | 'uuid'): Promise<Json>;
  effect(effect: FileChange | Exclude<Effect, { kind: 'file' }>): void;
}

export interface Invocation {
  readonly payload: InvokePayload;
  readonly ctx: WireContext;
  /** Aborts on cancellation and at the deadline. The host tells the plugin; the gate does not wait for it. */
  readonly signal: AbortSignal;
  /** The same for hosts that only hand it on: reading `signal` may make one, which costs as much as a short call. */
  readonly stop: Abortable;
  readonly host: HostCalls;
}

interface Bound {
  readonly plugin: PluginRef;
  /** Runs it. A plugin's own failure is a Result with a code; what it throws means that the plugin broke. */
  invoke(invocation: Invocation): Promise<Result>;
}

export interface ToolBinding extends Bound {
  /** Name the model sees, `[A-Za-z0-9_-]{1,64}`. */
  readonly name: string;
  readonly definition: ToolDefinition;
}

export interface ModelBinding extends Bound {
  /** Registered name, `deepseek`. */
  readonly name: string;
  /** What came after the first slash of the reference (`deepseek/deepseek-chat`), the provider's model id. */
  readonly id?: string;
}

export interface AgentBinding extends Bound {
  readonly name: string;
}

/** A plugin's word on calls of tools before they run. */
export interface PolicyBinding extends Bound {
  readonly name: string;
  /** Tools that it is about, as `tools.approval` names them; empty for all. */
  readonly tools: readonly string[];
  /** What protects must not fail open: when it cannot decide, the call is refused. */
  readonly guard: boolean;
  /** Milliseconds. */
  readonly timeout_ms: number;
}

export interface Unavailable {
  readonly capability: string;
  readonly owner: string | null;
  readonly phase:
    | 'manifest'
    | 'resolve'
    | 'config'
    | 'spawn'
    | 'on_load'
    | 'on_ready'
    | 'runtime'
    | 'name'
    | 'unknown';
  readonly cause: ErrorRecord;
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly retry_at?: number;
  readonly alternatives: readonly string[];
  /** One sentence: what to do. */
  readonly fix: string;
}

export type PluginState = 'disabled' | 'loading' | 'active' | 'unavailable' | 'failed' | 'stopped';

/** What is told of a plugin during a run; `changed`: it offers other tools than before. */
export type PluginChange = 'loaded' | 'reloaded' | 'unloaded' | 'changed' | 'unavailable' | 'recovered';

export interface PluginStatus {
  readonly name: string;
  readonly version: string;
  readonly digest: string;
  readonly folder: string;
  readonly origin: string;
  readonly state: PluginState;
  readonly criticality: 'optional' | 'required' | 'guard';
  readonly enforcement: 'kernel' | 'runtime' | 'declared';
  readonly tools: readonly string[];
  readonly models: readonly string[];
  readonly agents: readonly string[];
  readonly policies?: readonly string[];
  readonly skills?: readonly string[];
  readonly unavailable?: Unavailable;
  /** How its last calls went; left out when none of them broke. */
  readonly calls?: { readonly calls: number; readonly failed: number; readonly last_error: string };
}

/** The live capabilities of a run. */
export interface Registry {
  /** Usable tools, sorted by name. */
  tools(): readonly ToolBinding[];
  resolveTool(name: string): ToolBinding | Unavailable;
  resolveModel(reference: string): ModelBinding | Unavailable;
  resolveAgent(name: string): AgentBinding | Unavailable;
  /** Policies that are in force, sorted by name. */
  policies?(): readonly PolicyBinding[];
  plugins(): readonly PluginStatus[];
  /** A plugin's state changed. Returns the function that ends the subscription. */
  subscribe(
    listener: (status: PluginStatus, previous: PluginState, change: PluginChange) => void,
  ): () => void;
  close(): Promise<void>;
}

export function isUnavailable(value: object): value is Unavailable {
  return 'cause' in value && 'phase' in value;
}
