/** The model gave a tool a number that is what a text becomes when its separators are read by another country's rules. */
import { leavesOf, outputLeaves } from '../json.ts';
import { significantDigits } from '../numbers.ts';
import { lastKey } from '../pointer.ts';
import type { Rule } from './rule.ts';

const formatted =
  /(?<![\w.,-])-?\d{1,3}(?:[.,\s']\d{3})*[.,]\d{1,3}(?![\w.,])|(?<![\w.,-])-?\d+,\d{1,3}(?![\w.,])/g;
const localeName = /^(?:locale|lang|language|region|country)$/i;
const commaLocale = /^(?:de|fr|es|it|nl|pl|pt|ru|sv|da|nb|no|fi|cs|tr|uk)(?:[-_][A-Za-z]{2})?$/i;
const mostText = 40_000;
const mostNumbers = 200;

interface Read {
  readonly texts: readonly string[];
  readonly numbers: readonly number[];
}

export const misreadArgument: Rule<Read> = {
  name: 'misread-argument',
  see({ kind, status }, output, recorded) {
    if (kind !== 'tool' || status !== 'ok') return undefined;
    const leaves = outputLeaves(recorded);
    const found = leaves
      .flatMap(({ value, text }) =>
        typeof value === 'string' && text.includes(',')
          ? (text.slice(0, mostText).match(formatted) ?? [])
          : [],
      )
      .slice(0, mostNumbers);
    const comma =
      found.some((one) => /\.\d{3},\d/.test(one)) ||
      (found.length > 0 &&
        leaves.some(({ pointer, text }) => commaLocale.test(text) && localeName.test(lastKey(pointer))));
    // A comma before one or two digits is a decimal one; before three it may be either.
    const own = found.filter((one) => /,\d{1,2}$/.test(one) || (comma && one.includes(',')));
    const numbers = outputLeaves(output).flatMap(({ value }) => (typeof value === 'number' ? [value] : []));
    return own.length + numbers.length > 0
      ? { texts: own, numbers: numbers.slice(0, mostNumbers) }
      : undefined;
  },
  *find({ steps }, seen) {
    const texts = new Map<string, number>();
    const given = new Set<number>();
    for (const step of steps) {
      if (step.kind === 'tool' && step.call_id !== undefined) {
        for (const { pointer, value, text } of leavesOf(step.input, '/input')) {
          if (typeof value !== 'number' || given.has(value)) continue;
          const from = [...texts].find(([one]) => isMisread(one, value, text));
          if (!from) continue;
          const said = `${JSON.stringify(from[0])} of :${from[1]} was given as ${text}: its comma is a decimal one`;
          yield { step: step.number, pointer, value, text: said, score: 0.78, kind: 'act' };
        }
      }
      const own = seen.get(step.number);
      for (const one of own?.texts ?? []) {
        if (!texts.has(one)) texts.set(one, step.number);
        given.add(decimal(one));
      }
      // A number that a tool gave was not read by the model.
      for (const number of own?.numbers ?? []) given.add(number);
    }
  },
};

/** Whether a number is what becomes of a text with a decimal comma that is read otherwise. */
function isMisread(text: string, value: number, digits: string): boolean {
  const plain = text.replaceAll(/[\s']/g, '');
  const american = Number(plain.replaceAll(',', ''));
  // What reads up to the first character that it does not know.
  const begun = Number.parseFloat(plain);
  if (value === american) return significantDigits(digits) >= 2;
  return value === begun && significantDigits(digits) >= 3;
}

function decimal(text: string): number {
  return Number(text.replaceAll(/[\s'.]/g, '').replace(',', '.'));
}
