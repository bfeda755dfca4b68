/**
 * What a plugin is, in TypeScript: hooks, and handlers by capability name.
 *
 * The same object runs in the harness's own process (`runtime: inline`) or behind `serve()` as a child process.
 */
import type {
  Effect,
  FileForm,
  Json,
  JsonObject,
  ModelChunk,
  ModelRequest,
  ModelResponse,
  Result,
} from '@chassis/types';

/** What a handler is given beside its input. Everything non-deterministic goes through here and is on record. */
export interface InvokeContext {
  readonly session: string;
  readonly step: number;
  readonly trace_id: string;
  /** From 1; a retry counts up. */
  readonly attempt: number;
  /** The same on every retry and after a crash: give it to systems that can drop duplicates. */
  readonly idempotency_key: string;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
  /** Aborts on cancellation and at the deadline. */
  readonly signal: AbortSignal;
  /** Folder that the agent works in, absolute. */
  readonly workspace: string;
  /** The input as exact JSON text, for numbers that a double cannot hold. */
  readonly input_json: string;
  log(level: 'debug' | 'info' | 'warn' | 'error', message: string, data?: Json): void;
  /** Reports progress; models stream their `ModelChunk`s through it. */
  progress(data: ModelChunk | JsonObject): void;
  /** A secret that the plugin's manifest or configuration names. */
  secret(name: string): Promise<string>;
  /** Calls back into the harness (`tool.call`, `model.generate`, …) as a child step. */
  call(method: string, params: JsonObject): Promise<Json>;
  now(): Promise<number>;
  random(): Promise<number>;
  uuid(): Promise<string>;
  /** Declares what this call changed in the world. File contents are given, and kept by hash. */
  effect(effect: FileChange | Exclude<Effect, { kind: 'file' }>): void;
}

/**
 * A changed file: path relative to the workspace, contents before and after (null: no such file). Of a symbolic link the content
 * is its target; a content that is too large to be kept is told by its size.
 */
export interface FileChange {
  readonly kind: 'file';
  readonly path: string;
  readonly before: Uint8Array | TooLarge | null;
  readonly after: Uint8Array | TooLarge | null;
  readonly before_form?: FileForm;
  readonly after_form?: FileForm;
}

export interface TooLarge {
  readonly bytes: number;
}

/** Given to `on_load`. */
export interface LoadContext {
  /** The plugin's folder. */
  readonly folder: string;
  /** Folder of the project's `chassis.yaml`: relative paths in the configuration start there. */
  readonly project: string;
  log(level: 'debug' | 'info' | 'warn' | 'error', message: string, data?: Json): void;
  secret(name: string): Promise<string>;
}

export type ToolHandler = (input: never, ctx: InvokeContext) => unknown;
export type ModelHandler = (
  request: ModelRequest,
  ctx: InvokeContext & { readonly model: string },
) => Promise<ModelResponse>;

/** What an agent is given: every capability behind it is a recorded step. */
export type AgentHandler = (input: AgentInput, ctx: InvokeContext) => unknown;

/** What a policy is asked: may this call run? */
export interface PolicyQuestion {
  readonly tool: string;
  readonly plugin: string;
  readonly description: string;
  readonly arguments: Json;
  readonly effects: 'none' | 'read' | 'write' | 'external';
  readonly idempotent: boolean;
  /** What holds without policies. */
  readonly approval: 'auto' | 'ask' | 'never';
  /** Path of the agent that calls, `main` for the session's own. */
  readonly agent: string;
  readonly turn: number;
}

/** Nothing means that the policy has no word on this call; the strictest word of all policies holds. */
export type PolicyAnswer =
  | 'allow'
  | 'ask'
  | 'deny'
  | { readonly decision: 'allow' | 'ask' | 'deny'; readonly reason?: string }
  | null
  | undefined;

export type PolicyHandler = (
  question: PolicyQuestion,
  ctx: InvokeContext,
) => PolicyAnswer | Promise<PolicyAnswer>;

export interface MemoryEntry {
  readonly key: string;
  readonly text: string;
  readonly tags?: readonly string[];
  /** ISO 8601. */
  readonly at?: string;
  /** How well it fits; more is better. */
  readonly score?: number;
}

/** A memory, served as the tools `NAME_search` and `NAME_put`. */
export interface MemoryHandlers {
  search(
    input: { readonly query: string; readonly limit?: number },
    ctx: InvokeContext,
  ): { entries: readonly MemoryEntry[] } | Promise<{ entries: readonly MemoryEntry[] }>;
  put(
    input: { readonly text: string; readonly key?: string; readonly tags?: readonly string[] },
    ctx: InvokeContext,
  ): { key: string } | Promise<{ key: string }>;
}

export interface AgentInput {
  /** The person's message of this turn. */
  readonly content: string;
  /** From 1. */
  readonly turn: number;
}

export interface Plugin {
  /** `config` is the plugin's own block, checked against its schema. */
  on_load?(config: JsonObject, ctx: LoadContext): void | Promise<void>;
  on_ready?():
    | boolean
    | { ready: boolean; reason?: string }
    | Promise<boolean | { ready: boolean; reason?: string }>;
  on_shutdown?(): void | Promise<void>;
  /** Handlers by name. Return the plain output; throw a `ChassisError` (or any error) for a failure. */
  readonly tools?: { readonly [name: string]: ToolHandler };
  /** Handlers by model name; `*` serves every model that the manifest or the configuration names. */
  readonly models?: { readonly [name: string]: ModelHandler };
  readonly agents?: { readonly [name: string]: AgentHandler };
  readonly memory?: { readonly [name: string]: MemoryHandlers };
  readonly policies?: { readonly [name: string]: PolicyHandler };
}

/** A plugin's definition; the default export of its module. Identity at run time, types at compile time. */
export function definePlugin<const P extends Plugin>(plugin: P): P {
  return plugin;
}

/** `plugin.invoke`: exactly one of tool, model, agent, policy is there. */
export type InvokePayload =
  | { readonly tool: string; readonly input: Json }
  | { readonly model: string; readonly input: ModelRequest }
  | { readonly agent: string; readonly input: AgentInput }
  | { readonly policy: string; readonly input: JsonObject };

/** `plugin.invoke`'s context on the wire. */
export interface WireContext {
  readonly session: string;
  readonly step: number;
  readonly trace_id: string;
  readonly attempt: number;
  readonly idempotency_key: string;
  readonly deadline: number;
  readonly workspace: string;
}

export type { Result };
