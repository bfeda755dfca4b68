/** The same call with the same result, again and again: nothing new can come of it. */
import type { Step } from '@chassis/journal';
import { canonical } from '../json.ts';
import { byTool, type Rule } from './rule.ts';

export const repeatedCall: Rule = {
  name: 'repeated-call',
  *find({ steps }) {
    for (const [name, calls] of byTool(steps)) {
      for (const same of groupsOf(calls)) {
        const [first] = same;
        if (!first || same.length < 2) continue;
        const others = same.slice(1).map(({ number }) => `:${number}`);
        const text = `${name} was called ${same.length} times with the same arguments and gave the same result (again ${others.join(', ')})`;
        yield { step: first.number, text, score: same.length >= 3 ? 0.6 : 0.3, kind: 'act' };
      }
    }
  },
};

/** Calls with equal arguments and equal results, in the order of the first of each. */
export function groupsOf(calls: readonly Step[]): Step[][] {
  const groups = new Map<string, Step[]>();
  for (const step of calls) {
    const key = outcomeKey(step);
    const group = groups.get(key);
    if (group) group.push(step);
    else groups.set(key, [step]);
  }
  return [...groups.values()];
}

/** Equal for steps that did the same and got the same. */
export function outcomeKey(step: Step): string {
  const end = step.error ? canonical([step.error.code, step.error.message]) : canonical(step.output);
  return `${step.kind} ${step.name} ${canonical(step.input)} ${step.status} ${end}`;
}
