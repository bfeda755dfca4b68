/** The failure speaks of a state that an earlier result had marked: `read_only: true`, and then "in a read-only transaction". */
import { type Leaf, outputLeaves } from '../json.ts';
import { lastKey } from '../pointer.ts';
import type { Rule } from './rule.ts';

const mostLeaves = 80;
/** Marks that say that all is well, or that nothing can be told from. */
const plain =
  /^(?:ok|success|succeeded|done|active|enabled|valid|applied|accepted|created|found|exists|on|public|default|required|healthy|ready|online|available)$/i;

export const namedMark: Rule<readonly Leaf[]> = {
  name: 'named-mark',
  see({ kind, status }, output) {
    if (kind !== 'tool' || status !== 'ok') return undefined;
    const marks = outputLeaves(output)
      .slice(0, mostLeaves)
      .filter(({ pointer, value }) => value === true && !plain.test(lastKey(pointer)));
    return marks.length > 0 ? marks : undefined;
  },
  *find({ steps, symptom }, seen) {
    const said = symptom.text.toLowerCase();
    for (const { number, name } of steps)
      for (const { pointer } of seen.get(number) ?? []) {
        const words = wordsOf(lastKey(pointer));
        if (words.length === 0 || !words.every((word) => said.includes(word))) continue;
        const text = `${name} said ${lastKey(pointer)} here already, and the failure is about that`;
        yield { step: number, pointer, value: true, text, score: 0.68, kind: 'value' };
      }
  },
};

/** `isReadOnly` is "read" and "only". */
function wordsOf(name: string): string[] {
  return name
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word.length >= 3 && !/^(?:is|has|was|are|the|and)$/.test(word));
}
