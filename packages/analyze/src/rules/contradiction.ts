/** Two results say different things of one thing: the same name beside the same subject, and another value. */
import { isNumber, leavesOf } from '../json.ts';
import { opened } from '../opened.ts';
import { nameOf, parentOf } from '../pointer.ts';
import { isDistinctive } from '../search.ts';
import { spotAt } from '../spots.ts';
import { brief, isWriting } from './looks.ts';
import type { Rule } from './rule.ts';

const mostRead = 300;

export const contradiction: Rule = {
  name: 'contradiction',
  *find({ view, steps, traces, symptom }) {
    const tools = steps.filter((step) => step.kind === 'tool' && step.status === 'ok');
    for (const { lineage } of traces) {
      const { birth } = lineage;
      const spot = lineage.origin === 'tool' ? spotAt(view, birth) : undefined;
      const source = spot && view.step(birth.step);
      if (!spot || !source || spot.name === '' || source.kind !== 'tool') continue;
      const near = parentOf(spot.path);
      const subjects = new Set(
        [...leavesOf(source.input), ...leavesOf(opened(source.output), '/output')].flatMap(
          ({ pointer, text, value }) =>
            !isNumber(value) &&
            text !== spot.text &&
            (isDistinctive(text) || text.length > 2) &&
            text.length <= 80 &&
            (!pointer.startsWith('/output') || !/\/\d/.test(pointer) || parentOf(pointer) === near)
              ? [text]
              : [],
        ),
      );
      for (const other of tools.slice(-mostRead)) {
        if (other.number === source.number || other.number >= symptom.step || other.name === source.name)
          continue;
        if (isWriting(other)) continue;
        const leaves = leavesOf(opened(other.output), '/output');
        const said = leaves.find(
          ({ pointer, text }) => nameOf(pointer) === spot.name && text !== spot.text && text !== 'null',
        );
        if (!said || leaves.some(({ pointer, text }) => nameOf(pointer) === spot.name && text === spot.text))
          continue;
        const beside = leaves.find(
          ({ pointer, text }) =>
            subjects.has(text) &&
            pointer !== said.pointer &&
            (parentOf(pointer) === parentOf(said.pointer) || !/\/\d/.test(said.pointer)),
        );
        const subject = beside?.text ?? leavesOf(other.input).find(({ text }) => subjects.has(text))?.text;
        if (subject === undefined) continue;
        const text = `${spot.name} of ${brief(subject)} is ${brief(spot.text)} here and ${brief(said.value)} at :${other.number} (${other.name})`;
        yield {
          step: birth.step,
          pointer: birth.pointer,
          ...(birth.range ? { range: birth.range } : {}),
          value: birth.text,
          text,
          score: 0.6,
          kind: 'value',
        };
        break;
      }
    }
  },
};
