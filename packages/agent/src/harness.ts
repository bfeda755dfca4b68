/** The harness as this agent sees it: `ctx.call` with types. The shapes are those of `docs/agents.md`. */
import type { ErrorRecord } from '@chassis/errors';
import type { InvokeContext } from '@chassis/sdk';
import type {
  AssistantMessage,
  Json,
  JsonObject,
  Message,
  ModelResponse,
  ToolCall,
  ToolMessage,
  ToolSpec,
} from '@chassis/types';

export interface Start {
  readonly history: readonly Message[];
  readonly tools: readonly ToolSpec[];
  readonly system: string | null;
  readonly settings: JsonObject;
  readonly workspace: string;
}

export type Reply =
  | {
      readonly step: number;
      readonly status: 'ok';
      readonly message: AssistantMessage;
      readonly response: ModelResponse;
    }
  | {
      readonly step: number;
      readonly status: string;
      readonly error: ErrorRecord;
      readonly message?: undefined;
    };

export interface ToolReply {
  readonly step: number;
  readonly status: string;
  readonly error?: ErrorRecord;
  readonly output?: Json;
  /** Ready to be put into the conversation. */
  readonly message: ToolMessage;
}

export interface Harness {
  start(): Promise<Start>;
  generate(
    messages: readonly Message[],
    tools: readonly ToolSpec[],
    causes: readonly number[],
    label?: string,
  ): Promise<Reply>;
  callTool(call: ToolCall, cause: number): Promise<ToolReply>;
  note(name: string, value: JsonObject, causes: readonly number[]): Promise<void>;
}

export function harnessOf(ctx: InvokeContext): Harness {
  const call = async <T>(method: string, params: object): Promise<T> =>
    (await ctx.call(method, params as JsonObject)) as unknown as T;
  return {
    start: () => call('session.context', {}),
    generate: (messages, tools, causes, label) =>
      call('model.generate', { messages, tools, causes, ...(label === undefined ? {} : { agent: label }) }),
    callTool: ({ id, name, arguments: text }, cause) =>
      call('tool.call', { name, arguments: text, call_id: id, causes: [cause] }),
    note: (name, value, causes) => call('state.update', { name, value, causes }),
  };
}
