/** One result says something else where all other results of the same tool say the same; or its date is far older than theirs. */
import type { Step } from '@chassis/journal';
import type { Json } from '@chassis/types';
import { type Column, pointerOf, type Sighting } from '../columns.ts';
import { dateReadings } from '../dates.ts';
import { leafText, leavesOf } from '../json.ts';
import { brief } from './looks.ts';
import type { Rule, Seen, Suspect } from './rule.ts';

const leastOthers = 2;
const leastDates = 3;
const day = 86_400_000;

/** What kind of thing a result is, and the names at its top. */
interface Form {
  readonly kind: string;
  readonly keys: readonly string[];
}

export const unlikeOthers: Rule<Form> = {
  name: 'unlike-others',
  see({ kind, status }, output, recorded) {
    return kind === 'tool' && status === 'ok' ? formOf(output, recorded) : undefined;
  },
  *find({ tools }, seen) {
    for (const { name, fresh } of tools) yield* otherForm(name, fresh, seen);
    for (const { name, columns } of tools)
      for (const column of columns) {
        yield* otherwise(name, column);
        yield* older(name, column);
      }
  },
};

/** A page where the others are records, or a record without one name in common with theirs. */
function* otherForm(tool: string, fresh: readonly Step[], seen: Seen<Form>): Generator<Suspect> {
  const forms = fresh.flatMap((step) => {
    const form = seen.get(step.number);
    return form ? [{ step, ...form }] : [];
  });
  if (forms.length <= leastOthers || forms.length > mostForms) return;
  const strange = forms.filter((form) => forms.every((other) => other === form || !isAlike(form, other)));
  const [odd] = strange;
  if (!odd || strange.length > 1) return;
  const text = `${odd.kind} of another form than all ${forms.length - 1} other results of ${tool}`;
  yield { step: odd.step.number, pointer: '/output', text, score: 0.6, kind: 'missing' };
}

function isAlike(a: Form, b: Form): boolean {
  if (a.kind !== b.kind) return false;
  return a.keys.length === 0 || b.keys.length === 0 || a.keys.some((key) => b.keys.includes(key));
}

const mostForms = 400;

function formOf(output: Json | undefined, recorded: Json | undefined): Form {
  if (typeof recorded === 'string') {
    const first = recorded.trimStart()[0] ?? '';
    return {
      kind: first === '<' ? 'a page' : first === '{' || first === '[' ? 'a document' : 'a text',
      keys: [],
    };
  }
  if (typeof output !== 'object' || output === null) return { kind: 'a value', keys: [] };
  if (Array.isArray(output)) return { kind: 'a list', keys: [] };
  return { kind: 'a record', keys: Object.keys(output).slice(0, 12) };
}

/** A member that is the same in all results but one: a status, a kind, a currency, the number of rows that were changed. */
function* otherwise(tool: string, column: Column): Generator<Suspect> {
  if (column.values.size !== 2) return;
  const [odd, usual] = [...column.values.values()].sort((a, b) => a.times - b.times);
  if (!odd || !usual || odd.times > 1 || usual.times < leastOthers) return;
  // What was asked for is what is there.
  if (leavesOf(odd.step.input).some(({ text }) => text === leafText(odd.value))) return;
  const text = `${brief(odd.value)} here; ${usual.times} other results of ${tool} have ${brief(usual.value)} as ${column.name}`;
  yield {
    ...at(column, odd),
    text,
    score: usual.times > leastOthers ? 0.58 : isWord(usual.value) ? 0.55 : 0.45,
    kind: 'missing',
  };
}

/** A flag, a count, one short word: what seldom comes twice by chance is more than that. */
function isWord(value: unknown): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && Math.abs(value) < 100;
  return typeof value !== 'string' || (value.length <= 16 && !/[\s\d]/.test(value));
}

/** A date that is further from the others than they are from each other. */
function* older(tool: string, column: Column): Generator<Suspect> {
  const seen = [...column.values.values()].flatMap((told) => {
    const time = timeOf(told.value);
    return time === undefined ? [] : [{ told, time }];
  });
  if (seen.length < leastDates || seen.length !== column.values.size) return;
  seen.sort((a, b) => a.time - b.time);
  const [first, second] = seen;
  const last = seen.at(-1);
  if (!first || !second || !last || first.told.times > 1) return;
  const spread = Math.max(day, last.time - second.time);
  if (second.time - first.time < 5 * spread || second.time - first.time < 3 * day) return;
  const text = `${brief(first.told.value)} is far older than every other ${column.name} in results of ${tool}`;
  yield { ...at(column, first.told), text, score: 0.6, kind: 'value' };
}

function timeOf(value: unknown): number | undefined {
  if (typeof value !== 'string' || value.length > 40 || !/\d{4}/.test(value)) return undefined;
  const [reading] = /^\d{4}-\d\d-\d\d/.test(value) ? [value] : dateReadings(value);
  const time = Date.parse(reading ?? '');
  return Number.isNaN(time) ? undefined : time;
}

function at(column: Column, seen: Sighting): Pick<Suspect, 'step' | 'pointer' | 'value'> {
  const { step, value } = seen;
  return { step: step.number, pointer: pointerOf(column, seen), value: leafText(value) ?? value };
}
