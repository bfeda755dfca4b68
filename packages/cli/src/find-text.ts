/** Where a text stands in the steps of a session: whole values first, then texts that hold it. The latest step first. */
import type { Place } from '@chassis/analyze';
import { formatPointer, isExactNumber, type SessionView } from '@chassis/journal';

/** @param step only this one; all without it */
export function placesOf(view: SessionView, text: string, step?: number): Place[] {
  const numbers = step === undefined ? view.steps.map(({ number }) => number).reverse() : [step];
  const whole: Place[] = [];
  const part: Place[] = [];
  for (const number of numbers) {
    const found = view.step(number);
    if (found === undefined) continue;
    const input: unknown = found.kind === 'model' ? view.request(number) : found.input;
    for (const [path, leaf] of leaves({ input, output: found.output, error: found.error }, [])) {
      const pointer = formatPointer(path);
      const at = leaf.indexOf(text);
      if (leaf === text) whole.push({ step: number, pointer });
      else if (at >= 0) part.push({ step: number, pointer, range: [at, at + text.length] });
    }
  }
  return [...whole, ...part];
}

function* leaves(
  value: unknown,
  path: readonly (string | number)[],
): Generator<[readonly (string | number)[], string]> {
  if (typeof value === 'string') yield [path, value];
  else if (typeof value === 'number') yield [path, String(value)];
  else if (isExactNumber(value)) yield [path, value.rawJSON];
  else if (Array.isArray(value)) for (const [at, item] of value.entries()) yield* leaves(item, [...path, at]);
  else if (typeof value === 'object' && value !== null)
    for (const [key, member] of Object.entries(value)) yield* leaves(member, [...path, key]);
}
