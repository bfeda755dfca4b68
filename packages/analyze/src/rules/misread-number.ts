/** A number that stood as text was passed on as a number: what was a thousands separator became a decimal point. */
import { spotAt } from '../spots.ts';
import type { Rule } from './rule.ts';

export const misreadNumber: Rule = {
  name: 'misread-number',
  *find({ view, traces }) {
    for (const { lineage } of traces) {
      for (const { from, to } of lineage.links) {
        const [copy, source] = [spotAt(view, from), spotAt(view, to)];
        if (copy?.type !== 'number' || source?.type !== 'string' || view.step(from.step)?.kind !== 'model')
          continue;
        if (!/^[-+]?[1-9]\d{0,2}[.,]\d{3}$/.test(source.text)) continue;
        const text = `${JSON.stringify(source.text)} at :${to.step} is text; as the number ${copy.text} its separator is a decimal point, and may have been one of thousands`;
        const place = from.range ? { range: from.range } : {};
        yield {
          step: from.step,
          pointer: from.pointer,
          ...place,
          value: copy.text,
          text,
          score: 0.72,
          kind: 'act',
        };
      }
    }
  },
};
