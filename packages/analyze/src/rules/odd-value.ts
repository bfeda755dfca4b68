/** A value is not like its siblings: text where the same tool's results have numbers, another number or date format, nothing at all. */
import type { Step } from '@chassis/journal';
import { type Column, pointerOf } from '../columns.ts';
import { leafText } from '../json.ts';
import { issuesOf } from '../statuses.ts';
import { lookText } from '../value-looks.ts';
import { brief } from './looks.ts';
import type { Rule, Suspect } from './rule.ts';

const leastSiblings = 3;
const majority = 0.55;

export const oddValue: Rule = {
  name: 'odd-value',
  *find({ view, tools, symptom }) {
    // A failure over nothing is explained by what is not there.
    const overNothing =
      issuesOf(view.step(symptom.step)?.error).some(({ received }) => nothing.test(received ?? '')) ||
      nothing.test(symptom.text);
    for (const { name, columns, fresh } of tools) {
      yield* absent(name, columns, fresh, overNothing);
      for (const column of columns) {
        if (column.count > leastSiblings) yield* odd(name, column);
        yield* hollow(name, column, columns);
      }
    }
  },
};

const nothing = /\b(?:null|undefined|None|NaN|nil|nothing|missing)\b/;

/** A member that nearly all other results of the tool have, and one has not. */
function* absent(
  tool: string,
  columns: readonly Column[],
  fresh: readonly Step[],
  overNothing: boolean,
): Generator<Suspect> {
  const well = fresh.filter(({ status }) => status === 'ok');
  if (well.length <= leastSiblings) return;
  for (const { steps, shape, name } of columns) {
    const without = well.length - steps.length;
    if (without < 1 || without > 2 || steps.length < leastSiblings || shape.includes('*')) continue;
    const has = new Set(steps);
    const step = well.find((one) => !has.has(one));
    // What ends a listing has no next page: that is no fault.
    if (!step || /next|cursor|more|token|error|warning/i.test(name)) continue;
    const text = `${name} is not there; ${steps.length} other results of ${tool} have it`;
    yield { step: step.number, pointer: '/output', text, score: overNothing ? 0.66 : 0.5, kind: 'missing' };
  }
}

function* odd(tool: string, column: Column): Generator<Suspect> {
  const [usual, { count }] = [...column.looks].reduce((a, b) => (b[1].count > a[1].count ? b : a));
  const looks = column.looks.size;
  if (usual === 'text' || usual === 'null' || looks < 2) return;
  if (count < leastSiblings || count < majority * column.count) return;
  for (const [look, { first }] of column.looks) {
    if (look === usual) continue;
    for (const seen of first) {
      const text = leafText(seen.value) ?? '';
      const what = look === 'null' ? 'nothing here' : `${brief(text)} is ${lookText(look)}`;
      yield {
        step: seen.step.number,
        pointer: pointerOf(column, seen),
        value: text,
        text: `${what}; ${count} other values at this place in results of ${tool} are ${lookText(usual)}`,
        score: look === 'null' ? 0.6 : 0.8,
        kind: 'value',
      } as const;
    }
  }
}

/** Nothing where the other results of the tool have a whole object or list. */
function* hollow(tool: string, column: Column, columns: readonly Column[]): Generator<Suspect> {
  const seen = column.looks.get('null')?.first[0];
  const inner = seen && columns.find(({ shape }) => shape.startsWith(`${column.shape}/`));
  if (!seen || !inner || inner.steps.length < leastSiblings || column.count >= inner.steps.length) return;
  yield {
    step: seen.step.number,
    pointer: pointerOf(column, seen),
    value: null,
    text: `nothing here; ${inner.steps.length} other results of ${tool} have something at this place`,
    score: 0.6,
    kind: 'missing',
  };
}
