/** A value is not like its siblings: text where the same tool's results have numbers, another number or date format, nothing at all. */

import { dateReadings } from '../dates.ts';
import { leavesOf, typeOf } from '../json.ts';
import { numberReadings } from '../numbers.ts';
import { shapeOf } from '../pointer.ts';
import { brief } from './looks.ts';
import { groupsOf } from './repeated-call.ts';
import { byTool, type Rule, type Suspect } from './rule.ts';

interface Seen {
  readonly step: number;
  readonly pointer: string;
  readonly text: string;
  readonly look: string;
}

const leastSiblings = 3;
const majority = 0.55;

export const oddValue: Rule = {
  name: 'odd-value',
  *find({ steps }) {
    for (const [name, calls] of byTool(steps)) {
      const shapes = new Map<string, Seen[]>();
      // A result that came twice says no more than once.
      const fresh = groupsOf(calls).flatMap((same) => same[0] ?? []);
      for (const { number, output, status } of fresh) {
        if (status !== 'ok') continue;
        for (const { pointer, value, text } of leavesOf(output, '/output')) {
          const shape = shapeOf(pointer);
          const seen = shapes.get(shape) ?? [];
          seen.push({ step: number, pointer, text, look: lookOf(value, text) });
          shapes.set(shape, seen);
        }
      }
      for (const seen of shapes.values()) yield* odd(name, seen);
    }
  },
};

function* odd(tool: string, seen: readonly Seen[]): Generator<Suspect> {
  const counts = new Map<string, number>();
  for (const { look } of seen) counts.set(look, (counts.get(look) ?? 0) + 1);
  const [usual, count] = [...counts].sort((a, b) => b[1] - a[1])[0] ?? ['', 0];
  if (
    usual === 'text' ||
    usual === 'null' ||
    counts.size < 2 ||
    count < leastSiblings ||
    count < majority * seen.length
  )
    return;
  for (const { step, pointer, text, look } of seen) {
    if (look === usual) continue;
    const what = look === 'null' ? 'nothing here' : `${brief(text)} is ${lookText(look)}`;
    yield {
      step,
      pointer,
      value: text,
      text: `${what}; ${count} other values at this place in results of ${tool} are ${lookText(usual)}`,
      score: look === 'null' ? 0.6 : 0.8,
      kind: 'value',
    } as const;
  }
}

/** The look of a value: its type, and for text the format of the number or date in it. */
function lookOf(value: unknown, text: string): string {
  if (typeof value !== 'string') return typeOf(value);
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
