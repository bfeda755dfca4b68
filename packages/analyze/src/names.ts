/** Names of members: when two of them say the same, and which unit one of them states. */

/** Whether two member names say the same: `amount` and `amounts`, `order_id` and `orderId`, `id` at the end of `order_id`. */
export function sameName(a: string, b: string): boolean {
  const [x, y] = [plainName(a), plainName(b)];
  if (x === '' || y === '') return false;
  return x === y || (x.length > 1 && y.length > 1 && (x.endsWith(y) || y.endsWith(x)));
}

function plainName(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
    .replace(/s$/, '');
}

/** Names that agree but for a unit at their end: `weight_g` and `weight_kg`. */
export function sameStem(a: string, b: string): boolean {
  return sameName(a, b) || sameName(split(a).stem, split(b).stem);
}

/** The unit that a name ends with: `_cents`, `_ms`, `Kg`. */
export function unitOf(name: string): string | undefined {
  return split(name).unit;
}

const units =
  /^(?:cents?|eur|usd|gbp|dollars?|euros?|ms|millis|seconds?|secs?|s|minutes?|mins?|hours?|days?|g|kg|mg|lbs?|oz|grams?|kilograms?|m|km|cm|mm|miles?|meters?|metres?|feet|ft|inch(?:es)?|b|bytes?|kb|mb|gb|kib|mib|percent|pct|ratio|bps|celsius|fahrenheit|c|f|l|ml|litres?|liters?)$/i;

/** `timeout_ms` and `timeoutMs` are `timeout` in `ms`, `bytes` is all unit; `sum` only happens to end in a letter like one. */
function split(name: string): { stem: string; unit?: string } {
  const [, before, within] = /^(.*?)\s*[([]\s*([^)\]]+?)\s*[)\]]$/.exec(name) ?? [];
  if (before !== undefined && within !== undefined && units.test(within))
    return { stem: before, unit: within.toLowerCase() };
  if (name.length > 1 && units.test(name)) return { stem: '', unit: name.toLowerCase() };
  const at = Math.max(name.lastIndexOf('_'), name.search(/[A-Z][a-z]*$/) - 1);
  const unit = name.slice(at + 1);
  return at > 0 && units.test(unit)
    ? { stem: name.slice(0, name[at] === '_' ? at : at + 1), unit: unit.toLowerCase() }
    : { stem: name };
}
