/** Of several that a result offered the model took one, and the person's words name another. */
import { type Leaf, leavesOf } from '../json.ts';
import { findExact } from '../match.ts';
import { shapeOf } from '../pointer.ts';
import type { Rule } from './rule.ts';

const mostOffers = 40;
const mostLeaves = 200;
/** Shorter names may stand in the person's words by chance. */
const leastName = 5;

interface Offer {
  readonly step: number;
  readonly shape: string;
  readonly texts: readonly string[];
  /** Of a list of rows, the texts of each. */
  readonly rows: readonly (readonly string[])[];
}

export const wrongChoice: Rule<readonly Offer[]> = {
  name: 'wrong-choice',
  see({ kind, status, number }, output) {
    if (kind !== 'tool' || status !== 'ok') return undefined;
    const names = leavesOf(output, '/output').slice(0, mostLeaves).filter(isName);
    const offers = [...Map.groupBy(names, ({ pointer }) => shapeOf(pointer))]
      .filter(([shape, leaves]) => shape.includes('*') && leaves.length >= 2 && leaves.length <= mostOffers)
      .map(([shape, leaves]): Offer => {
        const texts = leaves.map(({ text }) => text);
        return { step: number, shape, texts, rows: leaves.map(({ pointer }) => rowOf(names, pointer)) };
      });
    return offers.length > 0 ? offers : undefined;
  },
  *find({ view, steps, symptom }, seen) {
    const words = view.turns.map(({ input }) => input).join('\n');
    const asked = new Set(wordsOf(words));
    const offers = [...seen.values()].flat();
    const visits = steps.filter(({ number }) => number !== symptom.step).map(({ input }) => input);
    for (const step of steps) {
      if (step.kind !== 'tool' || step.call_id === undefined) continue;
      for (const { pointer, text } of leavesOf(step.input, '/input').filter(isName)) {
        const offer = offers.find((one) => one.step < step.number && one.texts.includes(text));
        const better = offer?.texts.filter((other) => namesBetter(other, text, asked)) ?? [];
        if (offer && better.length === 0) better.push(...namedRows(offer, text, words));
        const [other] = better;
        // Who goes through all of them chooses none.
        if (other === undefined || better.length > 1 || isVisited(visits, other)) continue;
        const said = `of what :${offer?.step} offered this is ${JSON.stringify(text)}; the person's words name ${JSON.stringify(other)}`;
        yield { step: step.number, pointer, value: text, text: said, score: 0.72, kind: 'act' };
      }
    }
  },
};

/** The texts of the row in which a place is. */
function rowOf(names: readonly Leaf[], place: string): string[] {
  const row = /^.*\/\d+(?=\/)/.exec(place)?.[0];
  return row === undefined
    ? []
    : names.filter(({ pointer }) => pointer.startsWith(`${row}/`)).map(({ text }) => text);
}

/** What stands at the same place in the one row that the person called by its name, when the row of this is not called at all. */
function namedRows({ texts, rows }: Offer, text: string, asked: string): string[] {
  const isCalled = (row: readonly string[]): boolean =>
    row.some((one) => one.length >= leastName && findExact(one, asked) !== undefined);
  const own = texts.indexOf(text);
  const [called, ...more] = rows.flatMap((row, index) => (isCalled(row) ? [index] : []));
  return called === undefined || more.length > 0 || called === own ? [] : [texts[called] ?? ''];
}

function isName({ value, text }: Leaf): boolean {
  return typeof value === 'string' && text.length >= 3 && text.length <= 120 && !/\s.*\s.*\s/.test(text);
}

/** Whether the other has a word of the person's that this one lacks, and this one none that the other lacks. */
function namesBetter(other: string, text: string, asked: ReadonlySet<string>): boolean {
  if (other === text) return false;
  const [theirs, own] = [new Set(wordsOf(other)), new Set(wordsOf(text))];
  const more = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
    [...a].some((word) => asked.has(word) && !b.has(word));
  return more(theirs, own) && !more(own, theirs);
}

function isVisited(inputs: readonly unknown[], text: string): boolean {
  return inputs.some((input) => leavesOf(input).some((leaf) => leaf.text === text));
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/\p{L}{4,}/gu) ?? [];
}
