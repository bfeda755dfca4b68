/**
 * Outputs with more than JSON in them: images, sound, files of a tool, beside its words.
 *
 * Promise: such an output is `{ text, $content, structured? }`; a model reads `text`, the tool's own schema is
 * kept by `structured`, and every part stays on record as it came.
 */
import type { Json, JsonObject } from '@chassis/types';

interface ContentOutput {
  /** All of it in words, with a placeholder for each part that is no text. */
  readonly text: string;
  readonly $content: readonly Json[];
  readonly structured?: Json;
}

export function withContent(text: string, content: readonly Json[], structured?: Json): JsonObject {
  return { text, $content: [...content], ...(structured === undefined ? {} : { structured }) };
}

/** An output of that shape; undefined for any other. */
export function contentIn(output: Json | undefined): ContentOutput | undefined {
  if (typeof output !== 'object' || output === null || Array.isArray(output)) return undefined;
  const { text, $content } = output as JsonObject;
  return typeof text === 'string' && Array.isArray($content)
    ? (output as unknown as ContentOutput)
    : undefined;
}
