/** Numbers that were read from texts by the rules of another country: 89,50 has become 8950. */
import { type Leaf, outputLeaves } from '../json.ts';
import type { Rule } from './rule.ts';

interface Numbers {
  /** Texts that hold a number with separators. */
  readonly texts: readonly string[];
  readonly numbers: readonly Leaf[];
}

const formatted = /^\s*[-+]?\d{1,3}(?:[.,]\d{3})*[.,]\d{1,3}\s*(?:€|\$|£|EUR|USD|GBP|CHF)?\s*$/;
const mostLeaves = 400;
/** So many of the numbers must have been misread. */
const least = 2;

export const misreadList: Rule<Numbers> = {
  name: 'misread-list',
  see({ kind, status }, output) {
    if (kind !== 'tool' || status !== 'ok') return undefined;
    const leaves = outputLeaves(output).slice(0, mostLeaves);
    const texts = leaves.flatMap(({ value, text }) =>
      typeof value === 'string' && formatted.test(text) ? [text] : [],
    );
    const numbers = leaves.filter(({ value }) => typeof value === 'number');
    return texts.length > 0 || numbers.length >= least ? { texts, numbers } : undefined;
  },
  *find({ steps }, seen) {
    let source:
      | { readonly step: number; readonly texts: readonly string[]; readonly comma: boolean }
      | undefined;
    for (const { number, name } of steps) {
      const own = seen.get(number);
      if (!own) continue;
      if (source && own.numbers.length >= least) {
        const { step, texts, comma } = source;
        const right = new Set(texts.map((text) => reading(text, comma)));
        const wrong = new Map(
          texts
            .map((text) => [reading(text, !comma), text] as const)
            .filter(([value]) => Number.isFinite(value) && !right.has(value)),
        );
        const misread = own.numbers.filter(({ value }) => wrong.has(value as number));
        const [first] = misread;
        if (
          first &&
          misread.length >= least &&
          !own.numbers.some(({ value }) => right.has(value as number))
        ) {
          const text = `${JSON.stringify(wrong.get(first.value as number))} of :${step} is ${first.text} here: ${name} took the decimal ${comma ? 'comma' : 'point'} for a separator of thousands`;
          yield {
            step: number,
            pointer: first.pointer,
            value: first.value,
            text,
            score: 0.82,
            kind: 'value',
          };
        }
      }
      const comma = decimalComma(own.texts);
      if (comma !== undefined) source = { step: number, texts: own.texts, comma };
    }
  },
};

/** Whether the texts are written with a decimal comma; undefined when they do not tell. */
function decimalComma(texts: readonly string[]): boolean | undefined {
  const comma = texts.some((text) => /\d\.\d{3},\d{1,2}\D*$|^[^.]*\d,\d{1,2}\D*$/.test(text));
  const point = texts.some((text) => /\d,\d{3}\.\d{1,2}\D*$|^[^,]*\d\.\d{1,2}\D*$/.test(text));
  return comma === point ? undefined : comma;
}

function reading(text: string, comma: boolean): number {
  const digits = text.replaceAll(/[^\d.,+-]/g, '');
  return Number(comma ? digits.replaceAll('.', '').replace(',', '.') : digits.replaceAll(',', ''));
}
