/**
 * The request body of a chat-completions call.
 *
 * Promise: what a model once got wrong is never sent back as it was: a strict server accepts every history that
 * this module writes, as long as each tool call has its result. Reasoning text goes back byte for byte, to the
 * models that want it and to no other.
 */
import type { JsonObject, Message, ModelRequest, ToolCall } from '@chassis/types';

export interface WireOptions {
  readonly model: string;
  readonly passReasoning: boolean;
  /** Gives assistant messages that came without reasoning an empty one; see `generate.ts`. */
  readonly emptyReasoning?: boolean;
  /** Members below the request's own parameters. */
  readonly params: JsonObject;
}

export function requestBody(request: ModelRequest, options: WireOptions): string {
  const { model: _, ...asked } = request.params;
  const body: Record<string, unknown> = {
    model: options.model,
    messages: request.messages.map((message) => wireMessage(message, options)),
    ...(request.tools.length === 0
      ? {}
      : {
          tools: request.tools.map(({ name, description, parameters }) => ({
            type: 'function',
            function: { name, description, parameters },
          })),
        }),
    stream: true,
    stream_options: { include_usage: true },
    ...options.params,
    ...asked,
  };
  for (const [key, value] of Object.entries(body)) if (value === null) delete body[key];
  return JSON.stringify(body);
}

function wireMessage(message: Message, options: WireOptions): object {
  switch (message.role) {
    case 'system':
    case 'user':
      return { role: message.role, content: message.content };
    case 'tool':
      return { role: 'tool', tool_call_id: message.tool_call_id, content: message.content };
    case 'assistant': {
      const calls = message.tool_calls ?? [];
      const reasoning = message.reasoning || (options.emptyReasoning ? '' : undefined);
      return {
        role: 'assistant',
        content: message.content,
        ...(options.passReasoning && reasoning !== undefined ? { reasoning_content: reasoning } : {}),
        ...(calls.length === 0 ? {} : { tool_calls: calls.map(wireCall) }),
      };
    }
  }
}

function wireCall(call: ToolCall): object {
  return {
    id: call.id,
    type: 'function',
    function: { name: wireName(call.name), arguments: isObjectText(call.arguments) ? call.arguments : '{}' },
  };
}

/** Strict servers check the names in the history too, also those that a model made up. */
function wireName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'unnamed';
}

/** Whether a text is a JSON object, as the arguments of a call must be. */
export function isObjectText(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
