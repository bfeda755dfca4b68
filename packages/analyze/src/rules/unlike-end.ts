import { textsOf } from '../survey.ts';
import { brief } from './looks.ts';
import type { Rule } from './rule.ts';

const leastOthers = 2;
const shortest = 16;
/** That nothing was found is said in one line. */
const saysNothing = /^\s*(?:no |nothing |0 |none\b|not found|keine |aucun)[^\n]{0,60}$/i;

interface End {
  readonly open: boolean;
  readonly tail: string;
}

export const unlikeEnd: Rule<End> = {
  name: 'unlike-end',
  see(step, _output, recorded) {
    if (step.kind !== 'tool' || step.status !== 'ok') return undefined;
    const text = textsOf(recorded).reduce((a, b) => (b.length > a.length ? b : a), '');
    if (text.length < shortest || saysNothing.test(text)) return undefined;
    return { open: /[\p{L}\p{N}\p{Sc}_,:=/-] *$/u.test(text), tail: text.slice(-32) };
  },
  *find({ tools }, seen) {
    for (const { name, fresh } of tools) {
      const ends = fresh.flatMap((step) => {
        const end = seen.get(step.number);
        return end ? [{ step, ...end }] : [];
      });
      const [odd, ...more] = ends.filter(({ open }) => open);
      if (!odd || more.length > 0 || ends.length - 1 < leastOthers) continue;
      const text = `this text stops at ${brief(odd.tail)}; all ${ends.length - 1} other texts of ${name} come to an end`;
      yield { step: odd.step.number, pointer: '/output', value: odd.tail, text, score: 0.6, kind: 'missing' };
    }
  },
};
