/** Values as a schema sees them: exact numbers (`JSON.rawJSON`) become doubles. Copies only what it must. */

export function plain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (isRaw(value)) return double(value.rawJSON);
  if (Array.isArray(value)) {
    let copy: unknown[] | undefined;
    for (let i = 0; i < value.length; i++) {
      const member: unknown = value[i];
      const flat = plain(member);
      if (flat !== member) {
        copy ??= [...(value as unknown[])];
        copy[i] = flat;
      }
    }
    return copy ?? value;
  }
  let copy: Record<string, unknown> | undefined;
  for (const [key, member] of Object.entries(value)) {
    const flat = plain(member);
    if (flat !== member) {
      copy ??= { ...(value as Record<string, unknown>) };
      copy[key] = flat;
    }
  }
  return copy ?? value;
}

function isRaw(value: object): value is { rawJSON: string } {
  const check = (JSON as unknown as { isRawJSON?: (value: unknown) => boolean }).isRawJSON;
  return check?.(value) === true;
}

/** A number beyond the doubles stays finite: for a schema it is a very large number, not a missing one. */
function double(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (value === Number.POSITIVE_INFINITY) return Number.MAX_VALUE;
  if (value === Number.NEGATIVE_INFINITY) return -Number.MAX_VALUE;
  return value;
}
