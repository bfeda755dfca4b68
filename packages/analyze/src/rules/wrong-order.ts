/** A result that was asked for in an order is not in it: numbers were compared as texts. */
import type { Json } from '@chassis/types';
import { leavesOf } from '../json.ts';
import { lastKey, shapeOf } from '../pointer.ts';
import type { Rule, Suspect } from './rule.ts';

const down = /^(?:-1|desc|descending|reverse|largest|biggest|high(?:est)?|newest|latest|top)$/i;
const up = /^(?:1|asc|ascending|smallest|low(?:est)?|oldest|earliest)$/i;
const orderName = /^(?:order|order_?by|sort|sort_?(?:order|dir|direction|by)|dir|direction|by)$/i;
const least = 3;
const most = 400;

export const wrongOrder: Rule<readonly Json[]> = {
  name: 'wrong-order',
  *find({ steps }) {
    for (const step of steps) {
      if (step.kind !== 'tool' || step.status !== 'ok') continue;
      const words = leavesOf(step.input).filter(({ pointer }) => orderName.test(lastKey(pointer)));
      const falling = words.some(({ text }) => down.test(text));
      if (!falling && !words.some(({ text }) => up.test(text))) continue;
      const found = unordered(step.number, step.output, falling);
      if (found) yield found;
    }
  },
};

function unordered(step: number, output: Json | undefined, falling: boolean): Suspect | undefined {
  const lists = Map.groupBy(leavesOf(output, '/output').slice(0, most), ({ pointer }) => shapeOf(pointer));
  // One column in order is enough: it may be that one which was meant.
  let broken: Suspect | undefined;
  for (const [shape, leaves] of lists) {
    const values = leaves.map(({ text }) => Number(text));
    if (!shape.includes('*') || leaves.length < least || values.some((value) => !Number.isFinite(value)))
      continue;
    const at = values.findIndex((value, index) => {
      const before = values[index - 1] ?? value;
      return falling ? value > before : value < before;
    });
    if (at === -1) return undefined;
    const { pointer, value, text } = leaves[at] as (typeof leaves)[number];
    const said = `${text} stands behind ${leaves[at - 1]?.text} here, though the order that was asked for ${falling ? 'falls' : 'rises'}`;
    broken ??= { step, pointer, value, text: said, score: 0.66, kind: 'value' };
  }
  return broken;
}
