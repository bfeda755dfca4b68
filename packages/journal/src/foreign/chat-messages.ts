/**
 * Messages as OpenAI's chat completions API writes them, read into our own shape. What has no place there is named in the text
 * (`[image_url]`), never dropped in silence.
 */
import type { AssistantMessage, Json, JsonObject, Message, ToolCall, Usage } from '@chassis/types';

/** @throws Error that says what is wrong with the message */
export function messageOf(value: Json | undefined): Message {
  if (!isObject(value)) throw new Error('a message must be an object with a role');
  switch (value.role) {
    case 'system':
    case 'developer':
      return { role: 'system', content: textOf(value.content) };
    case 'user':
      return { role: 'user', content: textOf(value.content) };
    case 'assistant':
      return assistantOf(value);
    case 'tool':
    case 'function':
      return {
        role: 'tool',
        tool_call_id: word(value.tool_call_id) ?? word(value.name) ?? '',
        content: textOf(value.content),
      };
    default:
      throw new Error(
        `the role ${JSON.stringify(value.role ?? null)} is unknown; it is one of system, developer, user, assistant, tool`,
      );
  }
}

function assistantOf(value: JsonObject): AssistantMessage {
  const reasoning = value.reasoning_content ?? value.reasoning;
  const legacy = isObject(value.function_call)
    ? [{ id: value.function_call.name, function: value.function_call }]
    : [];
  const calls = [
    ...(Array.isArray(value.tool_calls) ? (value.tool_calls as Json[]) : []),
    ...(legacy as Json[]),
  ];
  return {
    role: 'assistant',
    content: textOf(value.content ?? value.refusal),
    ...(typeof reasoning === 'string' ? { reasoning } : {}),
    ...(calls.length > 0 ? { tool_calls: calls.map(callOf) } : {}),
  };
}

function callOf(value: Json): ToolCall {
  const called = isObject(value) ? (value.function ?? value.custom) : undefined;
  if (!isObject(value) || !isObject(called) || typeof called.name !== 'string')
    throw new Error('a call in tool_calls must have function.name');
  const given = called.arguments ?? called.input ?? '';
  return {
    id: word(value.id) ?? called.name,
    name: called.name,
    arguments: typeof given === 'string' ? given : JSON.stringify(given),
  };
}

function textOf(content: Json | undefined): string {
  if (content === null || content === undefined) return '';
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) throw new Error('the content of a message must be a text or a list of parts');
  return (content as readonly Json[])
    .map((part) => {
      if (typeof part === 'string') return part;
      if (!isObject(part)) return '';
      return typeof part.text === 'string' ? part.text : `[${word(part.type) ?? 'part'}]`;
    })
    .join('\n');
}

/** Tokens as the API counts them; null when it did not. */
export function usageOf(value: Json | undefined): Usage | null {
  if (!isObject(value) || typeof value.prompt_tokens !== 'number') return null;
  const inside = (name: string, member: string): number => {
    const details = value[name];
    const found = isObject(details) ? details[member] : undefined;
    return typeof found === 'number' ? found : 0;
  };
  return {
    input: value.prompt_tokens,
    cached: inside('prompt_tokens_details', 'cached_tokens'),
    output: typeof value.completion_tokens === 'number' ? value.completion_tokens : 0,
    reasoning: inside('completion_tokens_details', 'reasoning_tokens'),
  };
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function word(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
