/** A date that can be read in two ways was read in one of them. */
import { dateReadings } from '../dates.ts';
import { spotAt } from '../spots.ts';
import type { Rule } from './rule.ts';

/** Between points the day comes first, everywhere. */
const dayFirst = /^\s*(\d{1,2})\.(\d{1,2})\./;

export const misreadDate: Rule = {
  name: 'misread-date',
  *find({ view, traces }) {
    for (const { lineage, complaint } of traces) {
      for (const { from, to, form } of lineage.links) {
        if (form !== 'date' || view.step(from.step)?.kind !== 'model') continue;
        const [copy, source] = [spotAt(view, from), spotAt(view, to)];
        if (!copy || !source || dateReadings(source.text).size < 2 || dateReadings(copy.text).size > 1)
          continue;
        const [, day, month] = dayFirst.exec(source.text) ?? [];
        const [, , readMonth, readDay] = /^(\d{4})-(\d\d)-(\d\d)/.exec(copy.text) ?? [];
        const turned =
          day !== undefined && Number(day) === Number(readMonth) && Number(month) === Number(readDay);
        if (day !== undefined && !turned) continue;
        yield {
          step: from.step,
          pointer: from.pointer,
          ...(from.range ? { range: from.range } : {}),
          value: copy.text,
          text: `${JSON.stringify(source.text)} at :${to.step} can be read in two ways; the model read it as ${copy.text}`,
          score: turned ? 0.78 : complaint.kind === 'direct' ? 0.68 : 0.56,
          kind: 'act',
        };
      }
    }
  },
};
