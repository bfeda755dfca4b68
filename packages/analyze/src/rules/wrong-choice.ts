/** Of several that a result offered the model took one, and the person's words name another. */
import { type Leaf, leavesOf } from '../json.ts';
import { shapeOf } from '../pointer.ts';
import type { Rule } from './rule.ts';

const mostOffers = 40;
const mostLeaves = 200;

interface Offer {
  readonly step: number;
  readonly shape: string;
  readonly texts: readonly string[];
}

export const wrongChoice: Rule<readonly Offer[]> = {
  name: 'wrong-choice',
  see({ kind, status, number }, output) {
    if (kind !== 'tool' || status !== 'ok') return undefined;
    const lists = Map.groupBy(
      leavesOf(output, '/output').slice(0, mostLeaves).filter(isName),
      ({ pointer }) => shapeOf(pointer),
    );
    const offers = [...lists]
      .filter(([shape, leaves]) => shape.includes('*') && leaves.length >= 2 && leaves.length <= mostOffers)
      .map(([shape, leaves]): Offer => ({ step: number, shape, texts: leaves.map(({ text }) => text) }));
    return offers.length > 0 ? offers : undefined;
  },
  *find({ view, steps }, seen) {
    const asked = new Set(view.turns.flatMap(({ input }) => wordsOf(input)));
    const offers = [...seen.values()].flat();
    for (const step of steps) {
      if (step.kind !== 'tool' || step.call_id === undefined) continue;
      for (const { pointer, text } of leavesOf(step.input, '/input').filter(isName)) {
        const offer = offers.find((one) => one.step < step.number && one.texts.includes(text));
        const better = offer?.texts.filter((other) => namesBetter(other, text, asked)) ?? [];
        const [other] = better;
        // Who goes through all of them chooses none.
        if (
          other === undefined ||
          better.length > 1 ||
          isVisited(
            steps.map(({ input }) => input),
            other,
          )
        )
          continue;
        const said = `of what :${offer?.step} offered this is ${JSON.stringify(text)}; the person's words name ${JSON.stringify(other)}`;
        yield { step: step.number, pointer, value: text, text: said, score: 0.72, kind: 'act' };
      }
    }
  },
};

function isName({ value, text }: Leaf): boolean {
  return typeof value === 'string' && text.length >= 3 && text.length <= 120 && !/\s.*\s/.test(text);
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
