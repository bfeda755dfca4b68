/** A number that stood as text was passed on as a number: what was a thousands separator became a decimal point. */
import type { Step } from '@chassis/journal';
import { leavesOf } from '../json.ts';
import { opened } from '../opened.ts';
import { spotAt } from '../spots.ts';
import type { Evidence, Rule } from './rule.ts';

export const misreadNumber: Rule = {
  name: 'misread-number',
  *find({ view, traces, tools }) {
    for (const { lineage } of traces) {
      for (const { from, to } of lineage.links) {
        const [copy, source] = [spotAt(view, from), spotAt(view, to)];
        if (copy?.type !== 'number' || source?.type !== 'string' || view.step(from.step)?.kind !== 'model')
          continue;
        if (!/^[-+]?[1-9]\d{0,2}[.,]\d{3}$/.test(source.text)) continue;
        const text = `${JSON.stringify(source.text)} at :${to.step} is text; as the number ${copy.text} its separator is a decimal point, and may have been one of thousands`;
        const given = view.step(to.step);
        // Where the tool writes its other numbers otherwise, the one that differs is at fault, and not its reader.
        if (given && otherwise(source.text, given, tools)) {
          const range = to.range ? { range: to.range } : {};
          yield {
            step: to.step,
            pointer: to.pointer,
            ...range,
            value: source.text,
            text: `${text}: other results of ${given.name} set their thousands off otherwise`,
            score: 0.74,
            kind: 'value',
          };
          continue;
        }
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

/** Whether another result of the tool holds a number of the same form with the other separator, and none with this one. */
function otherwise(text: string, step: Step, tools: Evidence['tools']): boolean {
  const own = text.includes('.') ? '.' : ',';
  const seen = new Set<string>();
  for (const other of tools.find(({ name }) => name === step.name)?.fresh ?? []) {
    if (other === step || other.status !== 'ok') continue;
    for (const leaf of leavesOf(opened(other.output)))
      if (/^[-+]?[1-9]\d{0,2}[.,]\d{3}$/.test(leaf.text)) seen.add(leaf.text.includes('.') ? '.' : ',');
  }
  return seen.size > 0 && !seen.has(own);
}
