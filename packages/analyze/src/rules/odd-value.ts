/** A value is not like its siblings: text where the same tool's results have numbers, another number or date format, nothing at all. */
import type { Step } from '@chassis/journal';
import { type Column, pointerOf } from '../columns.ts';
import { leafText } from '../json.ts';
import { issuesOf } from '../statuses.ts';
import { isNumberLook, lookText } from '../value-looks.ts';
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
        else if (column.count === leastSiblings) {
          yield* oddUnit(name, column);
          yield* oddNumeral(name, column);
        }
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
    // A text may look like a table now and then.
    if (shape === '/output') continue;
    const has = new Set(steps);
    const step = well.find((one) => !has.has(one));
    // What ends a listing has no next page: that is no fault.
    if (!step || /next|cursor|more|token|error|warning/i.test(name)) continue;
    const text = `${name} is not there; ${steps.length} other results of ${tool} have it`;
    yield { step: step.number, pointer: '/output', text, score: overNothing ? 0.66 : 0.5, kind: 'missing' };
  }
}

function* odd(tool: string, column: Column): Generator<Suspect> {
  // Rows hold all signs; what is read once a result seldom changes its own.
  const signs = column.looks.size > 1 && [...column.looks.keys()].every(isNumberLook);
  if (signs) {
    if (!column.shape.includes('*')) yield* oddSign(tool, column);
    return;
  }
  const [usual, { count }] = [...column.looks].reduce((a, b) => (b[1].count > a[1].count ? b : a));
  const looks = column.looks.size;
  yield* heldPlace(tool, column);
  if (usual === 'text' || usual === 'null' || usual === 'placeholder' || looks < 2) return;
  if (count < leastSiblings || count < majority * column.count) return;
  for (const [look, { first }] of column.looks) {
    if (look === usual || look === 'placeholder' || (isNumberLook(look) && isNumberLook(usual))) continue;
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

/** `****` where the others have a value. */
function* heldPlace(tool: string, { looks, count, ...column }: Column): Generator<Suspect> {
  const odd = looks.get('placeholder');
  const [seen] = odd?.first ?? [];
  if (!odd || !seen || odd.count * 2 > count) return;
  yield {
    step: seen.step.number,
    pointer: pointerOf(column, seen),
    value: seen.value,
    text: `${brief(seen.value)} only holds the place of a value; other results of ${tool} have one here`,
    score: 0.62,
    kind: 'missing',
  };
}

/** A unit behind a number is told from another by two that agree. */
function* oddUnit(tool: string, column: Column): Generator<Suspect> {
  const looks = [...column.looks];
  if (looks.length !== 2 || !looks.every(([look]) => look.startsWith('in '))) return;
  const [usual, odd] = looks.sort((a, b) => b[1].count - a[1].count);
  const seen = odd?.[1].first[0];
  if (!usual || !odd || !seen) return;
  yield {
    step: seen.step.number,
    pointer: pointerOf(column, seen),
    value: seen.value,
    text: `${brief(seen.value)} is ${lookText(odd[0])}; the others at this place in results of ${tool} are ${lookText(usual[0])}`,
    score: 0.66,
    kind: 'value',
  };
}

/** A number written as a text, between two that are numbers. */
function* oddNumeral(tool: string, column: Column): Generator<Suspect> {
  const looks = [...column.looks];
  const odd = looks.find(([look, { count }]) => look.endsWith('number text') && count === 1);
  const seen = odd?.[1].first[0];
  if (!odd || !seen || !looks.every((one) => one === odd || isNumberLook(one[0]))) return;
  yield {
    step: seen.step.number,
    pointer: pointerOf(column, seen),
    value: seen.value,
    text: `${brief(seen.value)} is ${lookText(odd[0])}; the others at this place in results of ${tool} are numbers`,
    score: 0.72,
    kind: 'value',
  };
}

/** Zero, or a number below it, where all others are above. */
function* oddSign(tool: string, { looks, count, ...column }: Column): Generator<Suspect> {
  // What is counted begins with nothing.
  if (isCounter.test(column.name)) return;
  for (const look of ['negative', 'zero']) {
    const odd = looks.get(look);
    const [seen] = odd?.first ?? [];
    if (!odd || !seen || odd.count > 1 || looks.get('number')?.count !== count - 1) continue;
    yield {
      step: seen.step.number,
      pointer: pointerOf(column, seen),
      value: seen.value,
      text: `${brief(seen.value)}; the ${count - 1} other values at this place in results of ${tool} are above zero`,
      // That a search found nothing is said elsewhere, and weighs less.
      score: look === 'zero' && isCount.test(column.name) ? 0.3 : 0.58,
      kind: 'value',
    };
  }
}

const isCounter = /^(?:page|index|offset|position|start|cursor|seq|number|id)$/i;
const isCount = /total|count|size|length|hits|matche|found|estimate|results|number_?of|num_/i;

/** Nothing where the other results of the tool have a whole object or list. */
function* hollow(tool: string, column: Column, columns: readonly Column[]): Generator<Suspect> {
  const seen = column.looks.get('null')?.first[0];
  const inner = seen && columns.find(({ shape }) => shape.startsWith(`${column.shape}/`));
  if (!seen || !inner || inner.steps.length < leastSiblings - 1 || column.count >= inner.steps.length) return;
  yield {
    step: seen.step.number,
    pointer: pointerOf(column, seen),
    value: null,
    text: `nothing here; ${inner.steps.length} other results of ${tool} have something at this place`,
    score: 0.6,
    kind: 'missing',
  };
}
