/** The failure names what would have been needed, and an earlier result had listed what there is, without it. */
import { type Leaf, outputLeaves } from '../json.ts';
import { nameOf } from '../pointer.ts';
import type { Rule } from './rule.ts';

const grants =
  /^(?:scopes?|permissions?|roles?|rights|privileges|grants|capabilities|features|entitlements|groups|policies|extensions|modules|plugins|licen[cs]es?)$/i;
/** Tells nearly all places apart before their names are cut out. */
const mayBeGrant =
  /scope|permission|role|right|privilege|grant|capabilit|feature|entitlement|group|polic|extension|module|plugin|licen/i;
const needed =
  /(?:needs?|requires?|required|missing|lacks?|without|must have|not (?:granted|enabled|installed|available))/i;
const mostLeaves = 100;

export const lacking: Rule<readonly Leaf[]> = {
  name: 'lacking',
  see({ kind, status }, output) {
    if (kind !== 'tool' || status !== 'ok') return undefined;
    const found = outputLeaves(output)
      .slice(0, mostLeaves)
      .filter(
        ({ pointer, value }) =>
          typeof value === 'string' && mayBeGrant.test(pointer) && grants.test(nameOf(pointer)),
      );
    return found.length > 0 ? found : undefined;
  },
  *find({ steps, symptom }, seen) {
    if (!needed.test(symptom.text)) return;
    const words = symptom.text.match(/[\p{L}\d][\p{L}\d_.:/-]{2,60}[\p{L}\d]/gu) ?? [];
    for (const { number, name } of steps) {
      const own = seen.get(number) ?? [];
      const [first] = own;
      // A name of the same make as those that are there: `write:packages` beside `read:packages`.
      const word = words.find(
        (one) => own.every(({ text }) => text !== one) && own.some(({ text }) => isAkin(text, one)),
      );
      if (!first || word === undefined) continue;
      const list = nameOf(first.pointer);
      const text = `the failure asks for ${word}; the ${list} that ${name} gave were ${own
        .map((leaf) => leaf.text)
        .slice(0, 6)
        .join(', ')}`;
      yield { step: number, pointer: first.pointer, value: first.value, text, score: 0.72, kind: 'missing' };
    }
  },
};

/** Whether two names of several parts share one of them. */
function isAkin(a: string, b: string): boolean {
  const parts = (text: string): string[] => text.split(/[^\p{L}\d]+/u).filter((part) => part.length >= 3);
  const own = parts(a);
  return own.length > 1 && parts(b).length > 1 && parts(b).some((part) => own.includes(part));
}
