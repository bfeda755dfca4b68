/** An amount was passed on with another currency or unit beside it than it had where it came from. */
import { unitName } from '../columns.ts';
import { type Leaf, leavesOf, outputLeaves } from '../json.ts';
import { sameName } from '../names.ts';
import { lastKey, parentOf } from '../pointer.ts';
import type { Rule } from './rule.ts';

const mayBeUnit = /unit|uom|currency|scale|measure/i;
const mostLeaves = 300;

interface Amount {
  readonly step: number;
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly pointer: string;
}

export const unitBeside: Rule<readonly Amount[]> = {
  name: 'unit-beside',
  see({ kind, status, number }, output) {
    if (kind !== 'tool' || status !== 'ok') return undefined;
    if (!outputLeaves(output).some(({ pointer }) => mayBeUnit.test(pointer))) return undefined;
    const amounts = amountsIn(outputLeaves(output).slice(0, mostLeaves), number);
    return amounts.length > 0 ? amounts : undefined;
  },
  *find({ steps }, seen) {
    const known: Amount[] = [];
    for (const step of steps) {
      if (step.kind !== 'tool') continue;
      for (const own of amountsIn(leavesOf(step.input, '/input'), step.number)) {
        const from = known.findLast(
          ({ value, unit, name }) => value === own.value && unit !== own.unit && sameName(name, own.name),
        );
        const either = known.some(({ value, unit }) => value === own.value && unit === own.unit);
        if (!from || either) continue;
        const text = `${own.value} is in ${from.unit} at :${from.step}${from.pointer}, and in ${own.unit} here`;
        yield { step: step.number, pointer: own.pointer, value: own.value, text, score: 0.8, kind: 'act' };
      }
      known.push(...(seen.get(step.number) ?? []));
    }
  },
};

/** Numbers with a unit in a member beside them. */
function amountsIn(leaves: readonly Leaf[], step: number): Amount[] {
  const units = new Map<string, string>();
  for (const { pointer, value } of leaves)
    if (typeof value === 'string' && unitName.test(lastKey(pointer)))
      units.set(parentOf(pointer), value.toLowerCase());
  return leaves.flatMap(({ pointer, value }) => {
    const unit = units.get(parentOf(pointer));
    return typeof value === 'number' && value !== 0 && unit !== undefined
      ? [{ step, name: lastKey(pointer), value, unit, pointer }]
      : [];
  });
}
