/** Of several that a result offered the model took one, and the person's words name another. */
import type { Step } from '@chassis/journal';
import { type Leaf, leavesOf, outputLeaves } from '../json.ts';
import { findExact } from '../match.ts';
import { opened } from '../opened.ts';
import { shapeOf } from '../pointer.ts';
import type { Rule } from './rule.ts';

const mostOffers = 40;
const mostLeaves = 200;
/** What was offered longer ago is hardly what a call chose from. */
const mostBack = 4000;
/** Shorter names may stand in the person's words by chance. */
const leastName = 5;

interface Offer {
  readonly step: number;
  readonly shape: string;
  readonly texts: readonly string[];
}

export const wrongChoice: Rule<readonly Offer[]> = {
  name: 'wrong-choice',
  see({ kind, status, number }, output) {
    if (kind !== 'tool' || status !== 'ok') return undefined;
    const lists = new Map<string, string[]>();
    for (const leaf of outputLeaves(output).slice(0, mostLeaves)) {
      if (!isName(leaf) || !/\/\d/.test(leaf.pointer)) continue;
      const shape = shapeOf(leaf.pointer);
      const texts = lists.get(shape);
      if (texts) texts.push(leaf.text);
      else lists.set(shape, [leaf.text]);
    }
    const offers = [...lists]
      .filter(([shape, texts]) => shape.includes('*') && texts.length >= 2 && texts.length <= mostOffers)
      .map(([shape, texts]): Offer => ({ step: number, shape, texts }));
    return offers.length > 0 ? offers : undefined;
  },
  *find({ view, steps, symptom }, seen) {
    const words = view.turns.map(({ input }) => input).join('\n');
    const asked = new Set(wordsOf(words));
    const offers = new Map<string, Offer>();
    for (const offer of [...seen.values()].flat())
      if (offer.step > symptom.step - mostBack)
        for (const text of offer.texts) if (!offers.has(text)) offers.set(text, offer);
    const visited = new Set<string>();
    for (const { number, kind, input } of steps)
      if (kind === 'tool' && number !== symptom.step)
        for (const { text } of leavesOf(input)) visited.add(text);
    for (const step of steps) {
      if (step.kind !== 'tool' || step.call_id === undefined) continue;
      for (const { pointer, text } of leavesOf(step.input, '/input').filter(isName)) {
        const offer = offers.get(text);
        if (!offer || offer.step >= step.number) continue;
        const better = offer.texts.filter((other) => namesBetter(other, text, asked));
        if (better.length === 0)
          better.push(...namedRows(offer, rowsOf(view.step(offer.step), offer), text, words));
        const [other] = better;
        // Who goes through all of them chooses none.
        if (other === undefined || better.length > 1 || visited.has(other)) continue;
        const said = `of what :${offer.step} offered this is ${JSON.stringify(text)}; the person's words name ${JSON.stringify(other)}`;
        yield { step: step.number, pointer, value: text, text: said, score: 0.72, kind: 'act' };
      }
    }
  },
};

/** The texts of the rows in which the offered ones stand. */
function rowsOf(step: Step | undefined, { shape }: Offer): (readonly string[])[] {
  const names = leavesOf(opened(step?.output), '/output').slice(0, mostLeaves).filter(isName);
  return names
    .filter(({ pointer }) => shapeOf(pointer) === shape)
    .map(({ pointer }) => {
      const row = /^.*\/\d+(?=\/)/.exec(pointer)?.[0];
      return row === undefined
        ? []
        : names.filter((other) => other.pointer.startsWith(`${row}/`)).map(({ text }) => text);
    });
}

/** What stands at the same place in the one row that the person called by its name, when the row of this is not called at all. */
function namedRows(
  { texts }: Offer,
  rows: readonly (readonly string[])[],
  text: string,
  asked: string,
): string[] {
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

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/\p{L}{4,}/gu) ?? [];
}
