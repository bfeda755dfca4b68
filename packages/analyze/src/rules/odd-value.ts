/** A value is not like its siblings: text where the same tool's results have numbers, another number or date format, nothing at all. */
import { type Column, pointerIn } from '../columns.ts';
import { dateReadings } from '../dates.ts';
import { leafText, typeOf } from '../json.ts';
import { numberReadings } from '../numbers.ts';
import { brief } from './looks.ts';
import { type Rule, type Suspect, toolsOf } from './rule.ts';

const leastSiblings = 3;
const majority = 0.55;

export const oddValue: Rule = {
  name: 'odd-value',
  *find({ steps }) {
    for (const { name, columns } of toolsOf(steps)) {
      for (const column of columns) {
        if (column.values.length > leastSiblings) yield* odd(name, column);
        yield* hollow(name, column, columns);
      }
    }
  },
};

function* odd(tool: string, column: Column): Generator<Suspect> {
  const { values, steps } = column;
  const looks = values.map((value) => lookOf(value));
  const counts = new Map<string, number>();
  for (const look of looks) counts.set(look, (counts.get(look) ?? 0) + 1);
  const [usual, count] = [...counts].sort((a, b) => b[1] - a[1])[0] ?? ['', 0];
  if (
    usual === 'text' ||
    usual === 'null' ||
    counts.size < 2 ||
    count < leastSiblings ||
    count < majority * values.length
  )
    return;
  for (const [index, look] of looks.entries()) {
    if (look === usual) continue;
    const text = leafText(values[index]) ?? '';
    const what = look === 'null' ? 'nothing here' : `${brief(text)} is ${lookText(look)}`;
    yield {
      step: steps[index]?.number ?? 0,
      pointer: pointerIn(column, index),
      value: text,
      text: `${what}; ${count} other values at this place in results of ${tool} are ${lookText(usual)}`,
      score: look === 'null' ? 0.6 : 0.8,
      kind: 'value',
    } as const;
  }
}

/** Nothing where the other results of the tool have a whole object or list. */
function* hollow(tool: string, column: Column, columns: readonly Column[]): Generator<Suspect> {
  const index = column.values.indexOf(null);
  const inner = index < 0 ? undefined : columns.find(({ shape }) => shape.startsWith(`${column.shape}/`));
  const others = new Set(inner?.steps).size;
  if (!inner || others < leastSiblings || column.values.length >= others) return;
  yield {
    step: column.steps[index]?.number ?? 0,
    pointer: pointerIn(column, index),
    value: null,
    text: `nothing here; ${others} other results of ${tool} have something at this place`,
    score: 0.6,
    kind: 'missing',
  };
}

/** The look of a value: its type, and for text the format of the number or date in it. */
function lookOf(value: unknown): string {
  if (typeof value === 'number') return 'number';
  if (typeof value !== 'string') return typeOf(value);
  const text = value;
  if (!/\d/.test(text) || (/^[^\d-]{5}/.test(text) && !/\d{4}/.test(text))) return 'text';
  if (/^[-+]?\d+(?:\.\d+)?$/.test(text)) return 'plain number text';
  if (
    /^[^\d-]{0,4}-?\d[\d.,'’\s]*[^\d]{0,4}$/.test(text) &&
    numberReadings(text.replaceAll(/^[^\d-]+|[^\d]+$/g, '')).size > 0
  ) {
    return /,\d{1,2}\D*$|\.\d{3}(?:\D|$)/.test(text) ? 'comma number text' : 'formatted number text';
  }
  if (/^\d{4}-\d\d-\d\d/.test(text)) return 'iso date';
  return dateReadings(text).size > 0 ? 'local date' : 'text';
}

function lookText(look: string): string {
  const words: Readonly<Record<string, string>> = {
    'plain number text': 'numbers as text',
    'comma number text': 'a number in text with a decimal comma',
    'formatted number text': 'a formatted number in text',
    'iso date': 'ISO dates',
    'local date': 'a date in a local format',
    number: 'numbers',
    text: 'text',
    boolean: 'true or false',
    null: 'empty',
  };
  return words[look] ?? look;
}
