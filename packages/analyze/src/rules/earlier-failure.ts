/** A step failed before, and nobody ever got what it was asked for. */
import { inputKey } from '../outcome.ts';
import { sharesSubject } from '../subject.ts';
import type { Rule } from './rule.ts';

export const earlierFailure: Rule = {
  name: 'earlier-failure',
  *find({ view, steps, symptom }) {
    // A call that failed because of what failed inside it came before that, and is no cause of it.
    const around = new Set<number>();
    for (let above = view.step(symptom.step)?.parent; above != null; above = view.step(above)?.parent)
      around.add(above);
    const well = new Map<string, number>();
    for (const { name, status, number } of steps) if (status === 'ok') well.set(name, number);
    for (const step of steps) {
      const { error } = step;
      if (!error || step.number === symptom.step || around.has(step.number) || step.status === 'cancelled')
        continue;
      const recovered = (well.get(step.name) ?? 0) > step.number;
      const last = view.step(symptom.step);
      const again = last?.name === step.name && inputKey(last) === inputKey(step);
      const same = again || (step.name === symptom.name && error.message === last?.error?.message);
      if (recovered || same) continue;
      const score = last !== undefined && sharesSubject(step, last, symptom.text) ? 0.6 : 0.5;
      const text = `${step.name} failed and was not made good: ${error.name}: ${error.message}`;
      yield { step: step.number, pointer: '/error/message', text, score, kind: 'missing' };
    }
  },
};
