/** Numbers that a double cannot hold: they come as `JSON.rawJSON` values, with their digits as they were written. */
const { isRawJSON } = JSON as unknown as { isRawJSON?: (value: unknown) => boolean };

/** The digits of a `JSON.rawJSON` number, or `undefined` for any other value. */
export function rawNumber(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || isRawJSON?.(value) !== true) return undefined;
  return (value as { rawJSON: string }).rawJSON;
}
