/**
 * An MCP tool result as a Result, without losing anything. Pure.
 *
 * `isError` alone makes it a failure: never the text's first word, never the presence of structured content.
 */
import { ChassisError } from '@chassis/errors';
import type { Json, JsonObject, Result } from '@chassis/types';
import { withContent } from '../../gate/content.ts';

/** A tool that says of itself that it failed; a code of the tool's own, in no table. */
const TOOL_ERROR = 1;

/** @throws InvalidOutput when the answer is no tool result at all */
export function outcomeOf(answer: unknown): Omit<Result, 'trace_id'> {
  if (!isObject(answer) || (answer.content === undefined && answer.structuredContent === undefined)) {
    throw new ChassisError(
      'InvalidOutput',
      'tools/call answered no tool result: it has neither content nor structuredContent',
    );
  }
  const { structuredContent: structured } = answer;
  const content = Array.isArray(answer.content) ? answer.content : [];
  const text = content.map(partText).join('\n');
  if (answer.isError === true) {
    const details: JsonObject = { content, ...(structured === undefined ? {} : { structured }) };
    return {
      code: TOOL_ERROR,
      data: null,
      error: {
        message:
          text ||
          (structured === undefined ? 'the tool failed and gave no reason' : JSON.stringify(structured)),
        details,
      },
    };
  }
  const attached = content.filter((part) => !isObject(part) || part.type !== 'text');
  if (attached.length > 0) {
    const words =
      structured === undefined ? text : [JSON.stringify(structured), ...attached.map(partText)].join('\n');
    return { code: 0, data: withContent(words, content, structured), error: null };
  }
  if (structured !== undefined) return { code: 0, data: structured, error: null };
  return { code: 0, data: text, error: null };
}

/** A part in words; what is no text gets a placeholder that says what it is. */
function partText(part: Json): string {
  if (!isObject(part)) return '[a part of unknown kind]';
  const { type, text, mimeType, uri, data, resource } = part;
  if (type === 'text' && typeof text === 'string') return text;
  if (isObject(resource)) {
    return typeof resource.text === 'string'
      ? resource.text
      : `[resource ${JSON.stringify(resource.uri ?? null)}]`;
  }
  if (typeof uri === 'string') return `[${typeof type === 'string' ? type : 'link'} ${uri}]`;
  const size = typeof data === 'string' ? `, ${Math.floor((data.length * 3) / 4)} bytes` : '';
  const kind = typeof type === 'string' ? type : 'a part of unknown kind';
  return `[${kind}${typeof mimeType === 'string' ? ` ${mimeType}` : ''}${size}]`;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
