/** Fills in what a schema gives as `default` for members that are missing. Returns a copy; pure. */
import type { Json, JsonObject } from '@chassis/types';

export function withDefaults(schema: JsonObject | undefined, value: JsonObject): JsonObject {
  const properties = schema?.properties;
  if (!isObject(properties)) return value;
  const filled: Record<string, Json> = { ...value };
  for (const [key, member] of Object.entries(properties)) {
    if (!isObject(member)) continue;
    if (filled[key] === undefined && member.default !== undefined) filled[key] = member.default;
    const inner = filled[key];
    if (isObject(inner)) filled[key] = withDefaults(member, inner);
  }
  return filled;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
