/**
 * The plain data that models, tools and the session log share: types only, no code, no import.
 *
 * Everything here is JSON. A number that a double cannot hold is carried as a `JSON.rawJSON` value, which
 * `JSON.stringify` writes out exactly as it was read.
 */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

// ---- conversation

/** One call that a model asked for. `arguments` is the model's own text: it may be no JSON at all. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

export interface SystemMessage {
  readonly role: 'system';
  readonly content: string;
}

export interface UserMessage {
  readonly role: 'user';
  readonly content: string;
}

export interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: string;
  /** The model's reasoning text, byte for byte as it came; absent when there was none. */
  readonly reasoning?: string;
  readonly tool_calls?: readonly ToolCall[];
}

export interface ToolMessage {
  readonly role: 'tool';
  readonly tool_call_id: string;
  readonly content: string;
  readonly is_error?: boolean;
}

export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage;

/** A tool as a model sees it. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: JsonObject;
}

// ---- models

/** Tokens of one model call. `input` counts all prompt tokens, `cached` those of them read from a cache. */
export interface Usage {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  /** Part of `output`. */
  readonly reasoning: number;
  /** US dollars, when the price is known. */
  readonly cost_usd?: number;
  /** True when the call was cut, so that the provider may have counted more. */
  readonly lower_bound?: boolean;
  /** True when nobody counted and this is a guess from the text. */
  readonly estimated?: boolean;
  /** True when the provider's own figures contradict each other. */
  readonly inconsistent?: boolean;
}

export interface ModelRequest {
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSpec[];
  /** Sampling and other parameters; `model` names the provider's model id when the reference gave one. */
  readonly params: JsonObject;
}

/** A streamed piece. Text pieces are appended; a tool call's argument text grows under its `index`. */
export interface ModelChunk {
  readonly text?: string;
  readonly reasoning?: string;
  readonly tool_call?: {
    readonly index: number;
    readonly id?: string;
    readonly name?: string;
    readonly arguments?: string;
  };
}

/** Why the model stopped, normalised; what the provider said stands in `raw_finish_reason` when it differs. */
export type FinishReason = 'stop' | 'tool_calls' | 'length' | 'content_filter' | 'other';

export interface ModelResponse {
  readonly message: AssistantMessage;
  readonly finish_reason: FinishReason;
  readonly raw_finish_reason?: string;
  /** null when the provider reported none. */
  readonly usage: Usage | null;
  /** The provider's name of the model that answered. */
  readonly model: string;
}

// ---- tools

/** What a step changed in the world. File contents are stored by hash, so that they can be shown and restored. */
export type Effect =
  | {
      readonly kind: 'file';
      readonly op: 'create' | 'modify' | 'delete';
      /** Relative to the workspace, `/` as separator. */
      readonly path: string;
      /**
       * SHA-256 of the content before and after; null where there is no file; `keyed:…` when it held a secret, `unkept:BYTES`
       * when it was too large: neither was kept.
       */
      readonly before: string | null;
      readonly after: string | null;
      readonly before_form?: FileForm;
      readonly after_form?: FileForm;
    }
  | { readonly kind: 'process'; readonly argv: readonly string[]; readonly exit_code: number | null }
  | { readonly kind: 'http'; readonly method: string; readonly url: string; readonly status: number | null };

/** What a path is besides its content. Absent members were not told. */
export interface FileForm {
  /** Permission bits, 0 to 0o7777. */
  readonly mode?: number;
  /** A symbolic link: its content is the target, as written in the link. */
  readonly link?: true;
}

/** What every invocation answers: `code` 0 and `data`, or an error code and `error`. */
export interface Result {
  readonly code: number;
  readonly data: Json;
  readonly error: null | { readonly message: string; readonly details?: Json };
  readonly trace_id: string;
  readonly effects?: readonly Effect[];
}

export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema 2020-12 of the input. */
  readonly input: JsonObject;
  /** JSON Schema 2020-12 of the output; a result that breaks it is InvalidOutput. */
  readonly output?: JsonObject;
  readonly effects: 'none' | 'read' | 'write' | 'external';
  readonly idempotent: boolean;
  readonly approval: 'auto' | 'ask' | 'never';
  /** Milliseconds. */
  readonly timeout_ms: number;
  readonly rate?: { readonly per_minute?: number; readonly concurrency?: number };
  /** `protocol: jsonrpc` only: the server's method behind this tool. */
  readonly method?: string;
}

/** A plugin as the record names it. `digest` is the content hash of its folder. */
export interface PluginRef {
  readonly name: string;
  readonly version: string;
  readonly digest: string;
}
